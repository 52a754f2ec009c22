import Stow

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

  /// Returns the size of a packed record once it is unpacked, or nil if it is not one. It never begins with a
  /// prelude.
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
