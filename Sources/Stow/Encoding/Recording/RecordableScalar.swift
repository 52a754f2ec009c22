#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type whose values are recorded without their own `encode(to:)`.
protocol RecordableScalar: Encodable, Sendable {
  func record(in recording: inout Recording, key: TokenKey)

  /// The encoders of values of the type, of arrays of them, and of dictionaries of them by strings.
  static func makeTypeEncoder() -> AnyTypeEncoder
  static func makeArrayEncoder() -> AnyTypeEncoder
  static func makeDictionaryEncoder() -> AnyTypeEncoder
}

/// A way to record the values of some type.
class AnyTypeEncoder {}

/// A scalar that is recorded as a token, and a word if it needs one.
protocol TapeScalar: RecordableScalar {
  func record(on tape: inout Tape, key: TokenKey)
}

extension TapeScalar {
  @inline(__always)
  func record(in recording: inout Recording, key: TokenKey) { record(on: &recording.tape, key: key) }
}

extension TapeScalar where Self: FixedWidthInteger {
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) {
    if let short = Int32(exactly: self) {
      tape.append(Token(.integer, key: key, index: Int(short)))
    } else {
      let isUnsigned = !Self.isSigned && Self.bitWidth == 64 && self > Self(truncatingIfNeeded: Int64.max)
      tape.append(isUnsigned ? .unsigned : .longInteger, key: key, word: UInt64(truncatingIfNeeded: self))
    }
  }
}

extension Bool: TapeScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) { tape.append(Token(self ? .true : .false, key: key)) }
}

extension Double: TapeScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) { tape.append(.double, key: key, word: bitPattern) }
}

extension Float: TapeScalar {
  /// A `Float` is the `Double` of the same value; but a NaN keeps its own bits, which conversion may change.
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) {
    if isNaN {
      tape.append(.float, key: key, word: UInt64(bitPattern))
    } else {
      Double(self).record(on: &tape, key: key)
    }
  }
}

extension Int: TapeScalar {}
extension Int8: TapeScalar {}
extension Int16: TapeScalar {}
extension Int32: TapeScalar {}
extension Int64: TapeScalar {}
extension UInt: TapeScalar {}
extension UInt8: TapeScalar {}
extension UInt16: TapeScalar {}
extension UInt32: TapeScalar {}
extension UInt64: TapeScalar {}

extension Int128: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    if let value = Int64(exactly: self) {
      recording.record(value, key: key)
    } else if let value = UInt64(exactly: self) {
      recording.record(value, key: key)
    } else {
      recording.record(Integers.form(bits: UInt128(bitPattern: self), isSigned: true), key: key)
    }
  }
}

extension UInt128: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    if let value = Int128(exactly: self) {
      recording.record(value, key: key)
    } else {
      recording.record(Integers.form(bits: self, isSigned: false), key: key)
    }
  }
}

extension String: RecordableScalar {
  @inline(__always)
  func record(in recording: inout Recording, key: TokenKey) {
    let index = recording.strings.intern(self)
    recording.strings.countValueUse(index)
    recording.tape.append(Token(.string, key: key, index: index))
  }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: RecordableScalar {
    func record(in recording: inout Recording, key: TokenKey) {
      recording.record(Float(preserving: self), key: key)
    }
  }
#endif

extension Date: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.tape.append(.date, key: key, word: timeIntervalSinceReferenceDate.bitPattern)
  }
}

extension UUID: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    let bits = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: UInt128.self) }
    recording.record(UUIDs.form(UInt128(littleEndian: bits)), key: key)
  }
}

extension URL: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.record(url: absoluteString, key: key)
  }
}

extension Data: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.retain(.data(self), key: key)
  }
}

extension Decimal: RecordableScalar {
  func record(in recording: inout Recording, key: TokenKey) {
    recording.record(Decimals.form(DecimalParts(self)), key: key)
  }
}

/// The scalars as encoding knows them.
enum RecordableTypes {
  private static let scalars = Scalars.all.compactMap { $0 as? any RecordableScalar.Type }

  /// A type as the scalar that it is; nil of other types.
  static func scalar(_ type: Any.Type) -> (any RecordableScalar.Type)? { scalars.first { $0 == type } }
}
