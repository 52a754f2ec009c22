import Stow

/// Walks over the records of a stream (Format/Logs.md, "Streams").
struct StreamWalk<Visitor: StructureVisitor> {
  private(set) var records: MessageWalk<Visitor>
  private let reader: ByteReader

  /// - Parameter walk: The walk over the records.
  init(_ reader: ByteReader, _ walk: MessageWalk<Visitor>) {
    self.reader = reader
    records = walk
  }

  /// Walks over all of the file.
  ///
  /// - Returns: What is wrong with it; nil if it is whole.
  mutating func file() -> Broken? {
    do {
      try walk()
      return nil
    } catch let error as FormatError {
      return Broken(error)
    } catch {
      return error as? Broken
    }
  }

  private mutating func walk() throws {
    guard try reader.byte(at: 2) == 1 else {
      throw Broken("a stream of another version", at: 0)
    }
    records.visitor.piece(0..<3, .framing, "stream, version 1")
    var offset = 3
    var number = 0
    while offset < reader.count {
      let start = offset
      let isForgetting = try reader.byte(at: offset) == 0
      let length = try reader.varint(at: &offset)
      if isForgetting {
        records.visitor.piece(start..<offset, .framing, "all definitions are forgotten")
        records.definitions = Definitions()
        continue
      }
      records.visitor.piece(start..<offset, .framing, "record of \(Words.count(length, "byte"))")
      guard length > 0 else { throw Broken("a record without bytes", at: start) }
      guard length <= reader.count - offset else { throw Broken("the bytes end within a record", at: start) }
      if let broken = records.record(number, offset..<(offset + length)) { throw broken }
      offset += length
      try checkSum(of: number, (offset - length)..<offset)
      offset += 4
      number += 1
    }
  }

  private mutating func checkSum(of number: Int, _ bytes: Range<Int>) throws {
    var checksum = Checksum()
    checksum.update(UInt64(number))
    for offset in bytes { checksum.update(try reader.byte(at: offset)) }
    let found = try reader.halfWord(at: bytes.upperBound)
    records.visitor.enter(.part)
    records.visitor.piece(
      bytes.upperBound..<(bytes.upperBound + 4), .framing, "checksum of record \(number)")
    records.visitor.leave()
    guard found == checksum.value else { throw Broken("a wrong checksum", at: bytes.upperBound) }
  }
}
