/// An array that is kept whole, and planned and written from its memory: of values that become objects, perhaps with
/// others inside, whose scalars lie at fixed places.
struct KeptRows {
  /// What a row consists of, in order. The row itself is an object.
  enum Step {
    /// An object with the keys of a table, and the byte of its own key.
    case begin(KeyTable.Reference, byte: Int)
    case value(Column)
    case end
  }

  /// The values of one key.
  struct Column {
    let byte: Int
    /// Where it is in each value.
    let offset: Int
    let isOptional: Bool
    let type: any TapeScalar.Type
    /// What was recorded for each byte of an enumeration; nil for other types.
    let symbols: UnsafePointer<RecordedByte>?
  }

  let steps: [Step]
  let count: Int
  let stride: Int
  /// Whether all rows have values for the same keys, and no objects inside.
  let areAlike: Bool
  /// Lends the memory of the values, of which there is at least one.
  let lend: ((UnsafeRawPointer) -> Void) -> Void

  var keys: KeyTable.Reference? { if case .begin(let keys, _)? = steps.first { keys } else { nil } }

  var columns: [Column] { steps.compactMap { if case .value(let column) = $0 { column } else { nil } } }
}

/// What the `Codable` of an enumeration recorded for a byte.
enum RecordedByte: BitwiseCopyable {
  case unknown, absent, other
  case integer(Int32)
  case text(UnsafeRawBufferPointer)

  var integer: Int32? { if case .integer(let integer) = self { integer } else { nil } }

  /// Writes an integer, within a reserve. Returns false for anything else.
  @inline(__always)
  func write(to writer: inout BackwardWriter) -> Bool {
    guard let integer else { return false }
    Integers.write(Int64(integer), to: &writer)
    return true
  }
}

extension TapeScalar {
  @inline(__always)
  private static func value(at address: UnsafeRawPointer, isOptional: Bool) -> Self? {
    isOptional
      ? address.assumingMemoryBound(to: Self?.self).pointee : address.assumingMemoryBound(to: Self.self).pointee
  }

  static func write(at address: UnsafeRawPointer, isOptional: Bool, to writer: inout BackwardWriter) -> Bool {
    guard let value = value(at: address, isOptional: isOptional) else { return false }
    value.token.write(to: &writer)
    return true
  }

  static func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>,
    from first: UnsafeRawPointer, stride: Int, isOptional: Bool
  ) -> UInt32 {
    cells.fill(marks) { value(at: first + $0 &* stride, isOptional: isOptional).unsafelyUnwrapped.token }
  }
}

extension UnsafeMutableBufferPointer<UInt64> {
  @inline(__always)
  fileprivate func fill(_ marks: UnsafeMutableBufferPointer<Bool>, _ token: (_ row: Int) -> LooseToken) -> UInt32 {
    var kinds: UInt32 = 0
    for row in indices {
      let token = token(row)
      self[row] = token.number
      kinds |= token.kind.bit
      marks[row] = token.kind.isMarked
    }
    return kinds
  }
}

extension KeptRows.Column {
  /// Writes the value in a row, within a reserve. Returns false if it is an optional without one.
  @inline(__always)
  func write(inRowAt row: UnsafeRawPointer, to writer: inout BackwardWriter) -> Bool {
    guard let symbols else { return type.write(at: row + offset, isOptional: isOptional, to: &writer) }
    return symbols[Int(row.load(fromByteOffset: offset, as: UInt8.self))].write(to: &writer)
  }

  /// Fills cells with the numbers of all rows, which have values, marks them, and returns the bits of their kinds.
  func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>,
    from first: UnsafeRawPointer, stride: Int
  ) -> UInt32 {
    guard let symbols else {
      return type.fill(cells, marks, from: first + offset, stride: stride, isOptional: isOptional)
    }
    return cells.fill(marks) { row in
      (symbols[Int(first.load(fromByteOffset: row &* stride &+ offset, as: UInt8.self))].integer ?? 0).token
    }
  }
}

extension RecordedMessage {
  /// Records the rows to an array one by one. They were counted when they were kept.
  mutating func expand(_ rows: KeptRows, to array: Int) {
    var containers = [array]
    rows.lend { first in
      for row in 0..<rows.count {
        for step in rows.steps {
          let container = containers[containers.count - 1]
          switch step {
          case .begin(let keys, let byte):
            let key = container == array ? TokenKey() : TokenKey(byte: byte)
            containers.append(tape.append(.object(keys.pointee.index), key: key, parent: container))
          case .value(let column):
            let value = first + row * rows.stride + column.offset
            let symbol = column.symbols.map { $0[Int(value.load(as: UInt8.self))].integer?.token }
            let token = symbol ?? column.type.token(at: value, isOptional: column.isOptional, in: &self)
            guard let token else { continue }
            tape.append(token, key: TokenKey(byte: column.byte), to: container)
          case .end:
            containers.removeLast()
            tape.link(Int(tape.container(container).token), in: containers[containers.count - 1])
          }
        }
      }
    }
  }
}
