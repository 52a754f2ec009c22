#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// How each scalar gets onto the tape.

extension Recording {
  /// Records a scalar in the current container.
  @inline(__always)
  mutating func record<Value: RecordableScalar>(_ value: Value, key: TokenKey) {
    value.record(on: &tape, key: key)
  }

  @inline(__always)
  mutating func record(_ value: borrowing String, key: TokenKey) {
    let index = strings.intern(value)
    strings.countValueUse(index)
    tape.append(Token(.string, key: key, index: index))
  }

  mutating func record(_ value: Int128, key: TokenKey) {
    if let value = Int64(exactly: value) {
      record(value, key: key)
    } else if let value = UInt64(exactly: value) {
      record(value, key: key)
    } else {
      recordWide(UInt128(bitPattern: value), key: key, flags: 0)
    }
  }

  mutating func record(_ value: UInt128, key: TokenKey) {
    if let value = Int128(exactly: value) {
      record(value, key: key)
    } else {
      recordWide(value, key: key, flags: Token.Flags.unsigned)
    }
  }

  private mutating func recordWide(_ bits: UInt128, key: TokenKey, flags: UInt64) {
    let wide = WideValue(
      low: UInt64(truncatingIfNeeded: bits), high: UInt64(truncatingIfNeeded: bits >> 64))
    append(wide, as: .wide, key: key, flags: flags)
  }

  private mutating func append(_ wide: WideValue, as kind: Token.Kind, key: TokenKey, flags: UInt64 = 0) {
    tape.append(Token(kind, key: key, flags: flags, index: wideValues.count))
    wideValues.append(wide)
  }

  mutating func retain(_ value: RetainedValue, as kind: Token.Kind, key: TokenKey) {
    tape.append(Token(kind, key: key, index: retained.count))
    retained.append(value)
  }

  mutating func record(_ value: Date, key: TokenKey) {
    tape.append(.date, key: key, word: value.timeIntervalSinceReferenceDate.bitPattern)
  }

  mutating func record(_ value: UUID, key: TokenKey) {
    let (low, high) = unsafeBitCast(value.uuid, to: (UInt64, UInt64).self)
    let wide = WideValue(low: UInt64(littleEndian: low), high: UInt64(littleEndian: high))
    append(wide, as: .uuid, key: key)
  }

  mutating func record(_ value: URL, key: TokenKey) {
    let index = strings.intern(value.absoluteString)
    strings.countValueUse(index)
    tape.append(Token(.url, key: key, index: index))
  }

  mutating func record(_ value: Decimal, key: TokenKey) {
    let parts = DecimalParts(value)
    let wide = WideValue(
      low: UInt64(truncatingIfNeeded: parts.magnitude),
      high: UInt64(truncatingIfNeeded: parts.magnitude >> 64), exponent: parts.exponent)
    // The flag stands for a sign here.
    append(wide, as: .decimal, key: key, flags: parts.isNegative ? 0 : Token.Flags.unsigned)
  }

  /// A nil that stands `level` optionals deep.
  mutating func recordNil(level: Int, key: TokenKey) {
    tape.append(level == 0 ? Token(.null, key: key) : Token(.nestedNil, key: key, index: level))
  }
}
