#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type whose values are recorded without their own `encode(to:)`.
protocol RecordableScalar: Encodable, Equatable, Sendable {
  /// The type if it is a `TapeScalar`. Unlike a cast, this does not search every conformance of the program.
  static var tapeScalar: (any TapeScalar.Type)? { get }

  /// Returns the value as a token. The message keeps what does not fit in one.
  func token(in message: inout RecordedMessage) -> LooseToken

  /// Returns the value at an address, or an optional one there, as a token; nil if it is nil.
  static func token(at address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage) -> LooseToken?

  /// Records an array in a room for one token. Each type has its own, specialized code.
  static func record(_ values: [Self], in message: inout RecordedMessage, on room: inout TapeRoom, key: TokenKey)

  /// Records the array that is at an address, or an optional one there that is not nil.
  static func record(
    arrayAt address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, on room: inout TapeRoom,
    key: TokenKey)

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

extension RecordableScalar {
  @inline(__always)
  func record(in message: inout RecordedMessage, key: TokenKey) {
    let token = token(in: &message)
    message.tape.append(token, key: key)
  }
}

extension TapeScalar {
  static var tapeScalar: (any TapeScalar.Type)? { Self.self }

  @inline(__always)
  func token(in message: inout RecordedMessage) -> LooseToken { token }
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
  func token(in message: inout RecordedMessage) -> LooseToken {
    Int64(exactly: self)?.token ?? UInt64(exactly: self)?.token
      ?? message.token(of: Integers.form(bits: UInt128(bitPattern: self), isSigned: true))
  }
}

extension UInt128: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken {
    Int128(exactly: self)?.token(in: &message) ?? message.token(of: Integers.form(bits: self, isSigned: false))
  }
}

extension String: RecordableScalar {
  @inline(__always)
  func token(in message: inout RecordedMessage) -> LooseToken { message.token(of: self) }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: RecordableScalar {
    func token(in message: inout RecordedMessage) -> LooseToken { Float(preserving: self).token }
  }
#endif

extension Date: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken {
    LooseToken(.date, timeIntervalSinceReferenceDate.bitPattern)
  }
}

extension UUID: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken {
    let bits = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: UInt128.self) }
    return message.token(of: UUIDs.form(UInt128(littleEndian: bits)))
  }
}

extension URL: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken { message.token(of: absoluteString, as: .url) }
}

extension Data: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken { message.retain(.data(self)) }
}

extension Decimal: RecordableScalar {
  func token(in message: inout RecordedMessage) -> LooseToken { message.token(of: Decimals.form(DecimalParts(self))) }
}

// MARK: - whole collections

extension RecordableScalar {
  static func token(at address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage) -> LooseToken? {
    var token: LooseToken?
    address.lend(Self.self, isOptional: isOptional) { token = $0.token(in: &message) }
    return token
  }

  static func record(
    arrayAt address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, on room: inout TapeRoom,
    key: TokenKey
  ) {
    address.lend([Self].self, isOptional: isOptional) { record($0, in: &message, on: &room, key: key) }
  }

  @inline(never)
  static func record(_ values: [Self], in message: inout RecordedMessage, on room: inout TapeRoom, key: TokenKey) {
    if values.count >= RetainedValue.fewestElements, let value = retained(values) {
      return room.append(message.retain(value), key: key)
    }
    message.tape.begin(.array, of: values.count, key: key, in: &room)
    values.withUnsafeBufferPointer {
      borrowingEach(of: $0) { value, _ in room.append(value.token(in: &message), key: TokenKey()) }
    }
    message.tape.end(count: values.count, in: &room)
  }

  /// Records the dictionary that is at an address, or an optional one there that is not nil.
  static func record(
    mapAt address: UnsafeRawPointer, isOptional: Bool, in message: inout RecordedMessage, on room: inout TapeRoom,
    key: TokenKey
  ) {
    // All but the most usual dictionaries share one code.
    if Self.self == String.self {
      return address.lend([String: String].self, isOptional: isOptional) {
        String.record($0, in: &message, on: &room, key: key)
      }
    }
    if Self.self == Int.self {
      return address.lend([String: Int].self, isOptional: isOptional) {
        Int.record($0, in: &message, on: &room, key: key)
      }
    }
    address.lend([String: Self].self, isOptional: isOptional) { record($0, in: &message, on: &room, key: key) }
  }

  @inline(never)
  static func record(_ map: [String: Self], in message: inout RecordedMessage, on room: inout TapeRoom, key: TokenKey) {
    message.tape.begin(message.mapForm(), of: map.count, key: key, in: &room)
    for (name, value) in map {
      let key = message.key(name, at: room.count)
      room.append(value.token(in: &message), key: key)
    }
    message.tape.end(count: map.count, in: &room)
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

extension Tape {
  /// Begins a container in a room for all of its elements. Not inlined, so that all types share it.
  @inline(never)
  fileprivate mutating func begin(_ form: ContainerForm, of count: Int, key: TokenKey, in room: inout TapeRoom) {
    begin(form, key: key, in: &room)
    enlarge(&room, to: count)
  }
}
