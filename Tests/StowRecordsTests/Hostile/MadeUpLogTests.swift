import Stow
import Testing

@testable import StowRecords

/// Files that somebody made up, with checksums that are right: no trap, no record that was not written, and no more
/// memory or time than the bytes are worth.
struct MadeUpLogTests {
  private let record: [UInt8] = [1, 0x91]
  /// The string "abcdef", plain, as packable records have it.
  private let plain: [UInt8] = [14, 0x36, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66]

  /// The numbers of the records that a file has, read in every way.
  private func numbers(_ file: MadeUpFile) throws -> [Int] {
    let log = try KnownLogs.reader(of: file.bytes)
    let numbers = log.records.map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.allSatisfy { $0 < log.count })
    for number in 0..<min(log.count, 20) {
      #expect(((try? log.record(at: number)) != nil) == numbers.contains(number), "record \(number)")
    }
    for record in log.records { _ = try? record.decode([Int].self) }
    return numbers
  }

  @Test func lengthsBeyondTheirFrameAreDamage() throws {
    for content in [
      [5, 0x91], [0xFF], [0xFE, 1], [0xE0], [0xFC, 255, 255, 255, 255],
      [0xFD] + Array(repeating: 255, count: 8),
    ] as [[UInt8]] {
      let file = MadeUpFile((0, [(.records, 0, record), (.records, 1, content)]))
      let log = try KnownLogs.reader(of: file.bytes)
      #expect(log.count == 1 && log.recovery.bytes.isEmpty)
      let bytes = file.frameStarts[1]..<file.bytes.count
      #expect(
        try log.verify() == [RecordLog.Damage(file: KnownLogs.path, records: 1..<1, bytes: bytes, reason: .frame)])
    }
  }

  @Test func aGroupIsLimitedByTheHeadAfterItsFirstPartOnly() throws {
    let file = MadeUpFile(
      (0, [MadeUpFile.firstOfGroup(0, count: 1, size: 2, [1])]), (1, [(.last, 0, [0x91])]),
      (0, [(.records, 0, [0, 1] + record)]))
    #expect(try numbers(file) == [0, 1])
  }

  /// In the place of a length, 0 and a number say how many records were left out.
  @Test func whatWasLeftOutHasNumbersAndIsNotLost() throws {
    for kind in [Frame.Kind.records, .freshRecords, .packableRecords] {
      let record: [UInt8] = [kind == .packableRecords ? 2 : 1, 0x91]
      let file = MadeUpFile(
        (0, [(kind, 0, [0, 3] + record + [0, 1, 0, 1] + record + record + [0, 100]), (kind, 108, record)]),
        (109, [(kind, 109, [0, 5]), (kind, 114, []), (kind, 114, [0, 1] + record)]),
        (116, [(kind, 116, [0, 4])]))
      #expect(try numbers(file) == [3, 6, 7, 108, 115], "\(kind)")
      let log = try KnownLogs.reader(of: file.bytes)
      #expect(try log.verify().isEmpty && log.count == 120)
      for number in [0, 4, 50, 109, 119] {
        #expect { try log.record(at: number) } throws: {
          ($0 as? RecordLogError)?.reason == .noSuchRecord(number, count: 120)
        }
      }
      for number in [0, 3, 4, 7, 8, 60, 108, 115, 116, 120] {
        let after = log.records(from: number).map(\.number)
        #expect(after == [3, 6, 7, 108, 115].filter { $0 >= number }, "\(number)")
        var (cursor, before) = (log.cursor(from: number), [Int]())
        while let record = try cursor.previous() { before.append(record.number) }
        #expect(before == [115, 108, 7, 6, 3].filter { $0 < number }, "\(number)")
      }
      #expect(try log.last?.number == 115)
    }
    // Nothing left out, more than there are numbers, and no number at all.
    for content in [
      [0, 0], [0], [0xFC, 0, 0, 0, 0, 0], [0] + Self.uint(BlockHead.recordLimit), [0] + Self.uint(.max),
      [0] + Self.uint(BlockHead.recordLimit - 1) + [0] + Self.uint(BlockHead.recordLimit - 1),
    ] as [[UInt8]] {
      let file = MadeUpFile((0, [(.records, 0, record), (.records, 1, content)]))
      #expect(try numbers(file) == [0] && KnownLogs.reader(of: file.bytes).verify().count == 1)
    }
    let most = [0] + Self.uint(BlockHead.recordLimit - 2)
    #expect(try numbers(MadeUpFile((0, [(.records, 0, record), (.records, 1, most)]))) == [0])
  }

  @Test func aPackedRecordThatIsBrokenMakesItsFrameDamage() throws {
    for packed in [[5, 0x80, 0], [3, 0x00]] as [[UInt8]] {
      let log = try KnownLogs.reader(of: MadeUpFile((0, [(.packableRecords, 0, plain + packed)])).bytes)
      #expect(log.count == (packed.count == 3 ? 2 : 0))
    }
    for packed in [
      [1], [3, 0], [3, 0x80], [5, 0x80, 18], [7, 0xF0, 0, 255], [5, 0, 0x1F], [9, 0x80],
      [0xFD] + Array(repeating: 255, count: 8),
    ] as [[UInt8]] {
      for kind in [Frame.Kind.packableRecords, .freshPackableRecords] {
        let file = MadeUpFile(
          (0, [(.packableRecords, 0, plain), (.packableRecords, 1, plain), (kind, 2, plain + packed)]))
        let log = try KnownLogs.reader(of: file.bytes)
        #expect(log.count == 2, "\(packed)")
        #expect(try log.verify().map(\.bytes) == [file.frameStarts[2]..<file.bytes.count])
        #expect(try log.records.map { try $0.decode(String.self) } == ["abcdef", "abcdef"])
      }
    }
  }

  /// A scope has a window of its own, and so has a block.
  @Test func nothingIsCopiedFromAnotherScope() throws {
    let copy: [UInt8] = [5, 0xB0, 0]
    let both = MadeUpFile((0, [(.packableRecords, 0, plain), (.packableRecords, 1, copy)]))
    #expect(try KnownLogs.reader(of: both.bytes).records.map { try $0.decode(String.self) } == ["abcdef", "abcdef"])
    for first in [Frame.Kind.records, .freshRecords, .packableRecords] {
      let start: [UInt8] = first == .packableRecords ? plain : [7] + plain.dropFirst()
      #expect(try numbers(MadeUpFile((0, [(first, 0, start), (.freshPackableRecords, 1, copy)]))) == [0])
    }
    #expect(try numbers(MadeUpFile((0, [(.packableRecords, 0, plain)]), (1, [(.packableRecords, 1, copy)]))) == [0])
  }

  /// Each record takes three bytes here and 266 in memory, one after the other.
  @Test func packedRecordsAreUnpackedOneByOne() throws {
    let record = [0x19] + [UInt8](repeating: 97, count: 299)
    let plain = [0xE1, 0x78] + record
    let packed = Array(repeating: [7, 0xF0, 1, 255] as [UInt8], count: 15_000).flatMap { $0 }
    let log = try KnownLogs.reader(of: MadeUpFile((0, [(.packableRecords, 0, plain + packed)])).bytes)
    #expect(log.count == 15_001)
    #expect(log.records.reduce(0) { $0 + $1.size } == 300 + 15_000 * 266)
  }

  @Test func framesWhereTheyMayNotStandAreDamage() throws {
    let origin = [UInt8](repeating: 0, count: 16)
    for frames in [
      [(.records, 0, record), (.last, 0, record)], [(.records, 0, record), (.middle, 0, record)],
      [(.records, 0, record), (.origin, 0, origin)], [(.records, 0, record), (.abandonment, 0, [1])],
      [(.records, 0, record), MadeUpFile.first(1, size: 70_000, record), (.records, 1, record)],
      [(.records, 0, record), (.checkpoint, 1, [0])], [(.records, 0, record), (.first, 1, [0xFF])],
      // The part would be all of its record.
      [(.records, 0, record), MadeUpFile.first(1, size: 2, record)],
    ] as [[MadeUpFile.Content]] {
      #expect(try numbers(MadeUpFile((0, frames))) == [0])
      #expect(try !KnownLogs.reader(of: MadeUpFile((0, frames)).bytes).verify().isEmpty || frames[1].kind == .first)
    }
    // What follows such a frame is read if it relies on nothing before.
    for kind in [Frame.Kind.records, .freshRecords] {
      let file = MadeUpFile((0, [(.origin, 0, record), (kind, 0, record)]))
      #expect(try numbers(file) == (kind == .freshRecords ? [0] : []))
    }
    #expect(try numbers(MadeUpFile((0, [(.middle, 0, record)]), (5, [(.records, 5, record)]))) == [5])
  }

  /// What is no part of a group does not go on in the next block.
  @Test func aFirstPartHasSomeBytesOfItsGroupAndNotAll() throws {
    let next: MadeUpFile.Content = (.freshRecords, 1, record)
    for part in [[], record] as [[UInt8]] {
      let first = MadeUpFile.firstOfGroup(0, count: 1, size: record.count, part)
      #expect(try numbers(MadeUpFile((0, [first, next]))) == [1])
      #expect(try numbers(MadeUpFile((0, [first]), (1, [(.last, 0, record), next]))) == [1])
    }
  }

  /// A record has the number that its frame says, unless another must have it.
  @Test func frameNumbersThatDoNotFollowEachOtherAreDamage() throws {
    for number in [0, 2, 3, BlockHead.recordLimit, .max] {
      let file = MadeUpFile((0, [(.records, 0, record), (.freshRecords, number, record)]))
      #expect(try numbers(file) == [0])
      #expect(try KnownLogs.reader(of: file.bytes).verify().map(\.bytes) == [file.frameStarts[1]..<file.bytes.count])
    }
    // After damage it is taken as it is, if it was not there before.
    for number in [0, 1, 5] {
      let file = MadeUpFile((0, [(.records, 0, record), (.last, 0, record), (.freshRecords, number, record)]))
      #expect(try numbers(file) == (number == 0 ? [0] : [0, number]))
    }
    #expect(try numbers(MadeUpFile((5, [(.records, 4, record)]))) == [])
  }

  /// The numbers of records are lower than 2 to the 62nd.
  @Test func numbersThatMakeNoSenseAreSurvived() throws {
    let most = BlockHead.recordLimit - 1
    #expect(try numbers(MadeUpFile((most - 1, [(.records, most - 1, record)]))) == [most - 1])
    #expect(try numbers(MadeUpFile((0, [(.records, 0, record)]), (most, []))) == [0])
    let beyond = MadeUpFile((0, [(.origin, 0, [UInt8](repeating: 0xFF, count: 16)), (.freshRecords, 0, record)]))
    #expect(try numbers(beyond) == [0])
    #expect(throws: RecordLogError.self) {
      var bytes = BlockHead(identity: 7, firstRecord: 0, index: 0).bytes
      bytes.replaceLittleEndian(at: 16, with: UInt64(1) << 63)
      bytes.replaceLittleEndian(at: 4, with: BlockHead.checksum(of: bytes))
      _ = try KnownLogs.reader(of: bytes)
    }
  }

  /// Where the heads of two blocks contradict each other, a record belongs to the later one, however it is looked for.
  @Test func aRecordThatTwoBlocksHaveBelongsToTheLaterOne() throws {
    let one: [UInt8] = [1, 0x91, 1, 0x92, 1, 0x93]
    let file = MadeUpFile((0, [(.records, 0, one)]), (2, [(.records, 2, [1, 0x99, 1, 0x9A])]))
    #expect(try numbers(file) == [0, 1, 2, 3])
    let log = try KnownLogs.reader(of: file.bytes)
    #expect(try log.records.map { try $0.decode(Int.self) } == [1, 2, 9, 10])
    #expect(try log.decode(Int.self, at: 2) == 9)
    // One that follows others that are left out, too.
    let gap = MadeUpFile((0, [(.records, 0, record + [0, 2, 1, 0x93])]), (3, [(.records, 3, [1, 0x99])]))
    #expect(try KnownLogs.reader(of: gap.bytes).records.map { try $0.decode(Int.self) } == [1, 9])
    // Numbers that fall are survived.
    let falling = MadeUpFile((9, [(.records, 9, record)]), (3, [(.records, 3, record)]), (9, [(.records, 9, record)]))
    let read = try KnownLogs.reader(of: falling.bytes)
    #expect(read.records.map(\.number) == read.records.map(\.number).sorted())
    _ = try read.verify()
  }

  /// A head whose number is too high has no say over the blocks after it, and is damage.
  @Test func aHeadThatIsTooHighHidesNoRecordsOfLaterBlocks() throws {
    let three: [UInt8] = [1, 0x91, 1, 0x92, 1, 0x93]
    for number in [4, 7, 9, 1_000, BlockHead.recordLimit - 1] {
      let file = MadeUpFile(
        (0, [(.records, 0, three)]), (number, []), (3, [(.records, 3, three)]), (6, [(.records, 6, three)]))
      #expect(try numbers(file) == Array(0..<9), "\(number)")
      let damage = try KnownLogs.reader(of: file.bytes).verify()
      #expect(damage.map(\.records.isEmpty) == [true] && damage[0].reason == .head, "\(damage)")
    }
    // Its own records belong to the blocks after it.
    let file = MadeUpFile(
      (0, [(.records, 0, three)]), (6, [(.records, 6, three)]), (3, [(.records, 3, three)]),
      (6, [(.records, 6, record)]))
    #expect(try numbers(file) == Array(0..<7))
  }

  /// The first head of a file that names its log may be a higher one than that of a segment. If it is too high, no
  /// record loses its number in a compaction.
  @Test func aHeadThatIsTooHighIsNotThatOfACompactedFile() throws {
    let origin: MadeUpFile.Content = (.origin, 0, [UInt8](repeating: 7, count: 16))
    for number in [5, 6, 9, 1_000] {
      let file = MadeUpFile((number, [origin]), (5, [(.records, 5, record + [0, 2] + record)]))
      #expect(try numbers(file) == [5, 8])
      let disk = SimulatedDisk()
      disk.setBytes(file.bytes, of: "/log")
      let log = try RecordLog(at: "/log", on: disk)
      try log.compact { _ in true }
      #expect(log.count == 9 && log.records.map(\.number) == [5, 8], "\(number)")
      #expect(try log.append(0) == 9 && log.records.map(\.number) == [5, 8, 9])
    }
  }

  /// A head that says nothing lets records through whose numbers hide those that are appended.
  @Test func numbersThatDecreaseHideRecordsThatAreAppended() throws {
    let two: [UInt8] = [1, 0x91, 1, 0x92]
    let disk = SimulatedDisk()
    let stray: MadeUpFile.Content = (.last, 0, record)
    var bytes = MadeUpFile(
      (6, [(.freshRecords, 6, two)]), (4, [(.freshRecords, 4, two)]),
      (6, [stray, (.freshRecords, 3, record), (.freshRecords, 4, two)])
    ).bytes
    for block in 1...2 { bytes[block * BlockHead.blockSize + 9] ^= 1 }
    disk.setBytes(bytes, of: "/log")
    let log = try RecordLog(at: "/log", on: disk)
    #expect(try log.append(7) == 6)
    #expect(try log.records.map { try $0.decode(Int.self) } == [1])
    // Looked up by its number, it is found.
    #expect(try log.decode(Int.self, at: 6) == 7)
  }

  /// One search looks at each block once at most, whatever heads say.
  @Test func aSearchAmongDamagedHeadsReadsEachBlockOnce() throws {
    let (disk, count) = (HookedDisk(), 40)
    var bytes = MadeUpFile((0..<count).map { ($0, [(.records, $0, record)]) }).bytes
    for block in 1..<count { bytes[block * BlockHead.blockSize + 9] ^= 1 }
    disk.simulated.setBytes(bytes, of: "/log")
    let log = try RecordLogReader(at: "/log", on: disk)
    for number in [1, count / 2, count - 1] {
      var reads = 0
      disk.beforeReading = { reads += 1 }
      #expect(try log.decode(Int.self, at: number) == 1)
      // All heads in search of a whole one, and for each block it and the next head.
      #expect(reads > count && reads <= 3 * count + 3)
    }
  }

  @Test func eachDamagedPartIsReported() throws {
    var (file, number) = (MadeUpFile((0, [(.records, 0, record)])), 1)
    while file.bytes.count < BlockHead.blockSize - 100 {
      file.append(damage: [7])
      file.append((.freshRecords, number, record))
      number += 1
    }
    let log = try KnownLogs.reader(of: file.bytes)
    #expect(try log.verify().count == number - 1)
    #expect(log.damage.count == number - 1 && log.records.reduce(0) { count, _ in count + 1 } == number)
  }

  /// Its definitions break the format, and later records of its scope rely on them.
  @Test func aCompactionMayLeaveOutARecordThatIsNoMessage() throws {
    let broken: [UInt8] = [2, RecordPrelude.tag, 5]
    let file = MadeUpFile((0, [(.records, 0, [1, 0x91] + broken + [1, 0x92]), (.freshRecords, 3, [1, 0x93])]))
    let disk = SimulatedDisk()
    disk.setBytes(file.bytes, of: "/log")
    let log = try RecordLog(at: "/log", on: disk)
    for kept in 1...2 {
      #expect(throws: DecodingError.self) { try log.compact { $0.number != 3 - kept } }
      #expect(log.records.map(\.number) == [0, 1, 2, 3])
    }
    try log.compact { (try? $0.decode(Int.self)) != nil }
    #expect(log.records.map(\.number) == [0, 3])
  }

  /// Only after damage a first part has a number that does not follow, and then the next block may know better.
  @Test func aFirstPartHidesNoRecordsOfTheNextBlock() throws {
    let part = MadeUpFile.first(9, size: 70_000, record)
    let file = MadeUpFile(
      (0, [(.records, 0, record), (.last, 0, record), part]), (1, [(.records, 1, record + record)]),
      (3, [(.records, 3, record)]))
    #expect(try numbers(file) == [0, 1, 2, 3])
  }

  /// Blocks that hold nothing but parts have heads that count as all others.
  @Test func theHeadsOfALostGroupCount() throws {
    let three: [UInt8] = [1, 0x91, 1, 0x92, 1, 0x93]
    let part: MadeUpFile.Content = (.middle, 2, [1])
    let first = MadeUpFile.firstOfGroup(1, count: 2, size: 100, [1])
    let file = MadeUpFile((0, [(.records, 0, record), first]), (3, [part]), (3, [part]), (1, [(.records, 1, three)]))
    #expect(try KnownLogs.reader(of: file.bytes).records.map(\.number) == [0, 3])
  }

  /// The numbers of what does not count say nothing about later blocks.
  @Test func recordsThatDoNotCountHideNoneOfLaterBlocks() throws {
    let two: [UInt8] = [1, 0x91, 1, 0x92]
    let damage: MadeUpFile.Content = (.last, 0, record)
    let first = MadeUpFile.firstOfGroup(5, count: 2, size: 100, [1])
    let lost = MadeUpFile(
      (0, [(.records, 0, record), damage, first]), (7, [(.middle, 6, [1])]), (1, [(.records, 1, two)]),
      (7, [(.records, 7, record)]))
    #expect(try KnownLogs.reader(of: lost.bytes).records.map(\.number) == [0, 1, 2, 7])
    let givenUp = MadeUpFile(
      (0, [(.records, 0, record), MadeUpFile.firstOfGroup(1, count: 2, size: 100, [1])]),
      (3, [(.abandonment, 1, [2])]), (1, [(.records, 1, two)]))
    #expect(try numbers(givenUp) == [0, 1, 2])
    let late = MadeUpFile(
      (0, [(.records, 0, record), damage, (.freshRecords, 9, two)]), (5, []), (1, [(.records, 1, two)]))
    #expect(try numbers(late) == [0, 1, 2])
  }

  /// What a walk came across by the way is remembered, but not for records that do not count.
  @Test func aRecordThatDoesNotCountIsNotFoundAfterOthersOfItsBlock() throws {
    let six: [UInt8] = [1, 0x91, 1, 0x92, 1, 0x93, 1, 0x94, 1, 0x95, 1, 0x96]
    #expect(try numbers(MadeUpFile((0, []), (6, []), (6, []), (3, [(.records, 3, six)]))) == [6, 7, 8])
  }

  /// A number that no record has yet is not one of a lost record.
  @Test func noMoreRecordsAreLostThanThereWere() throws {
    let two: [UInt8] = [1, 0x91, 1, 0x92]
    let log = try KnownLogs.reader(of: MadeUpFile((0, [(.records, 0, two)]), (4, []), (4, []), (3, [])).bytes)
    #expect(log.count == 3)
    #expect(try log.verify().map(\.records).filter { !$0.isEmpty } == [2..<3])
  }

  @Test func damageIsReportedWhereNoRecordIsLost() throws {
    let stray: MadeUpFile.Content = (.last, 0, record)
    func expectDamage(_ file: MadeUpFile, at frame: Int, _ count: Int) throws {
      let damage = try KnownLogs.reader(of: file.bytes).verify()
      #expect(damage.map(\.records.isEmpty) == [true] && damage[0].reason == .frame, "\(damage)")
      // The zeros up to the end of the block are not part of it.
      let start = file.frameStarts[frame]
      #expect(damage[0].bytes == start..<(start + Frame.headSize + 3))
      #expect(try numbers(file).count == count)
    }
    // After the last record of a block.
    try expectDamage(MadeUpFile((0, [(.records, 0, record), stray]), (1, [(.records, 1, record)])), at: 1, 2)
    // After a part from the middle of a group, which is whole or was given up.
    let first = MadeUpFile.firstOfGroup(0, count: 1, size: 3, [2])
    try expectDamage(
      MadeUpFile((0, [first]), (1, [(.middle, 0, [0xE1]), stray]), (1, [(.last, 0, [0x91]), (.records, 1, record)])),
      at: 2, 2)
    try expectDamage(
      MadeUpFile(
        (0, [first]), (1, [(.middle, 0, [0xE1]), stray]),
        (1, [(.abandonment, 0, [1]), (.records, 1, record)])),
      at: 2, 1)
  }

  @Test func damageEndsBeforeTheZerosOfItsBlock() throws {
    let file = MadeUpFile((0, [(.records, 0, record)]), (1, [(.records, 1, record)]))
    let end = file.frameStarts[0] + Frame.headSize + 3
    var bytes = file.bytes
    bytes.replaceSubrange(end..<(end + 3), with: [9, 9, 9])
    #expect(try KnownLogs.reader(of: bytes).verify().map(\.bytes) == [end..<(end + 3)])
  }

  @Test func recordsGivenUpAreNotLostWhateverElseIsDamaged() throws {
    let first = MadeUpFile.firstOfGroup(1, count: 2, size: 4, [1])
    // Its head is damaged.
    let file = MadeUpFile(
      (0, [(.records, 0, record), first]), (3, [(.abandonment, 1, [2]), (.freshRecords, 3, record)]))
    var bytes = file.bytes
    bytes[BlockHead.blockSize + 9] ^= 1
    let log = try KnownLogs.reader(of: bytes)
    #expect(log.records.map(\.number) == [0, 3])
    #expect(try log.verify().map(\.records.isEmpty) == [true] && log.damage[0].reason == .head)
    // Its parts have more bytes than the first one says.
    let long = MadeUpFile(
      (0, [(.records, 0, record), first]), (3, [(.middle, 2, [1, 2, 3, 4])]), (3, [(.abandonment, 1, [2])]))
    #expect(try numbers(long) == [0])
    #expect(try KnownLogs.reader(of: long.bytes).verify().isEmpty)
  }

  @Test func partsThatDoNotBelongTogetherAreNoRecord() throws {
    let part = [UInt8](repeating: 0x91, count: 60_000)
    let first = MadeUpFile.first(0, size: 120_000, part)
    #expect(try numbers(MadeUpFile((0, [first]), (1, [(.last, 0, part), (.records, 1, record)]))) == [0, 1])
    // The number of the record that goes on differs.
    #expect(try numbers(MadeUpFile((0, [first]), (2, [(.last, 1, part), (.records, 2, record)]))) == [2])
    // The next block begins with something else.
    #expect(try numbers(MadeUpFile((0, [first]), (1, [(.records, 1, record)]))) == [1])
    // A part is missing from the middle, and its block is there.
    #expect(try numbers(MadeUpFile((0, [first]), (1, []), (1, [(.last, 0, part), (.records, 1, record)]))) == [1])
    // The parts have fewer bytes than the first one says, or more.
    for size in [119_999, 120_001, Int.max] {
      let wrong = MadeUpFile.first(0, size: size, part)
      #expect(try numbers(MadeUpFile((0, [wrong]), (1, [(.last, 0, part), (.records, 1, record)]))) == [1])
    }
    // The first part is lost.
    let middle = MadeUpFile((0, []), (1, [(.middle, 0, part)]), (1, [(.last, 0, part), (.records, 1, record)]))
    #expect(try numbers(middle) == [1])
    #expect(try KnownLogs.reader(of: middle.bytes).verify().map(\.records) == [0..<1])
  }

  @Test func aGroupHasTheRecordsThatItsFirstPartSays() throws {
    let part = [UInt8](repeating: 0x91, count: 60_000)
    let content = [0xF8, 0x00, 0xD1] + part
    #expect(content.count == 60_003)
    func numbers(count: Int, _ rest: [UInt8]) throws -> [Int] {
      let first = MadeUpFile.firstOfGroup(0, count: count, size: content.count + rest.count, content)
      return try self.numbers(
        MadeUpFile(
          (0, [first]), (count, [(.last, max(0, count - 1), rest), (.freshRecords, count, record)])))
    }
    let rest = [UInt8](repeating: 0x91, count: 10_000 - 128)
    // A length of 59,872 bytes, and one of 10,000 with the 128 bytes that are left of the first part.
    #expect(try numbers(count: 1, [0x91, 0x91]) == [1])
    #expect(try numbers(count: 2, rest + record) == [2])
    #expect(try numbers(count: 3, record) == [3])
    #expect(try numbers(count: BlockHead.recordLimit - 1, record) == [])
    for count in [0, Int.max] {
      let first = MadeUpFile.firstOfGroup(0, count: count, size: 70_000, content)
      #expect(try self.numbers(MadeUpFile((0, [first]), (1, [(.records, 1, record)]))) == [1])
    }
    // Numbers that were given up are taken, whatever they are.
    for count in [1, 2, 1_000] {
      let given = MadeUpFile(
        (0, [(.records, 0, record)]),
        (1 + count, [(.abandonment, 1, Self.uint(count)), (.freshRecords, 1 + count, record)]))
      #expect(try self.numbers(given) == [0, 1 + count])
      #expect(try KnownLogs.reader(of: given.bytes).verify().isEmpty)
    }
  }

  private static func uint(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    Varint.append(value, to: &bytes)
    return bytes
  }

  @Test func aRecordOfVeryManyPartsIsLimited() throws {
    let part = [UInt8](repeating: 0x91, count: Frame.payloadLimit - 4)
    var blocks: [(first: Int, frames: [MadeUpFile.Content])] = [
      (0, [MadeUpFile.first(0, size: 31 * part.count + 1, part.dropLast(12) + [])])
    ]
    blocks += Array(repeating: (1, [(.middle, 0, part)]), count: 30)
    blocks.append((1, [(.last, 0, [0x91] + part.prefix(12)), (.records, 1, record)]))
    let disk = SimulatedDisk()
    disk.setBytes(MadeUpFile(blocks).bytes, of: "/log")
    let log = try RecordLogReader(at: "/log", on: disk, maximumRecordSize: 1_000_000)
    #expect(log.records.map(\.number) == [1])
    #expect(log.damage.map(\.records) == [0..<1])
    #expect(log.damage.map(\.reason) == [.recordTooLarge])
    #expect(try RecordLogReader(at: "/log", on: disk).record(at: 0).size == 31 * part.count + 1)
  }

  @Test func recordsThatAreNotThereAreNotCountedOneByOne() throws {
    let count = 1 << 60
    let givenUp = MadeUpFile((0, [(.records, 0, record)]), (1 + count, [(.abandonment, 1, Self.uint(count))]))
    let log = try KnownLogs.reader(of: givenUp.bytes)
    #expect(try log.count == 1 + count && log.last?.number == 0)
    let part = MadeUpFile.firstOfGroup(1, count: count, size: 1 << 40, [1])
    let unfinished = try KnownLogs.reader(of: MadeUpFile((0, [(.records, 0, record), part])).bytes)
    #expect(unfinished.recovery.records == 1..<(1 + count))
    #expect(unfinished.recovery.description.hasSuffix("records 1 to \(count), which are not finished"))
  }

  @Test func aHoleBeforeAPartIsSkipped() throws {
    let (index, disk) = (60, SimulatedDisk())
    var bytes = MadeUpFile((0, [(.records, 0, record)])).bytes
    bytes += [UInt8](repeating: 0, count: index * BlockHead.blockSize - bytes.count)
    bytes += BlockHead(identity: MadeUpFile.identity, firstRecord: 500, index: index).bytes
    bytes += MadeUpFile.frame((.middle, 499, [1]), at: bytes.count)
    disk.setBytes(bytes, of: "/log")
    let log = try RecordLogReader(at: "/log", on: disk)
    #expect(disk.calls < 30)
    #expect(log.recovery.records == 499..<500 && log.records.map(\.number) == [0])
  }

  @Test func otherVersionsAreRefusedAndLeftAsTheyAre() throws {
    for (place, byte) in [(2, 0), (2, 2), (3, 1)] as [(Int, UInt8)] {
      var head = BlockHead(identity: 7, firstRecord: 0, index: 0).bytes
      head[place] = byte
      head.replaceLittleEndian(at: 4, with: BlockHead.checksum(of: head))
      let disk = SimulatedDisk()
      disk.setBytes(head + [1, 2, 3], of: "/log")
      for open in [
        { _ = try RecordLog(at: "/log", on: disk) }, { _ = try RecordLogReader(at: "/log", on: disk) },
      ] {
        #expect { try open() } throws: {
          ($0 as? RecordLogError)?.reason == .unsupportedVersion(place == 2 ? Int(byte) : 1)
        }
      }
      #expect(disk.bytes(of: "/log")?.count == head.count + 3)
    }
  }

  @Test func randomBytesAreSurvived() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      var file = MadeUpFile((0, [(.records, 0, record)]))
      for _ in 0..<random.below(3) { file.append((.freshRecords, random.below(9), record)) }
      var bytes = file.bytes
      for _ in 0..<random.below(200) {
        bytes.append(UInt8(truncatingIfNeeded: random.next() >> UInt64(random.below(8))))
      }
      #expect(try KnownLogs.reader(of: bytes).records.first { _ in true }?.number == 0)
    }
  }
}
