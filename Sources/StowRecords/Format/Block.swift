import Stow

/// A block that was read: the contents of its frames, in order, and the parts that cannot be read.
///
/// ```
///  head   part of an earlier group?    records   damage   records …   first part of a group?
///         continuation                 └───────── pieces ────────┘   beginning
/// ```
package struct Block: Sendable {
  /// Where a record is in the block.
  package struct Place: Sendable {
    let start: UInt32
    let end: UInt32
    /// The size of a packed record once it is unpacked; 0 for all others.
    let unpackedSize: UInt32

    init(_ range: Range<Int>, unpackedSize: Int = 0) {
      start = UInt32(range.lowerBound)
      end = UInt32(range.upperBound)
      self.unpackedSize = UInt32(unpackedSize)
    }

    /// The most bytes that a record may have for all places in a group of that size to fit in 32 bits.
    static let mostBytes = Int(UInt32.max) - Varint.longest

    var isPacked: Bool { unpackedSize > 0 }

    /// Returns the same place relative to an offset.
    func from(_ offset: Int) -> Place {
      Place(range.lowerBound - offset..<range.upperBound - offset, unpackedSize: Int(unpackedSize))
    }

    var range: Range<Int> { Int(start)..<Int(end) }
  }

  /// Records whose numbers follow each other, with nothing damaged between them.
  package struct Run: Sendable {
    fileprivate(set) var numbers: RecordNumbers
    fileprivate(set) var records: [Place]
    /// The indices in `records` before which all definitions are forgotten; the first is 0.
    fileprivate(set) var scopes: [Int] = [0]
    /// For each scope, the window that its packed records copy from.
    fileprivate(set) var windows: [PackingWindow]
    /// The frames that hold the run.
    fileprivate(set) var frames: [RunFrame] = []
    /// Where its frames end in the block.
    var end: Int { frames.last.map { Int($0.end) } ?? 0 }

    init(_ numbers: RecordNumbers, _ records: [Place] = [], windows: [PackingWindow] = [PackingWindow()]) {
      (self.numbers, self.records, self.windows) = (numbers, records, windows)
    }

    /// Returns the scope that a record belongs to.
    func scope(of index: Int) -> Int { max(0, scopes.partitionPoint { $0 <= index } - 1) }

    fileprivate mutating func add(_ place: Place) {
      records.append(place)
      numbers.add()
    }
  }

  /// The payload of a frame of records, and the index of its first checksum among those of the block.
  struct RunFrame: Sendable {
    let start: UInt32
    let end: UInt32
    let firstChecksum: UInt32
  }

  package enum Piece: Sendable {
    case records(Run)
    /// Unreadable bytes: frames that are not whole, and whole ones that rely on them.
    case damage(Range<Int>)
  }

  /// A part of a group, mostly of a single record, that spans several blocks.
  package struct Part: Sendable {
    /// The number of the last record of the group.
    package let number: Int
    let bytes: Range<Int>
    let kind: Frame.Kind
    /// How many records and how many bytes the group has, as its first part says; 0 in the other parts.
    var count = 0
    var size = 0

    /// The records of the group, if this is its first part.
    var numbers: Range<Int> { (number + 1 - count)..<(number + 1) }
  }

  let index: Int
  /// The head; nil if it is damaged. Frames say by themselves which records they hold.
  package let head: BlockHead?
  /// The bytes of the block from its head on, as far as they exist.
  let bytes: [UInt8]
  package private(set) var pieces: [Piece] = []
  /// The checksums at the stretches of each frame, from before the first to after the last.
  private(set) var checksums: [Checksum] = []
  /// A part of a group that began in an earlier block.
  package private(set) var continuation: Part?
  /// The first part of a group that continues in the next block.
  private(set) var beginning: Part?
  private(set) var origin: Origin?
  /// The records before this block that were given up.
  package private(set) var abandoned: Range<Int>?
  /// Where the last checkpoint stands.
  private(set) var checkpoint: Range<Int>?
  /// Where the last whole frame ends.
  private(set) var end = BlockHead.size
  /// The same, not counting a first part.
  private(set) var endOfRecords = BlockHead.size

  /// The number of the next record; if it is not known, the least that it can be.
  private var next: Int
  private var isNextKnown: Bool
  /// Whether all frames of the scope were whole so far.
  private var isScopeWhole = true
  private var run: Run?
  private var damageStart: Int?

  /// Where the block begins in the file.
  var start: Int { index * BlockHead.blockSize }

  /// The number of the first record that begins in the next block.
  package var nextRecord: Int { next + (beginning?.count ?? 0) }

  /// Whether a group continues in the next block.
  package var isOpen: Bool { beginning != nil || continuation?.kind == .middle }

  /// The bytes that cannot be read.
  package var damage: [Range<Int>] { pieces.compactMap { if case .damage(let bytes) = $0 { bytes } else { nil } } }

  /// - Returns: Nil if neither the head nor any frame is whole, or if the block is of another version.
  package init?(_ index: Int, _ bytes: [UInt8], identity: UInt64) {
    if BlockHead.unsupportedVersion(bytes) != nil { return nil }
    self.index = index
    self.bytes = bytes
    let head = BlockHead(bytes).flatMap { $0.index == index && $0.identity == identity ? $0 : nil }
    self.head = head
    next = head?.firstRecord ?? 0
    isNextKnown = head != nil
    if head == nil { damageStart = 0 }
    let hasFrames = readFrames(identity)
    guard head != nil || hasFrames else { return nil }
  }

  // MARK: - Frames

  /// Takes in all frames, and returns whether there is one.
  private mutating func readFrames(_ identity: UInt64) -> Bool {
    var search: FrameSearch?
    var offset = BlockHead.size
    var hasFrames = false
    while offset < bytes.count {
      let firstChecksum = checksums.count
      if let frame = Frame(in: bytes, at: offset, blockStart: start, identity: identity, noting: &checksums) {
        hasFrames = true
        endDamage(before: offset)
        if !take(frame, at: offset, firstChecksum) { beginDamage(at: offset) }
        offset = frame.payload.upperBound
        end = offset
        if frame.kind != .first { endOfRecords = offset }
        continue
      }
      // No frame begins among zeros, and a crash may leave many blocks of them.
      if bytes[offset...].allSatisfy({ $0 == 0 }) { break }
      beginDamage(at: offset)
      let found = search ?? FrameSearch(bytes, blockStart: start, identity: identity)
      search = found
      guard let next = found.firstFrame(from: offset + 1) else { break }
      offset = next
    }
    // Trailing zeros are the unused rest of a block, whatever precedes them.
    endDamage(before: max(end, (bytes.lastIndex { $0 != 0 } ?? 0) + 1))
    endRun()
    return hasFrames
  }

  private mutating func beginDamage(at offset: Int) {
    (isNextKnown, isScopeWhole) = (false, false)
    endRun()
    if damageStart != nil { return }
    if case .damage(let before) = pieces.last, before.upperBound == offset {
      damageStart = before.lowerBound
      pieces.removeLast()
    } else {
      damageStart = offset
    }
  }

  private mutating func endDamage(before offset: Int) {
    guard let start = damageStart else { return }
    pieces.append(.damage(start..<offset))
    damageStart = nil
  }

  private mutating func endRun() {
    if let run { pieces.append(.records(run)) }
    run = nil
  }

  /// Takes in a frame. Returns false if it cannot be read, or makes no sense in this place.
  private mutating func take(_ frame: Frame, at offset: Int, _ firstChecksum: Int) -> Bool {
    // Nothing in this block follows a part that continues in the next one.
    if isOpen { return false }
    let isFirst = offset == BlockHead.size
    if frame.kind == .origin {
      origin = isFirst && index == 0 ? Origin(bytes, frame.payload) : nil
      return origin != nil
    }
    var start = frame.payload.lowerBound
    guard let number = Varint.read(from: bytes, at: &start, before: frame.payload.upperBound),
      number < BlockHead.recordLimit
    else { return false }
    let content = start..<frame.payload.upperBound
    switch frame.kind {
    case .middle, .last: return isFirst && takeContinuation(number, content, frame.kind)
    case .abandonment: return isFirst && takeAbandonment(number, content)
    case .checkpoint:
      guard content.isEmpty, isNext(number) else { return false }
      checkpoint = offset..<frame.payload.upperBound
      return true
    case .note: return isNext(number)
    case .first: return isNext(number) && takeBeginning(number, content)
    default: return isNext(number) && takeRecords(of: frame, number, content, firstChecksum)
    }
  }

  /// Returns whether a number is the one that must follow. After damage any number is accepted that did not
  /// occur before.
  private mutating func isNext(_ number: Int) -> Bool {
    guard isNextKnown ? number == next : number >= next else { return false }
    (next, isNextKnown) = (number, true)
    return true
  }

  private mutating func takeContinuation(_ number: Int, _ content: Range<Int>, _ kind: Frame.Kind) -> Bool {
    guard !content.isEmpty, number + 1 < BlockHead.recordLimit, isNext(number + 1) else { return false }
    continuation = Part(number: number, bytes: content, kind: kind)
    return true
  }

  private mutating func takeAbandonment(_ number: Int, _ content: Range<Int>) -> Bool {
    var start = content.lowerBound
    guard let count = count(at: &start, before: content.upperBound, from: number),
      start == content.upperBound, isNext(number + count)
    else { return false }
    abandoned = number..<(number + count)
    return true
  }

  private mutating func takeBeginning(_ number: Int, _ content: Range<Int>) -> Bool {
    var start = content.lowerBound
    guard let count = count(at: &start, before: content.upperBound, from: number),
      let size = Varint.read(from: bytes, at: &start, before: content.upperBound),
      start < content.upperBound, size > content.upperBound - start
    else { return false }
    endRun()
    beginning = Part(
      number: number + count - 1, bytes: start..<content.upperBound, kind: .first, count: count, size: size)
    return true
  }

  /// Reads a count of records from a number on, one or more. Returns nil if their numbers would exceed the limit.
  private func count(at offset: inout Int, before end: Int, from number: Int) -> Int? {
    guard let count = Varint.read(from: bytes, at: &offset, before: end), count > 0,
      count < BlockHead.recordLimit - number
    else { return nil }
    return count
  }

  // MARK: - Records

  /// Takes in all records of a frame. Returns false if its payload is something else, or relies on something
  /// that cannot be read.
  private mutating func takeRecords(
    of frame: Frame, _ number: Int, _ content: Range<Int>, _ firstChecksum: Int
  ) -> Bool {
    guard frame.kind.isFresh || isScopeWhole else {
      // They are counted, so that no other records get their numbers.
      var counted = Run(RecordNumbers(first: number))
      if takeEntries(in: content, frame.kind.isPackable, hasWindow: false, &counted),
        counted.numbers.end < BlockHead.recordLimit
      {
        next = counted.numbers.end
      }
      return false
    }
    var run = self.run.take() ?? Run(RecordNumbers(first: number))
    let (first, before) = (run.records.count, run.numbers)
    // Enough for a full block; with many small frames the array grows as they come.
    if first == 0 { run.records.reserveCapacity(content.count / 16) }
    if frame.kind.isFresh, first > 0 {
      run.scopes.append(first)
      run.windows.append(PackingWindow())
    }
    let isWhole =
      takeEntries(in: content, frame.kind.isPackable, hasWindow: frame.kind.isPackable, &run)
      && run.numbers.end < BlockHead.recordLimit
    if isWhole {
      next = run.numbers.end
      run.frames.append(
        RunFrame(
          start: UInt32(frame.payload.lowerBound), end: UInt32(frame.payload.upperBound),
          firstChecksum: UInt32(firstChecksum)))
      isScopeWhole = true
    } else {
      // Nothing more of the scope is read, so what it left in the window is never used.
      run.records.removeSubrange(first...)
      run.numbers = before
    }
    self.run = run.numbers.end == run.numbers.first ? nil : run
    return isWhole
  }

  /// An entry in a frame: a record, or a number of records that are left out.
  private enum Entry {
    case record(Range<Int>, isPacked: Bool)
    case leftOut(Int)
  }

  /// Calls `body` with each entry of a frame. Returns false if `body` does, or if the entries do not fill the payload.
  @inline(__always)
  private static func forEachEntry(
    of bytes: [UInt8], in content: Range<Int>, _ arePackable: Bool, _ body: (Entry) -> Bool
  ) -> Bool {
    var offset = content.lowerBound
    while offset < content.upperBound {
      guard let head = Varint.read(from: bytes, at: &offset, before: content.upperBound) else { return false }
      if head == 0 {
        guard let count = Varint.read(from: bytes, at: &offset, before: content.upperBound),
          body(.leftOut(count))
        else { return false }
        continue
      }
      let length = arePackable ? head >> 1 : head
      guard length <= content.upperBound - offset,
        body(.record(offset..<(offset + length), isPacked: arePackable && head & 1 == 1))
      else { return false }
      offset += length
    }
    return true
  }

  /// Returns the places of the records in an assembled group, or nil if it does not have `count` records.
  static func places(ofGroup bytes: [UInt8], count: Int) -> [Place]? {
    var places: [Place] = []
    let isWhole = forEachEntry(of: bytes, in: 0..<bytes.count, false) { entry in
      guard case .record(let range, _) = entry else { return false }
      places.append(Place(range))
      return places.count <= count
    }
    return isWhole && places.count == count ? places : nil
  }

  /// Takes in all entries of a frame. Without a window for them, packed records are only counted.
  private func takeEntries(in content: Range<Int>, _ arePackable: Bool, hasWindow: Bool, _ run: inout Run) -> Bool {
    // Taken out of the array, so that adding a record does not copy it.
    var window = run.windows.removeLast()
    defer { run.windows.append(window) }
    return bytes.withUnsafeBytes { raw in
      Self.forEachEntry(of: self.bytes, in: content, arePackable) { entry in
        switch entry {
        case .leftOut(let count): return run.numbers.leaveOut(count)
        case .record(let range, true) where hasWindow:
          let record = UnsafeRawBufferPointer(rebasing: raw[range])
          guard let unpackedSize = window.unpackedSize(of: record) else { return false }
          run.add(Place(range, unpackedSize: unpackedSize))
        case .record(let range, _):
          if hasWindow { _ = window.add(UnsafeRawBufferPointer(rebasing: raw[range])) }
          run.add(Place(range))
        }
        return true
      }
    }
  }
}

/// Finds the next whole frame after damage, at any offset of a block.
///
/// Any offset may look like a frame that claims to reach the end of the block, so checking each claim by
/// itself would take quadratic time. The checksum of a range follows from those of the two prefixes of the
/// block that end at its bounds, which are computed once:
///
/// ```
///  CRC(head ‖ payload) = shift(CRC(head) ^ CRC(block[..<start]), payload.count) ^ CRC(block[..<end])
/// ```
///
/// Shifting by a number of bytes is multiplying by a power of x, modulo the polynomial.
struct FrameSearch {
  private let block: [UInt8]
  private let blockStart: Int
  private let identity: UInt64
  /// For each offset in the block, the checksum of the bytes before it.
  private let checksums: [UInt32]

  init(_ block: [UInt8], blockStart: Int, identity: UInt64) {
    self.block = block
    self.blockStart = blockStart
    self.identity = identity
    checksums = Checksum.ofBeginnings(of: block)
  }

  /// Returns the first offset from `start` on at which a whole frame begins, or nil. Takes time in proportion
  /// to the bytes that are skipped.
  func firstFrame(from start: Int) -> Int? {
    var offset = start
    // A closure for each byte would take many times as long without optimization.
    while offset < block.count, !isFrame(at: offset) { offset += 1 }
    return offset < block.count ? offset : nil
  }

  private func isFrame(at offset: Int) -> Bool {
    guard let frame = Frame(describedIn: block, at: offset) else { return false }
    let (start, end) = (frame.payload.lowerBound, frame.payload.upperBound)
    let head = Frame.checksumOfHead(frame.kind, end - start, at: blockStart + offset, identity).value
    let checksum = Self.shift(head ^ checksums[start], by: end - start) ^ checksums[end]
    return block.littleEndian(at: offset, size: 4) == UInt64(checksum)
  }

  // MARK: - Arithmetic of polynomials over two elements, the highest power in the lowest bit

  private static let one: UInt32 = 1 << 31

  /// The powers of x to 8, 16, 24 and so on, for every number of bytes that a block may have.
  private static let powers: [UInt32] = {
    var power = one
    return (0...BlockHead.blockSize).map { _ in
      defer { for _ in 0..<8 { power = timesX(power) } }
      return power
    }
  }()

  private static func timesX(_ factor: UInt32) -> UInt32 { factor & 1 == 0 ? factor >> 1 : factor >> 1 ^ 0x82F6_3B78 }

  /// Returns the checksum of the same bytes with `count` zeros after them, as checksums are combined.
  private static func shift(_ checksum: UInt32, by count: Int) -> UInt32 {
    var (factor, product) = (checksum, UInt32(0))
    var bit = one
    while bit != 0 {
      if powers[count] & bit != 0 { product ^= factor }
      factor = timesX(factor)
      bit >>= 1
    }
    return product
  }
}

/// The numbers of consecutive records, some of which may be left out.
///
/// ```
///  numbers   10  11  (3 left out)  15  16        places   0  1  2  3        gap: from place 2 on, 3 more
/// ```
struct RecordNumbers: Sendable {
  /// A jump in the numbers: from `place` on, they are higher by `skipped`.
  struct Gap: Sendable {
    let place: Int
    let skipped: Int
  }

  let first: Int
  /// The number after the last record, present or left out.
  private(set) var end: Int
  /// How many records are present.
  private(set) var count = 0
  private(set) var gaps: [Gap] = []

  init(first: Int, count: Int = 0) {
    self.first = first
    self.count = count
    end = first + count
  }

  private var skipped: Int { gaps.last?.skipped ?? 0 }

  /// Adds a record that is present.
  mutating func add() { (count, end) = (count + 1, end + 1) }

  /// Adds `more` records that are left out. Returns false if `more` is 0, or if their numbers would exceed the limit.
  mutating func leaveOut(_ more: Int) -> Bool {
    guard more > 0, more < BlockHead.recordLimit - end else { return false }
    gaps.append(Gap(place: count, skipped: skipped + more))
    end += more
    return true
  }

  /// Returns the number of the record at a place.
  func number(at place: Int) -> Int {
    if gaps.isEmpty { return first + place }
    let gap = gaps.partitionPoint { $0.place <= place }
    return first + place + (gap == 0 ? 0 : gaps[gap - 1].skipped)
  }

  /// Returns the place of the first record with this number or a higher one; ``count`` if no record has one.
  func place(from number: Int) -> Int {
    let offset = max(0, number - first)
    if gaps.isEmpty { return min(offset, count) }
    // Finds the gaps that end before the number, and after them the records up to the next gap.
    let gap = gaps.partitionPoint { $0.place + $0.skipped <= offset }
    let next = gap < gaps.count ? gaps[gap].place : count
    return min(offset - (gap == 0 ? 0 : gaps[gap - 1].skipped), next)
  }

  /// Returns the place of a record, or nil if it is left out, or not one of these.
  func place(of number: Int) -> Int? {
    guard first <= number, number < end else { return nil }
    let place = place(from: number)
    return self.number(at: place) == number ? place : nil
  }

  /// Returns the numbers of the records at some places, at least one.
  func part(_ places: Range<Int>) -> RecordNumbers {
    var part = RecordNumbers(first: number(at: places.lowerBound), count: places.count)
    let before = part.first - first - places.lowerBound
    part.gaps = gaps.filter { places.lowerBound < $0.place && $0.place < places.upperBound }
      .map { Gap(place: $0.place - places.lowerBound, skipped: $0.skipped - before) }
    part.end += part.skipped
    return part
  }
}
