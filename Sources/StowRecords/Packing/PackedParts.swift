import Stow

/// The parts of a packed record, in order (Format/Logs.md, "Packed records"):
///
/// ```
///  0nnn nnnn  n + 1 bytes                    the bytes themselves
///  1lll oooo  oooo oooo                      l + 4 bytes of the window, from the offset on; l is at most 6
///  1111 oooo  oooo oooo  llll llll           l + 11 bytes of the window
/// ```
struct PackedParts: Sequence, IteratorProtocol {
  enum Part {
    /// Bytes of the packed record.
    case literals(Range<Int>)
    /// Bytes of the window.
    case copy(Range<Int>)
  }

  static let mostLiterals = 128
  static let leastCopy = 4
  /// A copy of this length or more has a byte of its own for the length.
  static let longCopy = 11
  static let mostCopied = longCopy + 255

  private let packed: UnsafeRawBufferPointer
  private let windowSize: Int
  private var offset = 0
  /// Whether the record contains something that is not a part.
  private(set) var isMalformed = false

  init(_ packed: UnsafeRawBufferPointer, windowSize: Int) {
    self.packed = packed
    self.windowSize = windowSize
  }

  /// Returns the next part; nil after the last, and at something that is not a part.
  mutating func next() -> Part? {
    guard offset < packed.count else { return nil }
    let first = Int(packed[offset])
    offset += 1
    let part = first < 0x80 ? literals(first + 1) : copy(first)
    isMalformed = part == nil
    return part
  }

  private mutating func literals(_ count: Int) -> Part? {
    guard count <= packed.count - offset else { return nil }
    offset += count
    return .literals(offset - count..<offset)
  }

  private mutating func copy(_ first: Int) -> Part? {
    let code = first >> 4 & 7
    let isLong = code == 7
    guard packed.count - offset >= (isLong ? 2 : 1) else { return nil }
    let start = (first & 0xF) << 8 | Int(packed[offset])
    let length = isLong ? Self.longCopy + Int(packed[offset + 1]) : Self.leastCopy + code
    offset += isLong ? 2 : 1
    guard start + length <= windowSize else { return nil }
    return .copy(start..<(start + length))
  }
}

/// The first plain records of a scope, from which packed records copy.
struct PackingWindow: Sendable {
  private(set) var bytes: [UInt8] = []
  /// Whether a record did not fit. No more are added, so that records after it need not be looked at.
  private(set) var isClosed = false

  static let mostBytes = 4096

  /// Adds a plain record. Returns false if the window is closed, or if this closes it.
  mutating func add(_ record: UnsafeRawBufferPointer) -> Bool {
    if record.count > Self.mostBytes - bytes.count { isClosed = true }
    if !isClosed { bytes += record }
    return !isClosed
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isClosed = false
  }

  // MARK: - Unpacking

  /// The most bytes of a packed record when it is unpacked.
  static let mostUnpacked = Frame.payloadLimit

  /// Returns the size of a packed record once it is unpacked, or nil if it is not one. It never begins with a prelude.
  func unpackedSize(of packed: UnsafeRawBufferPointer) -> Int? {
    var size = 0
    var parts = PackedParts(packed, windowSize: bytes.count)
    while let part = parts.next() {
      if size == 0, first(of: part, packed) == RecordPrelude.tag { return nil }
      switch part {
      case .literals(let range), .copy(let range): size += range.count
      }
      if size > Self.mostUnpacked { return nil }
    }
    return parts.isMalformed || size == 0 ? nil : size
  }

  private func first(of part: PackedParts.Part, _ packed: UnsafeRawBufferPointer) -> UInt8 {
    switch part {
    case .literals(let range): packed[range.lowerBound]
    case .copy(let range): bytes[range.lowerBound]
    }
  }

  /// Unpacks a record of known size, and lends it.
  func withUnpacked<Result>(
    _ packed: UnsafeRawBufferPointer, size: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { record in
      bytes.withUnsafeBytes { unpack(packed, $0, into: record) }
      return try body(UnsafeRawBufferPointer(record))
    }
  }

  private func unpack(
    _ packed: UnsafeRawBufferPointer, _ window: UnsafeRawBufferPointer,
    into record: UnsafeMutableRawBufferPointer
  ) {
    var end = 0
    for part in PackedParts(packed, windowSize: window.count) {
      let source =
        switch part {
        case .literals(let range): UnsafeRawBufferPointer(rebasing: packed[range])
        case .copy(let range): UnsafeRawBufferPointer(rebasing: window[range])
        }
      UnsafeMutableRawBufferPointer(rebasing: record[end..<(end + source.count)]).copyMemory(from: source)
      end += source.count
    }
  }
}
