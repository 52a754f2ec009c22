import Testing

@testable import StowRecords

/// Files that somebody made up, with checksums that are right: neither a trap nor a record that is none, and no more
/// memory or time than the bytes are worth.
struct MadeUpLogTests {
  private let identity: UInt64 = 7

  private func head(_ index: Int, first: Int) -> [UInt8] {
    BlockHead(identity: identity, firstRecord: first, index: index).bytes
  }

  private func frame(_ kind: Frame.Kind, _ payload: [UInt8], at offset: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Frame.headSize) + payload
    Frame.seal(&bytes, from: 0, kind, at: offset, identity: identity)
    return bytes
  }

  /// Blocks of a head and frames, each filled up with zeros but the last.
  private func file(_ blocks: [(first: Int, frames: [(Frame.Kind, [UInt8])])]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, block) in blocks.enumerated() {
      bytes += [UInt8](repeating: 0, count: index * BlockHead.blockSize - bytes.count)
      bytes += head(index, first: block.first)
      for (kind, payload) in block.frames { bytes += frame(kind, payload, at: bytes.count) }
    }
    return bytes
  }

  /// The numbers of the records that a file has, read in every way.
  private func numbers(_ bytes: [UInt8]) throws -> [Int] {
    let log = try KnownLogs.reader(of: bytes)
    let numbers = log.records.map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.allSatisfy { $0 < log.count })
    for number in numbers.prefix(20) { #expect(try log.record(at: number).number == number) }
    for record in log.records { _ = try? record.decode([Int].self) }
    return numbers
  }

  @Test func lengthsBeyondTheirFrameAreDamage() throws {
    for payload in [
      [5, 0x91], [0xFF], [0xFE, 1], [0xE0], [0xFC, 255, 255, 255, 255],
      [0xFD] + Array(repeating: 255, count: 8),
    ] as [[UInt8]] {
      let log = try KnownLogs.reader(of: file([(0, [(.records, [1, 0x91]), (.records, payload)])]))
      #expect(log.count == 1)
      #expect(log.recovery.bytes.count == payload.count + Frame.headSize)
    }
  }

  @Test func recordsWithoutBytesAreNoValues() throws {
    let bytes = file([(0, [(.records, [UInt8](repeating: 0, count: 20_000))])])
    #expect(try numbers(bytes).count == 20_000)
    let log = try KnownLogs.reader(of: bytes)
    #expect(throws: DecodingError.self) { try log.decode(Int.self, at: 19_999) }
  }

  @Test func packedRecordsThatAreNoneAreDamage() throws {
    let plain: [UInt8] = [14, 0x36, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66]
    for packed in [[5, 0x80, 0], [3, 0x00]] as [[UInt8]] {
      let log = try KnownLogs.reader(of: file([(0, [(.packableRecords, plain + packed)])]))
      #expect(log.count == (packed.count == 3 ? 2 : 0))
    }
    for packed in [
      [1], [3, 0], [3, 0x80], [5, 0x80, 18], [7, 0xF0, 0, 255], [5, 0, 0x1F], [9, 0x80],
      [0xFD] + Array(repeating: 255, count: 8),
    ] as [[UInt8]] {
      for kind in [Frame.Kind.packableRecords, .freshPackableRecords] {
        let log = try KnownLogs.reader(
          of: file([(0, [(.packableRecords, plain), (.packableRecords, plain), (kind, plain + packed)])]))
        #expect(log.count == 2 && !log.recovery.bytes.isEmpty, "\(packed)")
        #expect(try log.records.map { try $0.decode(String.self) } == ["abcdef", "abcdef"])
      }
    }
  }

  /// A scope has a window of its own, and so has a block.
  @Test func nothingIsCopiedFromAnotherScope() throws {
    let plain: [UInt8] = [14, 0x36, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66]
    let copy: [UInt8] = [5, 0xB0, 0]
    let both = file([(0, [(.packableRecords, plain), (.packableRecords, copy)])])
    #expect(
      try KnownLogs.reader(of: both).records.map { try $0.decode(String.self) } == ["abcdef", "abcdef"])
    for first in [Frame.Kind.records, .freshRecords, .packableRecords] {
      let start: [UInt8] = first == .packableRecords ? plain : [7] + plain.dropFirst()
      let fresh = file([(0, [(first, start), (.freshPackableRecords, copy)])])
      #expect(try KnownLogs.reader(of: fresh).count == 1)
    }
    let next = file([(0, [(.packableRecords, plain)]), (1, [(.packableRecords, copy)])])
    #expect(try numbers(next) == [0])
  }

  /// Each record takes three bytes here and 266 in memory, one after the other.
  @Test func packedRecordsAreUnpackedOneByOne() throws {
    let record = [0x19] + [UInt8](repeating: 97, count: 299)
    let plain = [0xE1, 0x78] + record
    let packed = Array(repeating: [7, 0xF0, 1, 255] as [UInt8], count: 15_000).flatMap { $0 }
    let log = try KnownLogs.reader(of: file([(0, [(.packableRecords, plain + packed)])]))
    #expect(log.count == 15_001)
    #expect(log.records.reduce(0) { $0 + $1.size } == 300 + 15_000 * 266)
  }

  @Test func framesWhereTheyMayNotStandAreDamage() throws {
    let record: [UInt8] = [1, 0x91]
    for frames in [
      [(.records, record), (.last, record)], [(.records, record), (.middle, record)],
      [(.records, record), (.origin, [UInt8](repeating: 0, count: 16))],
      [(.records, record), (.first, record), (.records, record)],
    ] as [[(Frame.Kind, [UInt8])]] {
      #expect(try numbers(file([(0, frames)])) == [0])
    }
    #expect(try numbers(file([(0, [(.origin, record), (.records, record)])])).isEmpty)
    #expect(try numbers(file([(0, [(.middle, record)]), (5, [(.records, record)])])) == [5])
  }

  @Test func numbersThatMakeNoSenseAreSurvived() throws {
    let record: [UInt8] = [1, 0x91]
    let most = BlockHead.recordLimit - 1
    #expect(try numbers(file([(most, [(.records, record)])])) == [most])
    #expect(
      try numbers(file([(9, [(.records, record)]), (3, [(.records, record)]), (9, [(.records, record)])]))
        .count <= 2)
    #expect(try numbers(file([(0, [(.records, record)]), (most, [])])) == [0])
    #expect(try numbers(file([(most, [(.records, record)]), (0, [(.records, record)])])).count <= 1)
  }

  @Test func partsThatDoNotBelongTogetherAreNoRecord() throws {
    let part = [UInt8](repeating: 0x91, count: 60_000)
    let record: [UInt8] = [1, 0x91]
    // The number of the record that goes on differs.
    #expect(try numbers(file([(0, [(.first, part)]), (2, [(.last, part), (.records, record)])])) == [2])
    // The next block begins with something else.
    #expect(try numbers(file([(0, [(.first, part)]), (1, [(.records, record)])])) == [1])
    // A part is missing from the middle, and its block is there.
    #expect(
      try numbers(file([(0, [(.first, part)]), (1, []), (1, [(.last, part), (.records, record)])])) == [1])
  }

  @Test func aRecordOfVeryManyPartsIsLimited() throws {
    let part = [UInt8](repeating: 0x91, count: Frame.payloadLimit)
    var blocks: [(first: Int, frames: [(Frame.Kind, [UInt8])])] = [(0, [(.first, part)])]
    blocks += Array(repeating: (1, [(.middle, part)]), count: 30)
    blocks.append((1, [(.last, [0x91]), (.records, [1, 0x91])]))
    let disk = SimulatedDisk()
    _ = try disk.open("/log", .appending)
    disk.setBytes(file(blocks), of: "/log")
    let log = try RecordLog(readingFrom: "/log", on: disk, maximumRecordSize: 1_000_000)
    #expect(log.records.map(\.number) == [1])
    #expect(log.damage.map(\.records) == [0..<1])
    #expect(try RecordLog(readingFrom: "/log", on: disk).record(at: 0).size == 31 * part.count + 1)
  }

  @Test func laterVersionsAreRefusedAndLeftAsTheyAre() throws {
    var head = BlockHead(identity: identity, firstRecord: 0, index: 0)
    head.context = 1
    for first in [head.bytes, laterHead()] {
      let disk = SimulatedDisk()
      _ = try disk.open("/log", .appending)
      disk.setBytes(first + [1, 2, 3], of: "/log")
      for open in [
        { _ = try RecordLog(at: "/log", on: disk) }, { _ = try RecordLog(readingFrom: "/log", on: disk) },
      ] {
        #expect { try open() } throws: {
          if case .laterVersion = ($0 as? RecordLogError)?.reason { true } else { false }
        }
      }
      #expect(disk.bytes(of: "/log")?.count == first.count + 3)
    }
  }

  private func laterHead() -> [UInt8] {
    var bytes = BlockHead(identity: identity, firstRecord: 0, index: 0).bytes
    bytes[2] = 2
    bytes.replaceLittleEndian(at: 4, with: BlockHead.checksum(of: bytes))
    return bytes
  }

  @Test func randomBytesAreSurvived() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      var bytes = file([(0, [(.records, [1, 0x91])])])
      for _ in 0..<random.below(200) {
        bytes.append(UInt8(truncatingIfNeeded: random.next() >> UInt64(random.below(8))))
      }
      #expect(try numbers(bytes).first == 0)
    }
  }
}
