import Foundation
import Stow
import Testing

@testable import StowRecords

/// Appending and reading, as users do.
struct RecordLogTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func events(_ log: RecordLogReader, from number: Int = 0) throws -> [Event] {
    try log.records(from: number).map { try $0.decode(Event.self) }
  }

  @Test func whatWasAppendedIsRead() throws {
    let log = try RecordLog(at: folder.log)
    #expect(log.count == 0)
    #expect(try log.append(Event(0)) == 0)
    #expect(try log.append(contentsOf: (1..<100).map { Event($0) }) == 1..<100)
    #expect(log.count == 100)
    #expect(try events(log) == (0..<100).map { Event($0) })
    #expect(log.records.map(\.number) == Array(0..<100))
    #expect(log.damage.isEmpty)
    #expect(try log.verify().isEmpty)
  }

  @Test func aLogThatIsOpenedAgainGoesOn() throws {
    for round in 0..<10 {
      let log = try RecordLog(at: folder.log)
      #expect(log.recovery.bytes.isEmpty)
      #expect(log.count == round * 3)
      try log.append(contentsOf: (0..<3).map { Event(round * 3 + $0) })
      try log.close()
    }
    let log = try RecordLogReader(at: folder.log)
    #expect(try events(log) == (0..<30).map { Event($0) })
    #expect(log.recovery.bytes.isEmpty)
  }

  @Test func recordsOfManySizesAreRead() throws {
    let sizes = [
      0, 1, 200, 230, 5_000, 7_000, 30_000, 61_000, 65_300, 65_460, 65_490, 65_500, 66_000, 131_000, 300_000,
    ]
    let all = (0..<60).map { Event($0, size: sizes[$0 * 7 % sizes.count]) }
    let log = try RecordLog(at: folder.log)
    for event in all { try log.append(event) }
    #expect(try events(log) == all)
    for number in (0..<60).reversed() {
      #expect(try log.decode(Event.self, at: number) == all[number])
      #expect(
        try log.records(from: number).prefix(2).map { try $0.decode(Event.self) }
          == Array(all[number...].prefix(2)))
    }
    try log.close()
    let reader = try RecordLogReader(at: folder.log)
    #expect(try events(reader) == all)
    #expect(reader.recovery.bytes.isEmpty)
    #expect(try reader.verify().isEmpty)
  }

  @Test func recordsAreFoundByTheirNumber() throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    let count = 20_000
    try log.append(contentsOf: (0..<count).map { Event($0, size: 30) })
    for number in stride(from: 0, to: count, by: 997) {
      #expect(try log.decode(Event.self, at: number) == Event(number, size: 30))
    }
    #expect(try log.decode(Event.self, at: count - 1).id == count - 1)
    for number in [-1, count, .max, .min] {
      #expect { try log.decode(Event.self, at: number) } throws: {
        ($0 as? RecordLogError)?.reason == .noSuchRecord(number, count: count)
      }
    }
    #expect(Array(log.records(from: count)).isEmpty)
    #expect(Array(log.records(from: .max)).isEmpty)
    #expect(log.records(from: -5).first { _ in true }?.number == 0)
  }

  @Test func recordsAreDecodedLateAndTwiceAndInAnyOrder() throws {
    let log = try RecordLog(at: folder.log)
    try log.append(contentsOf: (0..<500).map { Event($0) })
    let records = Array(log.records).shuffled()
    try log.append(Event(500))
    for record in records + records {
      #expect(try record.decode(Event.self) == Event(record.number))
      #expect(throws: DecodingError.self) { try record.decode([Int].self) }
    }
  }

  @Test func recordsOfDifferentTypesStandInOneLog() throws {
    let log = try RecordLog(at: folder.log)
    try log.append(1)
    try log.append("two")
    try log.append(["three": 3.5])
    #expect(try log.decode(Int.self, at: 0) == 1)
    #expect(try log.decode(String.self, at: 1) == "two")
    #expect(try log.decode([String: Double].self, at: 2) == ["three": 3.5])
  }

  @Test func aValueThatCannotBeEncodedIsNotAppended() throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }
    let log = try RecordLog(at: folder.log)
    try log.append(Event(0))
    #expect(throws: CancellationError.self) { try log.append(Failing()) }
    #expect(try log.append(Event(1)) == 1)
    #expect(try events(log) == [Event(0), Event(1)])
  }

  @Test func readingOneRecordWritesNoOthers() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    #expect(try log.decode(Event.self, at: 0) == Event(0))
    let size = try #require(disk.bytes(of: "/log")?.count)
    try log.append(Event(1))
    #expect(try log.decode(Event.self, at: 0) == Event(0))
    #expect(disk.bytes(of: "/log")?.count == size)
    #expect(try log.decode(Event.self, at: 1) == Event(1))
    #expect(try #require(disk.bytes(of: "/log")?.count) > size)
  }

  @Test func aReaderReadsWhatAWriterHas() throws {
    #expect(throws: RecordLogError.self) { try RecordLogReader(at: folder.log) }
    let log = try RecordLog(at: folder.log)
    try log.append(Event(0))
    try log.flush()
    let reader = try RecordLogReader(at: folder.log)
    // A function that only reads takes either.
    for any in [log, reader] {
      #expect(try events(any) == [Event(0)])
      #expect(try any.last?.decode(Event.self) == Event(0))
    }
  }

  @Test func aReaderThatWasClosedHasWhatItSaw() async throws {
    let log = try RecordLog(at: folder.log)
    try log.append(Event(0))
    try log.flush()
    let reader = try RecordLogReader(at: folder.log)
    var following = reader.follow(from: 0).makeAsyncIterator()
    #expect(try await following.next()?.number == 0)
    try reader.close()
    #expect(try await following.next() == nil)
    try log.append(Event(1))
    try log.close()
    #expect(try events(reader) == [Event(0)])
    #expect { try log.append(Event(2)) } throws: { ($0 as? RecordLogError)?.reason == .closed }
  }

  @Test func aReaderSeesWhatIsWrittenLater() throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    let reader = try RecordLogReader(at: folder.log)
    #expect(reader.count == 0)
    for round in 1...5 {
      try log.append(contentsOf: (0..<1000).map { Event((round - 1) * 1000 + $0) })
      try log.flush()
      #expect(reader.count == round * 1000)
      #expect(try reader.decode(Event.self, at: round * 1000 - 1) == Event(round * 1000 - 1))
    }
    let records = reader.records
    try log.append(Event(5000))
    try log.flush()
    #expect(records.reduce(0) { count, _ in count + 1 } == 5000)
    #expect(reader.count == 5001)
  }

  @Test func aClosedLogIsReadAndNotAppendedTo() throws {
    let log = try RecordLog(at: folder.log)
    try log.append(Event(0))
    try log.close()
    try log.close()
    #expect { try log.append(Event(1)) } throws: { ($0 as? RecordLogError)?.reason == .closed }
    #expect { try log.synchronize() } throws: { ($0 as? RecordLogError)?.reason == .closed }
    #expect(try events(log) == [Event(0)])
    #expect(log.count == 1)
    let other = try RecordLog(at: folder.log)
    #expect(try other.append(Event(1)) == 1)
  }

  @Test func aLogThatIsLetGoOfIsWritten() throws {
    for durability in [RecordLog.Durability.manual, .interval(.seconds(100)), .everyAppend] {
      let log = folder.url.appending(path: "\(durability)")
      try RecordLog(at: log, durability: durability).append(Event(7))
      #expect(try events(RecordLogReader(at: log)) == [Event(7)])
    }
  }

  @Test func whatIsNoLogIsLeftAsItIs() throws {
    for bytes in [Data("hello\n".utf8), Data(repeating: 7, count: 100_000), Data([0x7F]) + Data(count: 50)] {
      try bytes.write(to: folder.log)
      #expect { try RecordLog(at: folder.log) } throws: { ($0 as? RecordLogError)?.reason == .notALog }
      #expect { try RecordLogReader(at: folder.log) } throws: { ($0 as? RecordLogError)?.reason == .notALog }
      #expect(try Data(contentsOf: folder.log) == bytes)
    }
  }

  @Test func aLinkToALogThatIsStillToBeMadeStaysALink() throws {
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.log)
    let log = try RecordLog(at: link)
    for id in 0..<3 { try log.append(Event(id)) }
    try log.compact { $0.number > 0 }
    try log.close()
    #expect(try RecordLogReader(at: folder.log).records.map { try $0.decode(Event.self).id } == [1, 2])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == folder.log.path)
  }

  @Test func aLogIsMadeWhereTheSystemWouldMakeAFile() throws {
    let deep = folder.url.appending(path: "real/deep")
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    let links = folder.url.appending(path: "links")
    try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: links.appending(path: "deep"), withDestinationURL: deep)
    try FileManager.default.createSymbolicLink(
      atPath: links.appending(path: "log").path, withDestinationPath: "deep/../second")
    try RecordLog(at: URL(filePath: links.path + "/deep/../first")).append(Event(1))
    try RecordLog(at: links.appending(path: "log")).append(Event(2))
    try RecordLog(at: URL(filePath: links.path + "/deep/../third/"), segmentSize: 65_536).append(Event(3))
    for (index, name) in ["first", "second", "third"].enumerated() {
      let log = folder.url.appending(path: "real/\(name)")
      #expect(try events(RecordLogReader(at: log)) == [Event(index + 1)])
    }
  }

  @Test func aLinkToALogIsTheLog() throws {
    let link = folder.url.appending(path: "link")
    try RecordLog(at: folder.log).append(Event(0))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.log)
    let log = try RecordLog(at: link)
    try log.compact { _ in true }
    try log.append(Event(1))
    try log.close()
    #expect(try events(RecordLogReader(at: folder.log)) == [Event(0), Event(1)])
  }

  @Test func aRecordBeyondTheLimitIsRefused() throws {
    let log = try RecordLog(at: folder.log, maximumRecordSize: 100_000)
    try log.append(Event(0, size: 90_000))
    #expect(throws: RecordLogError.self) { try log.append(Event(1, size: 100_001)) }
    try log.append(Event(1))
    #expect(try events(log) == [Event(0, size: 90_000), Event(1)])
    #expect(throws: RecordLogError.self) {
      let small = try RecordLog(at: folder.url.appending(path: "small"), maximumRecordSize: 100)
      try small.append(Event(2, size: 10))
      try small.append(Event(3, size: 100))
    }
    try log.close()
    let reader = try RecordLogReader(at: folder.log, maximumRecordSize: 80_000)
    #expect(try events(reader) == [Event(1)])
    #expect(reader.damage.map(\.records) == [0..<1])
    #expect(reader.damage.first?.reason == .recordTooLarge)
  }

  @Test func manyThreadsAppend() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for index in 0..<500 {
            let event = Event(thread * 500 + index)
            let number = try log.append(event)
            if index % 100 == 0 { #expect(try log.decode(Event.self, at: number) == event) }
            if index % 250 == 0 { try log.synchronize() }
          }
        }
      }
      try await group.waitForAll()
    }
    let ids = try events(log).map(\.id)
    #expect(ids.count == 4000)
    #expect(Set(ids).count == 4000)
    for thread in 0..<8 {
      #expect(ids.filter { $0 / 500 == thread } == Array(thread * 500..<(thread + 1) * 500))
    }
  }

  @Test func manyThreadsBringEachRecordToTheDisk() async throws {
    let log = try RecordLog(at: folder.log, durability: .everyAppend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask { for index in 0..<25 { try log.append(Event(thread * 25 + index)) } }
      }
      try await group.waitForAll()
    }
    // The reader sees what is written, and nothing was left in memory.
    let reader = try RecordLogReader(at: folder.log)
    #expect(Set(try events(reader).map(\.id)) == Set(0..<100))
  }

  @Test func anIntervalBringsRecordsToTheFile() async throws {
    let log = try RecordLog(at: folder.log, durability: .interval(.milliseconds(5)))
    // Nothing but the interval brings them to whoever reads the file.
    var records = try RecordLogReader(at: folder.log).follow(from: 0).makeAsyncIterator()
    for round in 1...3 {
      try log.append(Event(round))
      #expect(try await records.next()?.decode(Event.self) == Event(round))
    }
  }

  /// Each record of a group would otherwise carry what all before it define.
  @Test(arguments: [1, 2])
  func aCompactionMakesNoLargeGroupLarger(_ step: Int) throws {
    // The strings of a record recur in it, and in no other.
    func words(_ number: Int) -> [String] {
      let words = (0..<40).map { "\(number) and \($0): " + String(repeating: "word", count: 10) }
      return words + words
    }
    func nested(_ depth: Int) -> StowValue { (0..<depth).reduce(.string(words(0)[0])) { value, _ in .array([value]) } }
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    encoder.maximumDepth = 1_000
    decoder.maximumDepth = 1_000
    var values = (0..<100).map { StowValue.array(words($0).map { .string($0) }) }
    // The log cannot read this one, and keeps it all the same.
    values[20] = nested(700)
    let log = try RecordLog(at: folder.log, encoder: encoder)
    try log.append(group: values)
    try log.synchronize()
    let size = try Data(contentsOf: folder.log).count
    try log.compact { $0.number % step == 0 }
    #expect(try Data(contentsOf: folder.log).count < size / step + 2 * BlockHead.blockSize)
    try log.close()
    let reader = try RecordLogReader(at: folder.log, decoder: decoder)
    let numbers = Array(stride(from: 0, to: values.count, by: step))
    #expect(reader.records.map(\.number) == numbers)
    for number in numbers {
      #expect(try reader.decode(StowValue.self, at: number) == values[number])
      if number != 20 {
        #expect(try reader.decode([String].self, at: number) == words(number))
      }
    }
    #expect(try reader.verify().isEmpty)
  }

  /// They can only be copied with what all before them define.
  @Test func manyRecordsThatCannotBeReadMakeNoCompactionLarge() throws {
    func nested(_ number: Int, _ depth: Int) -> StowValue {
      let words = (0..<40).map { StowValue.string("word \(number) and \($0)") }
      return (0..<depth).reduce(.array(words + words)) { value, _ in .array([value]) }
    }
    let encoder = StowEncoder()
    encoder.maximumDepth = 1_000
    let log = try RecordLog(at: folder.log, encoder: encoder)
    try log.append(group: (0..<200).map { nested($0, 600) })
    try log.append(1)
    try log.synchronize()
    let bytes = try Data(contentsOf: folder.log)
    #expect(throws: DecodingError.self) { try log.compact { _ in true } }
    #expect(try Data(contentsOf: folder.log) == bytes)
    try log.compact { $0.number < 10 || $0.number == 200 }
    #expect(log.records.map(\.number) == Array(0..<10) + [200])
    #expect(try log.append(2) == 201 && log.decode(Int.self, at: 200) == 1)
  }

  /// A value that does something while it is encoded.
  private struct Calling: Encodable {
    let body: () throws -> Void

    func encode(to encoder: any Encoder) throws {
      try body()
      var container = encoder.singleValueContainer()
      try container.encode(1)
    }
  }

  @Test("using a log within its own call is an error, and harms nothing", arguments: [nil, 65_536])
  func useWithin(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    try log.append(contentsOf: (0..<3).map { Event($0) })
    let uses: [() throws -> Void] = [
      { try log.append(1) }, { try log.append(contentsOf: [1]) }, { try log.append(group: [1]) },
      { try log.flush() },
      { try log.synchronize() }, { try log.close() }, { _ = try log.record(at: 0) }, { _ = try log.verify() },
      { _ = try log.last }, { try log.removeRecords(before: 2) }, { try log.compact { _ in true } },
      { _ = try log.index(of: Event.self, by: \.id) },
    ]
    for (index, use) in uses.enumerated() {
      func expectUsedWithin(_ call: () throws -> Void) {
        #expect("use \(index)") { try call() } throws: { ($0 as? RecordLogError)?.reason == .usedWithin }
      }
      expectUsedWithin { try log.append(Calling(body: use)) }
      expectUsedWithin { try log.append(group: [Calling {}, Calling(body: use)]) }
      if segmentSize == nil || index == 10 {
        expectUsedWithin {
          try log.compact { _ in
            try use()
            return true
          }
        }
      }
    }
    #expect(try log.append(Event(3)) == 3 && log.records.map(\.number) == [0, 1, 2, 3])
    try log.close()
    #expect(try RecordLog(at: "/log", on: disk).count == 4)
  }
}
