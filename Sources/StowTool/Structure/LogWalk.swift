import Stow
import StowRecords

/// Walks over the blocks, frames and records of a log (Format/Logs.md).
struct LogWalk<Visitor: StructureVisitor> {
  private(set) var records: MessageWalk<Visitor>
  private let reader: ByteReader
  private var identity: UInt64?
  /// The first fault; what follows it may be whole.
  private var first: Broken?
  /// The number of the next record.
  private var number: Int
  /// The record that must continue in the next block.
  private var unfinished: Int?

  /// - Parameters:
  ///   - first: The number of the first record that the file may have.
  ///   - walk: What walks over the records.
  init(_ reader: ByteReader, from first: Int, _ walk: MessageWalk<Visitor>) {
    self.reader = reader
    number = first
    records = walk
  }

  /// Walks over all of the file.
  ///
  /// - Returns: The first fault; nil if the file is whole.
  mutating func file() -> Broken? {
    if reader.count == 0 { note(Broken("no bytes, so not a log", at: 0)) }
    identity = firstIdentity()
    if let wanted = records.visitor.wanted { return only(wanted) }
    for start in stride(from: 0, to: reader.count, by: BlockHead.blockSize) {
      block(at: start, bytes(start..<min(start + BlockHead.blockSize, reader.count)))
    }
    if let unfinished { noteMissingPart(of: unfinished, at: reader.count) }
    return first
  }

  /// Walks over the block of the only offset that is wanted.
  private mutating func only(_ wanted: Int) -> Broken? {
    let start = wanted / BlockHead.blockSize * BlockHead.blockSize
    block(at: start, bytes(start..<min(start + BlockHead.blockSize, reader.count)))
    return first
  }

  private func bytes(_ range: Range<Int>) -> [UInt8] { (try? reader.bytes(range)).map { [UInt8]($0) } ?? [] }

  /// Returns the identity of the first whole head.
  private func firstIdentity() -> UInt64? {
    for start in stride(from: 0, to: reader.count, by: BlockHead.blockSize) {
      let head = BlockHead(bytes(start..<min(start + BlockHead.size, reader.count)))
      if let head, head.index == start / BlockHead.blockSize { return head.identity }
    }
    return nil
  }

  private mutating func note(_ broken: Broken) { if first == nil { first = broken } }

  private mutating func noteMissingPart(of number: Int, at offset: Int) {
    note(Broken("the next part of record \(number) is missing", at: offset))
    unfinished = nil
  }

  // MARK: blocks

  private mutating func block(at start: Int, _ bytes: [UInt8]) {
    let index = start / BlockHead.blockSize
    guard let identity, let block = Block(index, bytes, identity: identity) else {
      records.visitor.piece(start..<(start + bytes.count), .framing, "a block with nothing whole")
      let version = BlockHead.unsupportedVersion(bytes).map { "a block of version \($0)" }
      return note(Broken(version ?? "a block without a whole head", at: start))
    }
    let expected = number
    if let head = block.head {
      show(head, at: start)
    } else {
      records.visitor.piece(start..<(start + BlockHead.size), .framing, "a head that is not whole")
      note(Broken("a block without a whole head", at: start))
    }
    records.definitions = Definitions()
    showFrames(of: block, bytes, at: start, identity)
    if records.visitor.wanted == nil { checkStart(of: block, expected, at: start) }
    number = block.nextRecord
    unfinished = block.isOpen ? block.nextRecord - 1 : nil
  }

  private mutating func show(_ head: BlockHead, at start: Int) {
    records.visitor.piece(start..<(start + 4), .framing, "head of a block, version \(BlockHead.version)")
    records.visitor.enter(.part)
    records.visitor.piece((start + 4)..<(start + 8), .framing, "checksum")
    records.visitor.piece((start + 8)..<(start + 16), .framing, "identity")
    records.visitor.piece((start + 16)..<(start + 24), .framing, "first record: \(head.firstRecord)")
    records.visitor.piece((start + 24)..<(start + 28), .framing, "block \(head.index)")
    let blocks = Words.count(head.synchronizedBlocks, "block")
    records.visitor.piece((start + 28)..<(start + 32), .framing, "\(blocks) on the disk for good")
    records.visitor.leave()
  }

  /// Checks that the block continues where those before it ended.
  private mutating func checkStart(of block: Block, _ expected: Int, at start: Int) {
    if let unfinished, block.continuation?.number != unfinished, block.abandoned?.last != unfinished {
      noteMissingPart(of: unfinished, at: start + BlockHead.size)
    } else if unfinished == nil, block.continuation != nil {
      note(Broken("a part of a record whose part before it is missing", at: start + BlockHead.size))
    }
    if let first = block.head?.firstRecord, first != expected, block.abandoned?.lowerBound != expected {
      note(Broken("the first record of a block is \(first), and should be \(expected)", at: start + 16))
    }
  }

  // MARK: frames

  private mutating func showFrames(of block: Block, _ bytes: [UInt8], at start: Int, _ identity: UInt64) {
    var damage = block.damage[...]
    var offset = BlockHead.size
    while offset < bytes.count {
      while let range = damage.first, range.upperBound <= offset { damage.removeFirst() }
      if let range = damage.first, range.contains(offset) {
        records.visitor.piece((start + offset)..<(start + range.upperBound), .framing, "damaged")
        note(Broken("a frame that is not whole, or not where it may stand", at: start + offset))
        records.definitions = Definitions()
        offset = range.upperBound
      } else if let frame = Frame(in: bytes, at: offset, blockStart: start, identity: identity) {
        show(frame, at: start + offset, blockStart: start)
        offset = frame.payload.upperBound
      } else {
        records.visitor.piece((start + offset)..<(start + bytes.count), .framing, "rest of the block")
        return
      }
    }
  }

  private static func name(of kind: Frame.Kind) -> String {
    switch kind {
    case .records: "records"
    case .first: "first part of a group"
    case .middle: "part from the middle of a group"
    case .last: "last part"
    case .freshRecords: "records of a new scope"
    case .packableRecords: "records, some packed"
    case .freshPackableRecords: "records of a new scope, some packed"
    case .origin: "log of the file"
    case .checkpoint: "checkpoint"
    case .abandonment: "group that was given up"
    case .note: "note"
    }
  }

  private mutating func show(_ frame: Frame, at offset: Int, blockStart: Int) {
    let length = Words.count(frame.payload.count, "byte")
    let payload = (blockStart + frame.payload.lowerBound)..<(blockStart + frame.payload.upperBound)
    records.visitor.piece(offset..<payload.lowerBound, .framing, "frame of \(length): \(Self.name(of: frame.kind))")
    records.visitor.enter(.part)
    if frame.kind.isFresh { records.definitions = Definitions() }
    if frame.kind == .origin { showOrigin(payload.lowerBound) } else { showContent(of: frame.kind, payload) }
    records.visitor.leave()
  }

  private mutating func showContent(of kind: Frame.Kind, _ payload: Range<Int>) {
    var start = payload.lowerBound
    guard let number = try? reader.varint(at: &start) else { return }
    let subject =
      switch kind {
      case .checkpoint, .note: "the next record"
      case .middle, .last: "the last record"
      default: "the first record"
      }
    records.visitor.piece(payload.lowerBound..<start, .framing, "number of \(subject): \(number)")
    switch kind {
    case .records, .freshRecords, .packableRecords, .freshPackableRecords:
      self.number = number
      showRecords(start..<payload.upperBound, arePackable: kind.isPackable)
    default:
      if kind == .first || kind == .abandonment { showCount(at: &start, "record") }
      if kind == .first { showCount(at: &start, "byte") }
      if start < payload.upperBound { records.visitor.piece(start..<payload.upperBound, .framing, Self.name(of: kind)) }
    }
  }

  private mutating func showCount(at offset: inout Int, _ unit: String) {
    let start = offset
    let count = (try? reader.varint(at: &offset)) ?? 0
    records.visitor.piece(start..<offset, .framing, Words.count(count, unit))
  }

  private mutating func showOrigin(_ start: Int) {
    records.visitor.piece(start..<(start + 8), .framing, "identity of the log")
    let begun = (try? reader.word(at: start + 8)) ?? 0
    records.visitor.piece(
      (start + 8)..<(start + 16), .framing,
      begun == 0 ? "begun at a time that is not known" : "begun \(begun) ms after 1970")
  }

  private mutating func showRecords(_ payload: Range<Int>, arePackable: Bool) {
    var offset = payload.lowerBound
    while offset < payload.upperBound {
      let start = offset
      // The block has checked that records fill the frame.
      guard let head = try? reader.varint(at: &offset) else { return }
      if head == 0 {
        let count = (try? reader.varint(at: &offset)) ?? 0
        records.visitor.piece(start..<offset, .framing, "\(Words.count(count, "record")) left out")
        number += count
        continue
      }
      let length = arePackable ? head >> 1 : head
      let isPacked = arePackable && head & 1 == 1
      let how = isPacked ? "packed, " : ""
      records.visitor.piece(start..<offset, .framing, "record \(number), \(how)\(Words.count(length, "byte"))")
      if isPacked {
        showPacked(offset..<(offset + length))
      } else if let broken = records.record(number, offset..<(offset + length)) {
        note(Broken("in record \(number): \(broken.reason)", at: broken.offset))
      }
      offset += length
      number += 1
    }
  }

  /// Shows the parts of a packed record: bytes, and what it copies from the records before it.
  private mutating func showPacked(_ bytes: Range<Int>) {
    records.visitor.enter(.part)
    var offset = bytes.lowerBound
    while offset < bytes.upperBound, let first = try? reader.byte(at: offset) {
      let start = offset
      if first < 0x80 {
        offset = min(start + 2 + Int(first), bytes.upperBound)
        let count = Words.count(offset - start - 1, "byte")
        records.visitor.piece(start..<offset, .framing, count)
      } else {
        let isLong = first >> 4 == 0xF
        offset = min(start + (isLong ? 3 : 2), bytes.upperBound)
        let place = Int(first & 0xF) << 8 | Int((try? reader.byte(at: start + 1)) ?? 0)
        let length = isLong ? 11 + Int((try? reader.byte(at: start + 2)) ?? 0) : 4 + Int(first >> 4 & 7)
        let count = Words.count(length, "byte")
        records.visitor.piece(start..<offset, .framing, "\(count) of the window, from \(place) on")
      }
    }
    records.visitor.leave()
  }
}

// Streams (Format/Logs.md, "Streams").

extension MessageWalk {
  /// Walks over a stream and all of its records.
  mutating func stream() throws {
    guard try reader.byte(at: 2) == 1 else { throw Broken("a stream of another version", at: 0) }
    visitor.piece(0..<3, .framing, "stream, version 1")
    var offset = 3
    var number = 0
    while offset < reader.count {
      let start = offset
      try stop(at: start)
      let isForgetting = try reader.byte(at: offset) == 0
      let length = try reader.varint(at: &offset)
      if isForgetting {
        visitor.piece(start..<offset, .framing, "all definitions are forgotten")
        definitions = Definitions()
        continue
      }
      visitor.piece(start..<offset, .framing, "record of \(Words.count(length, "byte"))")
      guard length > 0 else { throw Broken("a record without bytes", at: start) }
      guard length <= reader.count - offset else { throw Broken("the bytes end within a record", at: start) }
      if let broken = record(number, offset..<(offset + length)) { throw broken }
      offset += length
      try checkSum(of: number, (offset - length)..<offset)
      offset += 4
      number += 1
    }
  }

  private mutating func checkSum(of number: Int, _ bytes: Range<Int>) throws {
    if let wanted = visitor.wanted, bytes.upperBound + 4 <= wanted { return }
    var checksum = Checksum()
    checksum.update(UInt64(number))
    checksum.update(try reader.bytes(bytes))
    let found = try reader.halfWord(at: bytes.upperBound)
    detail(bytes.upperBound..<(bytes.upperBound + 4), "checksum of record \(number)", .framing)
    guard found == checksum.value else { throw Broken("a wrong checksum", at: bytes.upperBound) }
  }
}
