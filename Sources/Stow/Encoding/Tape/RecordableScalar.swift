#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type whose values are recorded without their own `encode(to:)`.
protocol RecordableScalar: Encodable, Equatable, Sendable {
  /// The type if it is a `TapeScalar`. Unlike a cast, this does not search every conformance of the program.
  static var tapeScalar: (any TapeScalar.Type)? { get }

  func record(in message: inout RecordedMessage, key: TokenKey)

  /// Record the elements of an array, and the entries of a map. Each type has its own, specialized code.
  static func record(_ values: UnsafeBufferPointer<Self>, in message: inout RecordedMessage, _ array: Int)
  static func record(_ values: [String: Self], in message: inout RecordedMessage, _ map: Int)

  /// Append the value, or the array of values, that is at an address, or an optional one there that is not nil.
  static func record(at address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, key: TokenKey)
  static func record(
    arrayAt address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, key: TokenKey,
    _ parent: Int)

  /// Returns an array as a value that is packed when it is written; nil if it has no such form.
  static func retained(_ values: [Self]) -> RetainedValue?
}

/// A scalar that is recorded as a token, and a word if it needs one.
protocol TapeScalar: RecordableScalar {
  var token: LooseToken { get }

  /// Writes the value at an address, within a reserve. Returns false for an optional one without a value.
  static func write(at address: UnsafeRawPointer, isOptional: Bool, to writer: inout BackwardWriter) -> Bool

  /// Fills the cells of a column with the numbers of values at equal distances, marks them, and returns the bits of the
  /// kinds that they have on a tape.
  static func fill(
    _ cells: UnsafeMutableBufferPointer<UInt64>, _ marks: UnsafeMutableBufferPointer<Bool>,
    from first: UnsafeRawPointer, stride: Int, isOptional: Bool
  ) -> UInt32
}

extension TapeScalar {
  static var tapeScalar: (any TapeScalar.Type)? { Self.self }

  @inline(__always)
  func record(in message: inout RecordedMessage, key: TokenKey) { message.tape.append(token, key: key) }

  @inline(__always)
  func record(on room: inout TapeRoom, key: TokenKey) { room.append(token, key: key) }
}

extension TapeScalar where Self: FixedWidthInteger {
  @inline(__always)
  var token: LooseToken {
    let number = UInt64(truncatingIfNeeded: self)
    if Int32(exactly: self) != nil { return LooseToken(.integer, number) }
    let isUnsigned = !Self.isSigned && Self.bitWidth == 64 && self > Self(truncatingIfNeeded: Int64.max)
    return LooseToken(isUnsigned ? .unsigned : .longInteger, number)
  }
}

extension Bool: TapeScalar {
  @inline(__always)
  var token: LooseToken { LooseToken(self ? .true : .false) }

  static func retained(_ values: [Bool]) -> RetainedValue? { .bools(values) }
}

extension Double: TapeScalar {
  @inline(__always)
  var token: LooseToken { LooseToken(.double, bitPattern) }

  static func retained(_ values: [Double]) -> RetainedValue? { .doubles(values) }
}

extension Float: TapeScalar {
  /// The `Double` of the same value. A NaN keeps its own bits, which conversion may change.
  @inline(__always)
  var token: LooseToken { isNaN ? LooseToken(.float, UInt64(bitPattern)) : Double(self).token }

  static func retained(_ values: [Float]) -> RetainedValue? {
    values.contains(where: \.isNaN) ? nil : .doubles(values.map(Double.init))
  }
}

extension Int: TapeScalar {
  static func retained(_ values: [Int]) -> RetainedValue? { .ints(values) }
}

extension Int8: TapeScalar {}
extension Int16: TapeScalar {}
extension Int32: TapeScalar {}
extension Int64: TapeScalar {
  static func retained(_ values: [Int64]) -> RetainedValue? { .integers(values) }
}

extension UInt: TapeScalar {}
extension UInt8: TapeScalar {}
extension UInt16: TapeScalar {}
extension UInt32: TapeScalar {}
extension UInt64: TapeScalar {}

extension Int128: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    if let value = Int64(exactly: self) {
      value.record(in: &message, key: key)
    } else if let value = UInt64(exactly: self) {
      value.record(in: &message, key: key)
    } else {
      message.record(Integers.form(bits: UInt128(bitPattern: self), isSigned: true), key: key)
    }
  }
}

extension UInt128: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    if let value = Int128(exactly: self) {
      value.record(in: &message, key: key)
    } else {
      message.record(Integers.form(bits: self, isSigned: false), key: key)
    }
  }
}

extension String: RecordableScalar {
  @inline(__always)
  func record(in message: inout RecordedMessage, key: TokenKey) { message.record(self, key: key) }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: RecordableScalar {
    func record(in message: inout RecordedMessage, key: TokenKey) {
      Float(preserving: self).record(in: &message, key: key)
    }
  }
#endif

extension Date: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.tape.append(LooseToken(.date, timeIntervalSinceReferenceDate.bitPattern), key: key)
  }
}

extension UUID: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    let bits = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: UInt128.self) }
    message.record(UUIDs.form(UInt128(littleEndian: bits)), key: key)
  }
}

extension URL: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) { message.record(absoluteString, as: .url, key: key) }
}

extension Data: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) { message.retain(.data(self), key: key) }
}

extension Decimal: RecordableScalar {
  func record(in message: inout RecordedMessage, key: TokenKey) {
    message.record(Decimals.form(DecimalParts(self)), key: key)
  }
}

// MARK: - whole collections

extension RecordableScalar {
  static func record(_ values: UnsafeBufferPointer<Self>, in message: inout RecordedMessage, _ array: Int) {
    let first = message.tape.count
    borrowingEach(of: values) { value, _ in value.record(in: &message, key: TokenKey()) }
    message.tape.linkAll(from: first, in: array)
  }

  static func record(_ values: [String: Self], in message: inout RecordedMessage, _ map: Int) {
    let first = message.tape.count
    for (key, value) in values { value.record(in: &message, key: message.key(key)) }
    message.tape.linkAll(from: first, in: map)
  }

  static func record(at address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, key: TokenKey) {
    address.lend(Self.self, isOptional: isOptional) { $0.record(in: &message, key: key) }
  }

  static func record(
    arrayAt address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, key: TokenKey,
    _ parent: Int
  ) {
    address.lend([Self].self, isOptional: isOptional) { values in
      if values.count >= RetainedValue.fewestElements, let value = retained(copy values) {
        return message.retain(value, key: key)
      }
      let array = message.tape.append(.array, key: key, parent: parent)
      values.withUnsafeBufferPointer { record($0, in: &message, array) }
    }
  }

  static func retained(_ values: [Self]) -> RetainedValue? { nil }

  static var tapeScalar: (any TapeScalar.Type)? { nil }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// For integers of any width; those beyond `Int64` are recorded one by one.
  static func retained(_ values: [Self]) -> RetainedValue? {
    if bitWidth == 64, !isSigned, values.contains(where: { $0 > Self(Int64.max) }) { return nil }
    return .integers(values.map { Int64(truncatingIfNeeded: $0) })
  }
}
