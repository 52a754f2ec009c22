#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// How each value gets onto the tape.

/// A scalar that is recorded as a token, and a word if it needs one.
protocol RecordableScalar: Encodable {
  func record(on tape: inout Tape, key: UInt64)
}

extension RecordableScalar where Self: FixedWidthInteger {
  @inline(__always)
  func record(on tape: inout Tape, key: UInt64) {
    if let short = Int32(exactly: self) {
      tape.append(Token(.integer, key: key, index: Int(short)))
    } else {
      let isUnsigned = !Self.isSigned && Self.bitWidth == 64 && self > Self(truncatingIfNeeded: Int64.max)
      tape.append(isUnsigned ? .unsigned : .longInteger, key: key, word: UInt64(truncatingIfNeeded: self))
    }
  }
}

extension Bool: RecordableScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: UInt64) { tape.append(Token(self ? .true : .false, key: key)) }
}

extension Double: RecordableScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: UInt64) { tape.append(.double, key: key, word: bitPattern) }
}

extension Float: RecordableScalar {
  /// A `Float` is the `Double` of the same value; but a NaN keeps its own bits, which conversion may change.
  @inline(__always)
  func record(on tape: inout Tape, key: UInt64) {
    if isNaN {
      tape.append(.float, key: key, word: UInt64(bitPattern))
    } else {
      Double(self).record(on: &tape, key: key)
    }
  }
}

extension Int: RecordableScalar {}
extension Int8: RecordableScalar {}
extension Int16: RecordableScalar {}
extension Int32: RecordableScalar {}
extension Int64: RecordableScalar {}
extension UInt: RecordableScalar {}
extension UInt8: RecordableScalar {}
extension UInt16: RecordableScalar {}
extension UInt32: RecordableScalar {}
extension UInt64: RecordableScalar {}

/// What does not fit a word: an integer of 128 bits, a UUID, or the parts of a `Decimal`.
struct WideValue: BitwiseCopyable {
  let low: UInt64
  let high: UInt64
  /// The exponent of a `Decimal`.
  var exponent: Int8 = 0
}

/// What the tape names by index and the session keeps alive: copying it would cost more.
enum RetainedValue {
  case data(Data)
  case ints([Int])
  case integers([Int64])
  case doubles([Double])
  case bools([Bool])

  /// The number of elements.
  var count: Int {
    switch self {
    case .data(let data): data.count
    case .ints(let values): values.count
    case .integers(let values): values.count
    case .doubles(let values): values.count
    case .bools(let values): values.count
    }
  }

  /// The elements, which must be integers.
  func withIntegers<Result>(_ body: (UnsafeBufferPointer<Int64>) -> Result) -> Result {
    switch self {
    case .integers(let values): return values.withUnsafeBufferPointer(body)
    case .ints(let values):
      #if _pointerBitWidth(_64)
        return values.withUnsafeBufferPointer { $0.withMemoryRebound(to: Int64.self, body) }
      #else
        return values.map(Int64.init).withUnsafeBufferPointer(body)
      #endif
    default: preconditionFailure("not an array of integers")
    }
  }
}

extension EncodingSession {
  /// Records a scalar in the current container.
  @inline(__always)
  func record<Value: RecordableScalar>(_ value: Value, key: UInt64) { value.record(on: &tape, key: key) }

  @inline(__always)
  func record(_ value: borrowing String, key: UInt64) {
    let index = strings.intern(value)
    strings.countValueUse(index)
    tape.append(Token(.string, key: key, index: index))
  }

  func record(_ value: Int128, key: UInt64) {
    if let value = Int64(exactly: value) {
      record(value, key: key)
    } else if let value = UInt64(exactly: value) {
      record(value, key: key)
    } else {
      recordWide(UInt128(bitPattern: value), key: key, flags: 0)
    }
  }

  func record(_ value: UInt128, key: UInt64) {
    if let value = Int128(exactly: value) {
      record(value, key: key)
    } else {
      recordWide(value, key: key, flags: Token.Flags.unsigned)
    }
  }

  private func recordWide(_ bits: UInt128, key: UInt64, flags: UInt64) {
    let wide = WideValue(
      low: UInt64(truncatingIfNeeded: bits), high: UInt64(truncatingIfNeeded: bits >> 64))
    append(wide, as: .wide, key: key, flags: flags)
  }

  private func append(_ wide: WideValue, as kind: Token.Kind, key: UInt64, flags: UInt64 = 0) {
    tape.append(Token(kind, key: key, flags: flags, index: wideValues.count))
    wideValues.append(wide)
  }

  func retain(_ value: RetainedValue, as kind: Token.Kind, key: UInt64) {
    tape.append(Token(kind, key: key, index: retained.count))
    retained.append(value)
  }

  func record(_ value: Date, key: UInt64) {
    tape.append(.date, key: key, word: value.timeIntervalSinceReferenceDate.bitPattern)
  }

  func record(_ value: UUID, key: UInt64) {
    let (low, high) = unsafeBitCast(value.uuid, to: (UInt64, UInt64).self)
    let wide = WideValue(low: UInt64(littleEndian: low), high: UInt64(littleEndian: high))
    append(wide, as: .uuid, key: key)
  }

  func record(_ value: URL, key: UInt64) {
    let index = strings.intern(value.absoluteString)
    strings.countValueUse(index)
    tape.append(Token(.url, key: key, index: index))
  }

  func record(_ value: Decimal, key: UInt64) {
    let parts = DecimalParts(value)
    let wide = WideValue(
      low: UInt64(truncatingIfNeeded: parts.magnitude),
      high: UInt64(truncatingIfNeeded: parts.magnitude >> 64), exponent: parts.exponent)
    // The flag stands for a sign here.
    append(wide, as: .decimal, key: key, flags: parts.isNegative ? 0 : Token.Flags.unsigned)
  }

  /// A nil that stands `level` optionals deep.
  func recordNil(level: Int, key: UInt64) {
    tape.append(level == 0 ? Token(.null, key: key) : Token(.nestedNil, key: key, index: level))
  }
}
