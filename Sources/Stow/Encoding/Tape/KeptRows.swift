/// An array that is kept whole, and planned and written from its memory: of values that become objects with the same keys,
/// whose scalars lie at fixed places.
struct KeptRows {
  /// The values of one key.
  struct Column {
    /// The byte of the key.
    let byte: Int
    /// Where it is in each value.
    let offset: Int
    let isOptional: Bool
    let type: any TapeScalar.Type
  }

  let keys: KeyTable.Reference
  let columns: [Column]
  let count: Int
  /// The distance of the values.
  let stride: Int
  /// Lends the memory of the values, of which there is at least one.
  let lend: ((UnsafeRawPointer) -> Void) -> Void
}

/// Holds one token, instead of a tape.
private struct OneToken: TokenTape {
  var kind = Token.Kind.null
  var number: UInt64 = 0

  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: TokenKey, value: Int) {
    (self.kind, number) = (kind, UInt64(truncatingIfNeeded: value))
  }

  @inline(__always)
  mutating func append(_ kind: Token.Kind, key: TokenKey, word: UInt64) {
    (self.kind, number) = (kind, word)
  }
}

extension TapeScalar {
  static func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>,
    from first: UnsafeRawPointer, stride: Int, isOptional: Bool
  ) -> UInt32 {
    isOptional
      ? fill(cells, marks, from: first, stride) {
        $0.assumingMemoryBound(to: Self?.self).pointee.unsafelyUnwrapped
      } : fill(cells, marks, from: first, stride) { $0.assumingMemoryBound(to: Self.self).pointee }
  }

  @inline(__always)
  private static func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>,
    from first: UnsafeRawPointer, _ stride: Int, _ load: (UnsafeRawPointer) -> Self
  ) -> UInt32 {
    var (kinds, token): (UInt32, OneToken) = (0, OneToken())
    for row in cells.indices {
      load(first + row &* stride).record(on: &token, key: TokenKey())
      cells[row] = token.number
      kinds |= token.kind.bit
      marks[row] = token.kind.isMarked
    }
    return kinds
  }
}

extension RecordedMessage {
  /// Records the rows to an array one by one. They were counted when they were kept.
  mutating func expand(_ rows: KeptRows, to array: Int) {
    rows.lend { first in
      for row in 0..<rows.count {
        let form = ContainerForm.object(rows.keys.pointee.index)
        let object = tape.append(form, key: TokenKey(), parent: array)
        let cells = tape.count
        for column in rows.columns {
          column.type.record(
            at: first + row * rows.stride + column.offset, isOptional: column.isOptional, in: &self,
            key: TokenKey(byte: column.byte))
        }
        tape.linkAll(from: cells, in: object)
        tape.link(cells - 1, in: array)
      }
    }
  }
}
