import Foundation
import FuzzTargets
import Stow
import Synchronization
import Testing

@testable import StowRecords

/// Where the last record of each key stands.
@Suite("Indexes")
struct RecordIndexTests {
  private struct Entry: Codable, Hashable {
    var key: String
    var value: Int
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ log: RecordLog, _ values: Range<Int>, keys: Int = 37) throws {
    for value in values { try log.append(Entry(key: "key \(value % keys)", value: value)) }
  }

  @Test func theLastValueOfEachKeyIsFound() throws {
    let log = try RecordLog(at: folder.log)
    let index = try log.index(of: Entry.self, by: \.key)
    #expect(try index.value(for: "key 0") == nil && index.count == 0)
    try fill(log, 0..<1_000)
    for key in 0..<37 {
      let value = try #require(try index.value(for: "key \(key)")?.value)
      #expect(value % 37 == key && value >= 963)
    }
    #expect(index.count == 37 && index.outdated == 963 && Set(index.keys).count == 37)
    try log.append(Entry(key: "key 5", value: -1))
    #expect(try index.value(for: "key 5")?.value == -1)
    // By a reader, too, and by another property.
    try log.flush()
    let reader = try RecordLogReader(at: folder.log)
    #expect(try reader.index(of: Entry.self, by: \.value).record(for: 700)?.number == 700)
  }

  @Test func manyThreadsMayAskWhileOthersAppend() throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    let taken = Atomic<Int>(0)
    let index = try log.index(of: Entry.self) {
      taken.add(1, ordering: .relaxed)
      return $0.key
    }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for value in 0..<50 {
        do {
          try log.append(Entry(key: "key", value: value))
          #expect(try index.value(for: "key") != nil)
        } catch {
          Issue.record(error)
        }
      }
    }
    // Each record is taken in once.
    #expect(taken.load(ordering: .relaxed) == 400)
  }

  @Test func aLogIsNotCompactedByWhatAnIndexKnowsOfAnOlderFile() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    let isReading = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    let other = Mutex<RecordIndex<Entry, String>?>(nil)
    let index = try log.index(of: Entry.self) { entry in
      if entry.value == 2, let index = other.withLock({ $0.take() }) {
        // Somebody asks, and has found out what there is, when the log is compacted.
        _ = try? log.append(Entry(key: "a", value: 3))
        disk.beforeWriting = { isReading.signal() }
        DispatchQueue.global().async {
          try? index.update()
          isDone.signal()
        }
        isReading.wait()
        disk.beforeWriting = {}
        try? log.compact { $0.number < 2 }
      }
      return entry.key
    }
    other.withLock { $0 = index }
    for value in 0..<3 { try log.append(Entry(key: "a", value: value)) }
    try index.update()
    isDone.wait()
    try log.compact(keeping: index.isLast)
    #expect(try index.value(for: "a")?.value == 1)
  }

  @Test func aLogIsCompactedToTheLastValues() throws {
    let log = try RecordLog(at: folder.log)
    let index = try log.index(of: Entry.self, by: \.key)
    for round in 0..<5 {
      try fill(log, (round * 1_000)..<(round * 1_000 + 1_000))
      let values = try index.keys.sorted().map { try index.value(for: $0) }
      #expect(try index.value(for: "key 0") != nil)
      // One that the index does not know yet.
      try log.append(Entry(key: "late", value: round))
      try log.compact(keeping: index.isLast)
      #expect(Array(log.records).count <= 37 + 5)
      if round > 0 { #expect(values.count >= 37) }
      #expect(try index.value(for: "late")?.value == round)
      for key in 0..<37 {
        let value = try #require(try index.value(for: "key \(key)")?.value)
        #expect(value % 37 == key && value >= round * 1_000 + 963)
      }
    }
  }

  @Test func anIndexOfTheFileBeforeACompactionRemovesNothing() throws {
    let log = try RecordLog(at: folder.log)
    try fill(log, 0..<100)
    let index = try log.index(of: Entry.self, by: \.key)
    try log.compact { $0.number % 2 == 1 }
    try log.compact(keeping: index.isLast)
    #expect(Array(log.records).count == 50)
  }

  @Test(arguments: [nil, 65_536]) func anIndexOfAReaderRemovesNothingOfLaterFiles(_ segmentSize: Int?) throws {
    let log = try RecordLog(at: folder.log, segmentSize: segmentSize)
    try fill(log, 0..<3, keys: 1)
    try log.flush()
    let index = try RecordLogReader(at: folder.log).index(of: Entry.self, by: \.key)
    try log.compact { $0.number < 2 }
    // The reader was not asked since, and the index has a later record that is left out.
    try log.compact(keeping: index.isLast)
    #expect(log.records.map(\.number) == [0, 1])
    #expect(try index.value(for: "key 0")?.value == 1)
    try log.compact(keeping: index.isLast)
    #expect(log.records.map(\.number) == [1])
  }

  @Test func anIndexRemovesNothingBecauseOfARecordThatWasLeftOutSince() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: 65_536)
    for value in 0..<3 {
      try log.append(Entry(key: value < 2 ? "a" : "b", value: value))
      try log.compact { _ in true }
    }
    let index = try log.index(of: Entry.self, by: \.key)
    // The first segment is away while the second one is compacted.
    let path = Segment(from: 0, in: "/log").path
    disk.move(path, to: "/away")
    try log.compact { $0.number != 1 }
    disk.move("/away", to: path)
    try log.compact(keeping: index.isLast)
    #expect(log.records.map(\.number) == [0, 2])
    #expect(try index.value(for: "a")?.value == 0)
  }

  @Test func aSavedIndexThatCountsMoreThanThereIsIsNotTaken() throws {
    let saved = folder.url.appending(path: "index")
    let log = try RecordLog(at: folder.log)
    try fill(log, 0..<100)
    try log.index(of: Entry.self, by: \.key).save(to: saved)
    var whole = try StowDecoder().decode([String: StowValue].self, from: Data(contentsOf: saved))
    var content = try StowDecoder().decode(StowValue.self, from: #require(whole["content"]?.data))
    content["outdated"] = StowValue(Int.max)
    let data = try StowEncoder().encode(content)
    whole = ["checksum": StowValue(data.withUnsafeBytes { Checksum.of($0) }), "content": .data(data)]
    try StowEncoder().encode(whole).write(to: saved)
    try fill(log, 100..<101)
    #expect(try log.index(of: Entry.self, by: \.key, savedAt: saved).outdated == 64)
  }

  @Test func aSavedIndexReadsWhatWasAppendedSince() throws {
    let saved = folder.url.appending(path: "index")
    let log = try RecordLog(at: folder.log)
    try fill(log, 0..<500)
    try log.index(of: Entry.self, by: \.key, savedAt: saved).save(to: saved)
    try fill(log, 500..<510)
    try log.close()
    // What the index has is not read: it may even be unreadable.
    let bytes = try Data(contentsOf: folder.log)
    let reader = try RecordLogReader(at: folder.log)
    let index = try reader.index(of: Entry.self, by: \.key, savedAt: saved)
    #expect(index.outdated == 473)
    #expect(index.count == 37)
    for key in 0..<37 {
      let value = try #require(try index.value(for: "key \(key)")?.value)
      #expect(value % 37 == key && value >= 473)
    }
    #expect(try Data(contentsOf: folder.log) == bytes)
  }

  @Test func aSavedIndexOfSomethingElseIsNotTaken() throws {
    let saved = folder.url.appending(path: "index")
    let log = try RecordLog(at: folder.log)
    try fill(log, 0..<100)
    try log.index(of: Entry.self, by: \.key).save(to: saved)
    let whole = try Data(contentsOf: saved)
    func expectMadeAnew(_ log: RecordLog, _ what: Comment) throws {
      let index = try log.index(of: Entry.self, by: \.key, savedAt: saved)
      let expected = try log.index(of: Entry.self, by: \.key)
      #expect(Set(index.keys) == Set(expected.keys), what)
      for key in index.keys { #expect(try index.value(for: key) == expected.value(for: key), what) }
    }
    for bytes in [Data(), whole.dropLast(), whole + [0], Data(whole.reversed())] {
      try bytes.write(to: saved)
      try expectMadeAnew(log, "\(bytes.count) bytes")
    }
    for place in stride(from: 0, to: whole.count, by: 11) {
      var bytes = whole
      bytes[place] ^= 1
      try bytes.write(to: saved)
      try expectMadeAnew(log, "byte \(place)")
    }
    try whole.write(to: saved)
    try log.compact { $0.number % 3 == 0 }
    try fill(log, 0..<100, keys: 3)
    try expectMadeAnew(log, "compacted")
    let other = try RecordLog(at: folder.url.appending(path: "other.stowlog"))
    try fill(other, 0..<100, keys: 7)
    try expectMadeAnew(other, "another log")
  }

  /// As when a backup of the log is put back, and not one of the index.
  @Test func aSavedIndexOfACopyThatWentOnOtherwiseIsNotTaken() throws {
    let saved = folder.url.appending(path: "index")
    let disk = SimulatedDisk()
    func append(_ keys: String...) throws -> RecordLog {
      let log = try RecordLog(at: "/log", on: disk)
      for key in keys { try log.append(Entry(key: key, value: 1)) }
      return log
    }
    try append("Ada", "Grace").close()
    disk.duplicate("/log", as: "/backup")
    let log = try append("Edsger", "Barbara")
    try log.index(of: Entry.self, by: \.key).save(to: saved)
    try log.close()
    disk.move("/backup", to: "/log")
    let index = try append("Tony", "Barbara").index(of: Entry.self, by: \.key, savedAt: saved)
    #expect(Set(index.keys) == ["Ada", "Grace", "Tony", "Barbara"])
  }

  @Test func aSavedIndexIsNotTakenIfACrashBringsASegmentBack() throws {
    struct Stop: Error {}
    let saved = folder.url.appending(path: "index")
    for seed in 0..<10 as Range<UInt64> {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk, segmentSize: 65_536)
      try log.append(Entry(key: String(repeating: "a", count: 65_536), value: 0))
      try log.append(Entry(key: "b", value: 1))
      #expect(throws: Stop.self) {
        try log.compact { record in
          if record.number == 0 { return false }
          // The segment without records has its name now, but not on the disk.
          try log.index(of: Entry.self, by: \.value).save(to: saved)
          throw Stop()
        }
      }
      var random = SeededGenerator(seed: seed)
      disk.crash(&random)
      let reader = try RecordLogReader(at: "/log", on: disk)
      let index = try reader.index(of: Entry.self, by: \.value, savedAt: saved)
      let values = try reader.records.map { try $0.decode(Entry.self).value }
      #expect(index.keys.sorted() == values, "seed \(seed)")
    }
  }

  @Test func whatCannotBeReadIsAnError() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try fill(log, 0..<5_000)
    try log.flush()
    let index = try log.index(of: Entry.self, by: \.key)
    try fill(log, 5_000..<9_000)
    disk.failingOperation = "read"
    #expect(throws: RecordLogError.self) { try index.value(for: "key 1") }
    disk.failingOperation = nil
    #expect(try index.value(for: "key 1")?.value == 8_992)
    try log.append("no entry")
    #expect(throws: DecodingError.self) { try index.value(for: "key 1") }
  }

  @Test func damageIsLookedAtOnce() throws {
    // One byte that is no frame after each record.
    var file = MadeUpFile((0, []))
    for number in 0..<400 {
      file.append((.freshRecords, 2 * number, [1, 0x91]))
      file.append(damage: [1])
    }
    let reader = try KnownLogs.reader(of: file.bytes)
    #expect(Array(reader.records).count == 400)
    #expect(reader.damage.count == 399)
    let ratio = try timeRatio(
      of: { _ = try reader.index(of: Int.self) { $0 } }, to: { _ = Array(reader.records) }, below: 10)
    #expect(ratio < 10)
  }

  @Test func countersGrow() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    #expect(log.counters.appended == 0 && log.counters.damage == 0)
    try fill(log, 0..<100)
    #expect(log.counters.appended == 100)
    let synchronizations = log.counters.synchronizations
    try log.synchronize()
    #expect(log.counters.synchronizations == synchronizations + 1)
    #expect(log.counters.writtenBytes >= log.records.reduce(0) { $0 + $1.size })
    try await log.appendDurably(Entry(key: "", value: 0))
    #expect(log.counters.appended == 101)
    #expect(log.counters.synchronizations == synchronizations + 2)
    let before = log.counters
    try log.compact { _ in true }
    #expect(log.counters.writtenBytes > before.writtenBytes && log.counters.appended == 101)
    #expect(log.counters.synchronizations > before.synchronizations)
  }

  @Test(
    "only one of many concurrent calls appends a key that is absent",
    arguments: [RecordLog.Durability.manual, .everyAppend], [nil, 65_536])
  func appendingIfAbsent(_ durability: RecordLog.Durability, _ segmentSize: Int?) async throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize, durability: durability)
    try log.append(contentsOf: (0..<10).map { Event($0) })
    let indexes = try (0..<2).map { _ in try log.index(of: Event.self, by: \.id) }
    var appended: [Int: Int] = [:]
    try await withThrowingTaskGroup(of: (id: Int, isAppended: Bool, number: Int).self) { group in
      for task in 0..<8 {
        group.addTask {
          let id = 5 + task / 8
          let (isAppended, number) = try await indexes[task % 2].appendDurablyIfAbsent(Event(id))
          return (id, isAppended, number)
        }
        for id in 10..<40 {
          group.addTask {
            let index = indexes[(task + id) % 2]
            let (isAppended, number) =
              task % 2 == 0
              ? try await index.appendDurablyIfAbsent(Event(id, size: 5_000))
              : try index.appendIfAbsent(Event(id, size: 5_000))
            return (id, isAppended, number)
          }
        }
      }
      for try await (id, isAppended, number) in group {
        #expect(try log.decode(Event.self, at: number).id == id)
        if isAppended { appended[id, default: 0] += 1 }
      }
    }
    #expect(appended == Dictionary(uniqueKeysWithValues: (10..<40).map { ($0, 1) }))
    #expect(log.count == 40 && log.counters.appended == 40)
    for index in indexes {
      #expect(try index.value(for: 20)?.id == 20 && index.count == 40 && index.outdated == 0)
    }
    // What was removed or left out is absent.
    try log.compact { try $0.decode(Event.self).id != 3 }
    #expect(try indexes[0].appendIfAbsent(Event(3)) == (true, 40))
    #expect(try indexes[1].appendIfAbsent(Event(3)) == (false, 40))
    try log.close()
    #expect { try indexes[0].appendIfAbsent(Event(1_000)) } throws: { ($0 as? RecordLogError)?.reason == .closed }
    let reader = try RecordLogReader(at: "/log", on: disk)
    #expect(reader.records.count { _ in true } == 40)
    #expect(throws: RecordLogError.self) { try reader.index(of: Event.self, by: \.id).appendIfAbsent(Event(9)) }
  }

  @Test(
    "a key is absent until its record is written, whatever fails",
    arguments: [RecordLog.Durability.manual, .everyAppend])
  func appendingIfAbsentFails(_ durability: RecordLog.Durability) async throws {
    for call in 0..<12 {
      for isDurable in [true, false] {
        let disk = SimulatedDisk()
        var log = try RecordLog(at: "/log", on: disk, durability: durability)
        try log.append(Event(0))
        var index = try log.index(of: Event.self, by: \.id)
        disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
        var isTold = false
        do {
          isTold =
            try await isDurable
            ? index.appendDurablyIfAbsent(Event(1)).isAppended : index.appendIfAbsent(Event(1)).isAppended
        } catch is RecordLogError {}
        disk.faults = SimulatedDisk.Faults()
        if (try? index.appendIfAbsent(Event(1)))?.isAppended == true { #expect(!isTold, "call \(call)") }
        try? log.close()
        log = try RecordLog(at: "/log", on: disk, durability: durability)
        index = try log.index(of: Event.self, by: \.id)
        try index.appendIfAbsent(Event(1))
        #expect(log.records.map { (try? $0.decode(Event.self).id) ?? -1 } == [0, 1], "call \(call)")
      }
    }
  }
}
