/// A block that was read: where its records are, as far as its frames are whole.
struct Block: Sendable {
  /// Where something stands in the block.
  struct Place: Sendable {
    let start: UInt32
    let end: UInt32
    /// How many bytes a packed record has when it is unpacked; 0 for all others.
    let unpackedSize: UInt32

    init(_ range: Range<Int>, unpackedSize: Int = 0) {
      start = UInt32(range.lowerBound)
      end = UInt32(range.upperBound)
      self.unpackedSize = UInt32(unpackedSize)
    }

    var isPacked: Bool { unpackedSize > 0 }

    var range: Range<Int> { Int(start)..<Int(end) }
  }

  let head: BlockHead
  /// From the head on, as far as they are there.
  let bytes: [UInt8]
  private(set) var records: [Place] = []
  /// The records before which all definitions are forgotten, as indices in `records`; the first of all is one.
  private(set) var scopes: [Int] = [0]
  /// For each scope, what its packed records copy from.
  private(set) var windows = [PackingWindow()]
  /// A part of a record that began in an earlier block, and whether it is the last.
  private(set) var continuation: (payload: Range<Int>, isLast: Bool)?
  /// The first part of a record that goes on in the next block.
  private(set) var beginning: Range<Int>?
  private(set) var origin: Origin?
  /// Where the last whole frame ends, one that begins a record of several blocks not counted.
  private(set) var end = BlockHead.size
  /// Whether something stands behind the whole frames that is none.
  private(set) var isDamaged = false

  /// Where the block begins in the file.
  var start: Int { head.index * BlockHead.blockSize }

  /// The number of the first record of the next block.
  var nextRecord: Int { head.firstRecord + records.count + (beginning == nil ? 0 : 1) }

  init(_ head: BlockHead, _ bytes: [UInt8]) {
    self.head = head
    self.bytes = bytes
    readFrames()
  }

  private mutating func readFrames() {
    var offset = BlockHead.size
    while true {
      switch Frame.find(in: bytes, at: offset, blockStart: start, identity: head.identity) {
      case .nothing: return
      case .damage:
        isDamaged = true
        return
      case .frame(let frame):
        guard take(frame) else {
          isDamaged = true
          return
        }
        offset = frame.payload.upperBound
        if frame.kind != .first { end = offset }
      }
    }
  }

  /// Takes in a frame; false if it makes no sense where it stands.
  private mutating func take(_ frame: Frame) -> Bool {
    // Behind a part that goes on in the next block, this block has nothing.
    if beginning != nil || continuation?.isLast == false { return false }
    switch frame.kind {
    case .records, .freshRecords, .packableRecords, .freshPackableRecords: return takeRecords(of: frame)
    case .first: beginning = frame.payload
    case .middle, .last:
      if end != BlockHead.size { return false }
      continuation = (frame.payload, frame.kind == .last)
    case .origin:
      guard end == BlockHead.size, head.index == 0, let origin = Origin(bytes, frame.payload) else {
        return false
      }
      self.origin = origin
    }
    return true
  }

  /// Takes in all records of a frame; false if its payload is something else.
  private mutating func takeRecords(of frame: Frame) -> Bool {
    let first = records.count
    // Of a full block; many small frames grow the array as they come.
    if first == 0 { records.reserveCapacity(frame.payload.count / 16) }
    if frame.kind.isFresh, first > 0 {
      scopes.append(first)
      windows.append(PackingWindow())
    }
    let isWhole = frame.kind.isPackable ? takePackable(in: frame.payload) : takePlain(in: frame.payload)
    // Nothing is read behind it, so that what it left in the scopes is of no use to anybody.
    if !isWhole { records.removeSubrange(first...) }
    return isWhole
  }

  private mutating func takePlain(in payload: Range<Int>) -> Bool {
    var offset = payload.lowerBound
    while offset < payload.upperBound {
      guard let length = Uint.read(from: bytes, at: &offset, before: payload.upperBound),
        length <= payload.upperBound - offset
      else { return false }
      records.append(Place(offset..<(offset + length)))
      offset += length
    }
    return true
  }

  /// Takes in records whose lengths say whether they are packed.
  private mutating func takePackable(in payload: Range<Int>) -> Bool {
    // Taken out, so that it is not copied when a record is added.
    var window = windows.removeLast()
    defer { windows.append(window) }
    var offset = payload.lowerBound
    return bytes.withUnsafeBytes { raw in
      while offset < payload.upperBound {
        guard let head = Uint.read(from: bytes, at: &offset, before: payload.upperBound),
          head >> 1 <= payload.upperBound - offset
        else { return false }
        let range = offset..<(offset + head >> 1)
        let record = UnsafeRawBufferPointer(rebasing: raw[range])
        guard let unpackedSize = Self.take(record, isPacked: head & 1 == 1, &window) else { return false }
        records.append(Place(range, unpackedSize: unpackedSize))
        offset = range.upperBound
      }
      return true
    }
  }

  /// Adds a plain record to the window, and returns 0; or returns the size of a packed one, nil if it is none.
  @inline(__always)
  private static func take(
    _ record: UnsafeRawBufferPointer, isPacked: Bool, _ window: inout PackingWindow
  ) -> Int? {
    if isPacked { return window.unpackedSize(of: record) }
    _ = window.add(record)
    return 0
  }
}
