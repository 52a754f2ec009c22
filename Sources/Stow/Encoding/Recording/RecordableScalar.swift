/// A scalar that is recorded as a token, and a word if it needs one.
protocol RecordableScalar: Encodable {
  func record(on tape: inout Tape, key: TokenKey)
}

extension RecordableScalar where Self: FixedWidthInteger {
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

extension Bool: RecordableScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) { tape.append(Token(self ? .true : .false, key: key)) }
}

extension Double: RecordableScalar {
  @inline(__always)
  func record(on tape: inout Tape, key: TokenKey) { tape.append(.double, key: key, word: bitPattern) }
}

extension Float: RecordableScalar {
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
