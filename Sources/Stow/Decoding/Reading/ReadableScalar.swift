/// A type that the containers have methods of their own for.
protocol ReadableScalar {
  /// Returns the value at `offset`, and moves `next` behind it.
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self

  /// Returns the value of a cell, which has no tag. The offset is for errors.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self
}

extension Bool: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Bool {
    try message.bool(at: offset, next: &next)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Bool {
    try cell.bool(at: offset)
  }
}

extension Double: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Double {
    try message.double(at: offset, next: &next)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Double {
    try cell.double(at: offset)
  }
}

extension Float: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Float {
    try message.float(at: offset, next: &next)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Float {
    try cell.float(at: offset)
  }
}

extension String: ReadableScalar {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> String {
    try message.string(at: offset, next: &next)
  }

  /// Fails: no cell is a string.
  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> String {
    try fail(.cellMismatch, at: offset)
  }
}

extension ReadableScalar where Self: FixedWidthInteger {
  @inline(__always)
  static func read(_ message: Message, at offset: Int, next: inout Int) throws(FormatError) -> Self {
    try message.integer(Self.self, at: offset, next: &next)
  }

  static func read(_ cell: Cell, at offset: Int) throws(FormatError) -> Self {
    try cell.integer(Self.self, at: offset)
  }
}

extension Int: ReadableScalar {}
extension Int8: ReadableScalar {}
extension Int16: ReadableScalar {}
extension Int32: ReadableScalar {}
extension Int64: ReadableScalar {}
extension Int128: ReadableScalar {}
extension UInt: ReadableScalar {}
extension UInt8: ReadableScalar {}
extension UInt16: ReadableScalar {}
extension UInt32: ReadableScalar {}
extension UInt64: ReadableScalar {}
extension UInt128: ReadableScalar {}
