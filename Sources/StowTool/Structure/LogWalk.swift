import Stow

/// Walks over the blocks, frames and records of a log (FORMAT.md, part 7).
struct LogWalk<Visitor: StructureVisitor> {
  private(set) var records: MessageWalk<Visitor>
  private let reader: ByteReader
  private var identity: UInt64?
  /// The first fault; what is behind it may be whole.
  private var first: Broken?
  /// The number of the next record.
  private var number = 0

  private static var blockSize: Int { 65_536 }
  private static var headSize: Int { 32 }
  private static var frameHeadSize: Int { 7 }

  /// - Parameter walk: What walks over the records.
  init(_ reader: ByteReader, _ walk: MessageWalk<Visitor>) {
    self.reader = reader
    records = walk
  }

  /// Walks over all of the file.
  ///
  /// - Returns: The first thing that is wrong with it; nil if it is whole.
  mutating func file() -> Broken? {
    var start = 0
    while start < reader.count {
      let end = min(start + Self.blockSize, reader.count)
      do {
        try block(start..<end)
      } catch let broken as Broken {
        note(broken)
      } catch {
        note(Broken("the bytes end before this does", at: start))
      }
      start = end
    }
    return first
  }

  private mutating func note(_ broken: Broken) { if first == nil { first = broken } }

  // MARK: blocks

  private mutating func block(_ bytes: Range<Int>) throws {
    let start = bytes.lowerBound
    guard bytes.count >= Self.headSize, try hasHead(start) else {
      records.visitor.piece(bytes, .framing, "no whole head of a block")
      throw Broken("a block without a whole head", at: start)
    }
    number = Int(truncatingIfNeeded: try reader.word(at: start + 16))
    records.visitor.piece(start..<(start + 4), .framing, "head of a block, version 1")
    records.visitor.enter(.part)
    records.visitor.piece((start + 4)..<(start + 8), .framing, "checksum")
    records.visitor.piece((start + 8)..<(start + 16), .framing, "identity")
    records.visitor.piece((start + 16)..<(start + 24), .framing, "first record: \(number)")
    let index = try reader.halfWord(at: start + 24)
    records.visitor.piece((start + 24)..<(start + 28), .framing, "block \(index)")
    let context = try reader.halfWord(at: start + 28)
    records.visitor.piece(
      (start + 28)..<(start + 32), .framing, context == 0 ? "no context" : "context \(Words.hex(context))")
    records.visitor.leave()
    records.definitions = Definitions()
    var offset = start + Self.headSize
    while offset < bytes.upperBound {
      if try isRest(offset..<bytes.upperBound) {
        records.visitor.piece(offset..<bytes.upperBound, .framing, "rest of the block")
        return
      }
      guard let frame = try frame(at: offset, before: bytes.upperBound) else {
        records.visitor.piece(offset..<bytes.upperBound, .framing, "damaged")
        throw Broken("a frame that is not whole", at: offset)
      }
      show(frame, at: offset)
      offset = frame.payload.upperBound
    }
  }

  private mutating func hasHead(_ start: Int) throws -> Bool {
    guard try reader.halfWord(at: start) == 0x0001_027F else { return false }
    var checksum = Checksum()
    update(&checksum, start..<(start + 4))
    update(&checksum, (start + 8)..<(start + Self.headSize))
    guard try reader.halfWord(at: start + 4) == checksum.value else { return false }
    let identity = try reader.word(at: start + 8)
    if self.identity == nil { self.identity = identity }
    let index = Int(try reader.halfWord(at: start + 24))
    return self.identity == identity && index == start / Self.blockSize
  }

  private func update(_ checksum: inout Checksum, _ bytes: Range<Int>) {
    var offset = bytes.lowerBound
    while bytes.upperBound - offset >= 8, let word = try? reader.word(at: offset) {
      checksum.update(word)
      offset += 8
    }
    for offset in offset..<bytes.upperBound {
      if let byte = try? reader.byte(at: offset) { checksum.update(byte) }
    }
  }

  /// Whether there is nothing but zeros.
  private func isRest(_ bytes: Range<Int>) throws -> Bool {
    try bytes.allSatisfy { try reader.byte(at: $0) == 0 }
  }

  // MARK: frames

  private struct Frame {
    let kind: UInt8
    let payload: Range<Int>
  }

  private func frame(at offset: Int, before end: Int) throws -> Frame? {
    guard end - offset > Self.frameHeadSize, let identity else { return nil }
    let length = Int(try reader.byte(at: offset + 4)) | Int(try reader.byte(at: offset + 5)) << 8
    let kind = try reader.byte(at: offset + 6)
    let payload = (offset + Self.frameHeadSize)..<(offset + Self.frameHeadSize + length)
    guard length > 0, payload.upperBound <= end, (1...8).contains(kind) else { return nil }
    var checksum = Checksum()
    checksum.update(identity)
    checksum.update(UInt64(offset))
    update(&checksum, (offset + 4)..<payload.upperBound)
    return try reader.halfWord(at: offset) == checksum.value ? Frame(kind: kind, payload: payload) : nil
  }

  private static func name(of kind: UInt8) -> String {
    switch kind {
    case 1: "records"
    case 2: "first part of a record"
    case 3: "part from the middle of a record"
    case 4: "last part"
    case 5: "records of a new scope"
    case 7: "records, some packed"
    case 8: "records of a new scope, some packed"
    default: "origin"
    }
  }

  private mutating func show(_ frame: Frame, at offset: Int) {
    let length = Words.count(frame.payload.count, "byte")
    records.visitor.piece(
      offset..<frame.payload.lowerBound, .framing, "frame of \(length): \(Self.name(of: frame.kind))")
    records.visitor.enter(.part)
    if frame.kind == 5 || frame.kind == 8 { records.definitions = Definitions() }
    switch frame.kind {
    case 1, 5: showRecords(frame.payload, arePackable: false)
    case 7, 8: showRecords(frame.payload, arePackable: true)
    case 6 where frame.payload.count == 16: showOrigin(frame.payload.lowerBound)
    default: records.visitor.piece(frame.payload, .framing, Self.name(of: frame.kind))
    }
    if frame.kind == 2 { number += 1 }
    records.visitor.leave()
  }

  private mutating func showOrigin(_ start: Int) {
    records.visitor.piece(start..<(start + 8), .framing, "identity of the log that it was made of")
    let count = (try? reader.word(at: start + 8)) ?? 0
    records.visitor.piece((start + 8)..<(start + 16), .framing, "\(count) records from there")
  }

  private mutating func showRecords(_ payload: Range<Int>, arePackable: Bool) {
    var offset = payload.lowerBound
    while offset < payload.upperBound {
      let start = offset
      guard let head = try? reader.varint(at: &offset), offset <= payload.upperBound,
        (arePackable ? head >> 1 : head) <= payload.upperBound - offset
      else {
        records.visitor.piece(start..<payload.upperBound, .framing, "damaged")
        return note(Broken("the records of a frame do not fill it", at: start))
      }
      let length = arePackable ? head >> 1 : head
      let isPacked = arePackable && head & 1 == 1
      let how = isPacked ? "packed, " : ""
      records.visitor.piece(
        start..<offset, .framing, "record \(number), \(how)\(Words.count(length, "byte"))")
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
