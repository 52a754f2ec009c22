/// Strings of UTF-8 (FORMAT.md, "Strings, data, URLs").
enum Strings {
  /// The length follows.
  static let long: UInt8 = 0x1D
  /// A string of 0 to 31 bytes: `short + length`.
  static let short: UInt8 = 0x30
  static let lastShort: UInt8 = 0x4F
  static let shortLimit = 32

  // MARK: writing

  /// Returns the size of the header of a string; 0 if its length takes more than a byte.
  static func headerSize(_ length: Int) -> Int { length < shortLimit ? 1 : length < Varint.oneByteLimit ? 2 : 0 }

  /// Writes such a header, and perhaps a byte after it.
  static func writeHeader(_ length: Int, to target: UnsafeMutableRawPointer) {
    let size = UInt16(truncatingIfNeeded: length)
    let header = length < shortLimit ? UInt16(short) &+ size : UInt16(long) | size &<< 8
    target.storeBytes(of: header.littleEndian, as: UInt16.self)
  }

  /// Writes the header of a string, whose bytes were written. Within a reserve.
  @inline(__always)
  static func writeHeader(_ length: Int, to writer: inout BackwardWriter) {
    writer.numbered(length, short: short, limit: shortLimit, long: long)
  }

  // MARK: reading

  /// Reads the string at `offset` whose length is in its tag, and the offset after it; nil for another value.
  @inline(__always)
  static func readShort(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> String? {
    let tag = try reader.byte(at: offset)
    guard tag >= short, tag <= lastShort else { return nil }
    let length = Int(tag &- short)
    try reader.require(length, at: offset &+ 1)
    next = offset &+ 1 &+ length
    return try reader.string(at: offset &+ 1, count: length)
  }

  /// The same for a string whose length follows its tag.
  static func readLong(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> String? {
    guard try reader.byte(at: offset) == long else { return nil }
    var start = offset + 1
    let length = try reader.length(at: &start)
    next = start + length
    return try reader.string(at: start, count: length)
  }
}

extension ByteReader {
  /// Returns the string of `count` bytes of UTF-8 at `offset`, which `require` has checked.
  @inline(__always)
  func string(at offset: Int, count size: Int) throws(FormatError) -> String {
    // A string this short needs no memory, and ASCII needs no check.
    guard size <= 15, isASCII(at: offset, count: size) else { return try longString(at: offset, count: size) }
    return String(unsafeUninitializedCapacity: size) { target in
      UnsafeMutableRawBufferPointer(target).copyMemory(from: buffer(at: offset, count: size))
      return size
    }
  }

  /// Makes the string, and compares its bytes, because validating them first is slower: decoding changes invalid UTF-8.
  private func longString(at offset: Int, count: Int) throws(FormatError) -> String {
    let bytes = buffer(at: offset, count: count)
    let string = String(decoding: bytes, as: UTF8.self)
    let isWhole =
      isASCII(at: offset, count: count)
      || string.utf8.withContiguousStorageIfAvailable { equalBytes(UnsafeRawBufferPointer($0), bytes) } ?? false
    guard isWhole else { try fail(.invalidText, at: offset) }
    return string
  }

  /// Returns whether `count` bytes at `offset`, which `require` has checked, are all ASCII.
  @inline(__always)
  func isASCII(at offset: Int, count: Int) -> Bool {
    var bits: UInt64 = 0
    if count >= 8 {
      for index in stride(from: 0, to: count &- 8, by: 8) {
        bits |= pointer(at: offset &+ index).loadUnaligned(as: UInt64.self)
      }
      // The last eight bytes may overlap those before.
      bits |= pointer(at: offset &+ count &- 8).loadUnaligned(as: UInt64.self)
    } else if offset <= self.count &- 8 {
      let word = UInt64(littleEndian: pointer(at: offset).loadUnaligned(as: UInt64.self))
      bits = word & ~(.max &<< UInt64(truncatingIfNeeded: 8 &* count))
    } else {
      bits = firstBytes(at: offset, upTo: offset &+ count)
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }
}

/// Strings that are in the prelude, each by its number (FORMAT.md, "Strings, data, URLs").
enum Symbols {
  /// The number follows.
  static let long: UInt8 = 0x1E
  /// One of the first 32: `short + number`.
  static let short: UInt8 = 0x50
  static let lastShort: UInt8 = 0x6F
  static let shortLimit = 32

  @inline(__always)
  static func write(_ number: Int, to writer: inout BackwardWriter) {
    writer.numbered(number, short: short, limit: shortLimit, long: long)
  }

  /// Reads the number of the symbol at `offset`, and the offset after it; nil for another kind of value.
  @inline(__always)
  static func read(_ reader: ByteReader, at offset: Int, next: inout Int) throws(FormatError) -> Int? {
    var end = offset
    let number = try reader.numbered(at: &end, short: short, limit: shortLimit, long: long)
    if number != nil { next = end }
    return number
  }
}

/// Data: bytes (FORMAT.md, "Strings, data, URLs").
enum DataValues {
  static let tag: UInt8 = 0x19

  static func write(_ bytes: UnsafeRawBufferPointer, to writer: inout BackwardWriter) {
    writer.bytes(bytes)
    writer.reserve(BackwardWriter.margin)
    writer.varint(bytes.count)
    writer.byte(tag)
  }

  static func read(_ reader: ByteReader, at offset: Int) throws(FormatError) -> Range<Int> {
    guard try reader.byte(at: offset) == tag else { try fail(.mismatch, at: offset) }
    var start = offset + 1
    let length = try reader.length(at: &start)
    return start..<start + length
  }
}

/// URLs: a tag, followed by their string (FORMAT.md, "Strings, data, URLs").
enum URLs {
  static let tag: UInt8 = 0x1A

  static func mayHold(_ tag: UInt8) -> Bool { Tag.kind(of: tag) == .string }
}
