import Testing

@testable import StowRecords

/// Reading between any two calls of a writer, also of one whose disk fails.
@Suite("Readers beside a writer")
struct BesideTests {
  /// Reads all the time, and keeps what it has seen.
  private final class Beside {
    private let disk: SimulatedDisk
    private let reader: RecordLogReader
    private var random: SeededGenerator
    private(set) var seen: [Int: Event] = [:]
    private var next = 0
    /// What there was before, and is read later.
    private var earlier: RecordLogReader.Records
    private let index: RecordIndex<Event, Int>

    init(_ disk: SimulatedDisk, seed: UInt64) throws {
      self.disk = disk
      random = SeededGenerator(seed: seed)
      reader = try RecordLogReader(at: "/log", on: disk)
      earlier = reader.records
      index = try reader.index(of: Event.self) { $0.id % 5 }
    }

    /// Looks mostly where a file becomes another or shorter.
    func look(before operation: String) throws {
      if ["truncate", "synchronize", "rename"].contains(operation) || random.oneIn(10) { try look() }
    }

    func look() throws {
      for record in earlier { try take(record) }
      for record in reader.records(from: next) {
        try take(record)
        next = record.number + 1
      }
      earlier = reader.records(from: max(0, next - random.below(100)))
      if random.oneIn(4) {
        let number = random.below(next + 1)
        do { try take(reader.record(at: number)) } catch let error as RecordLogError {
          switch error.reason {
          case .noSuchRecord, .removed: break
          default: throw error
          }
        }
        if let last = try reader.last { try take(last) }
      }
      if random.oneIn(4), let record = try index.record(for: random.below(5)) { try take(record) }
      if random.oneIn(8) {
        let reader = try RecordLogReader(at: "/log", on: disk)
        #expect(try reader.verify().isEmpty)
      }
      #expect(reader.damage.isEmpty, "\(reader.damage)")
    }

    private func take(_ record: RecordLogReader.Record) throws {
      let event = try record.decode(Event.self)
      #expect(seen[record.number].map { $0 == event } ?? true, "\(record.number)")
      seen[record.number] = event
    }
  }

  @Test(arguments: [RecordLog.Durability.manual, .everyAppend], [nil, 65_536])
  func everyRecordIsSeenOnceAndNothingElse(_ durability: RecordLog.Durability, _ segmentSize: Int?) throws {
    for seed in SeededGenerator.seeds(1) {
      var random = SeededGenerator(seed: seed)
      let disk = SimulatedDisk()
      func open() throws -> RecordLog {
        try RecordLog(at: "/log", on: disk, segmentSize: segmentSize, durability: durability)
      }
      var log = try open()
      let beside = try Beside(disk, seed: seed)
      var appended: [Int: Event] = [:]
      var id = 0
      func newEvent(_ size: Int) -> Event {
        id += 1
        return Event(id, size: size)
      }
      disk.beforeCall = { operation in
        do { try beside.look(before: operation) } catch { Issue.record("seed \(seed): \(error)") }
      }
      for _ in 0..<50 {
        (disk.failingOperation, disk.capacity) = (nil, .max)
        switch random.below(6) {
        case 0:
          let operations = [
            "write", "synchronize", "truncate", "rename", "open folder", "synchronize folder", "remove",
          ]
          disk.failingOperation = operations[random.below(operations.count)]
        case 1: disk.capacity = disk.used + random.below(random.oneIn(2) ? 100 : 70_000)
        default: break
        }
        if random.oneIn(6) { disk.failingOperation = "truncate" }
        do {
          switch random.below(12) {
          case 0..<4:
            for _ in 0...random.below(20) {
              let event = newEvent(random.below(random.oneIn(3) ? 20_000 : 300))
              let number = try log.append(event)
              appended[number] = event
            }
          case 4, 5:
            let event = newEvent(random.below(200_000))
            let number = try log.append(event)
            appended[number] = event
          case 6:
            let events = (0...random.below(5)).map { _ in newEvent(random.below(40_000)) }
            for (number, event) in zip(try log.append(group: events), events) { appended[number] = event }
          case 7: try log.flush()
          case 8: try log.synchronize()
          case 9: try log.compact { $0.number % 4 != 1 }
          case 10: try log.removeRecords(before: random.below(log.count + 1))
          default: try log.close()
          }
        } catch is RecordLogError {}
        if log.state.withLock({ $0.writer == nil || $0.writer?.failure != nil }) {
          try? log.close()
          // What was in memory is lost.
          (disk.failingOperation, disk.capacity) = (nil, .max)
          log = try open()
          appended = appended.filter { $0.key < log.count }
        }
      }
      (disk.failingOperation, disk.capacity) = (nil, .max)
      try log.synchronize()
      disk.beforeCall = nil
      try beside.look()
      var count = 0
      for record in log.records {
        let event = try record.decode(Event.self)
        #expect(beside.seen[record.number] == event, "seed \(seed), record \(record.number)")
        #expect(appended[record.number].map { $0 == event } ?? true)
        count += 1
      }
      #expect(count > 0 && log.damage.isEmpty)
    }
  }

  @Test(arguments: [nil, 65_536], [3, 30])
  func whereAFileThatWasReplacedCannotBeUsedTheNewOneIsRead(_ segmentSize: Int?, _ count: Int) throws {
    let disk = SimulatedDisk()
    disk.forgetsNameless = true
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    for id in 0..<count { try log.append(Event(id, size: 10_000)) }
    try log.flush()
    let reader = try RecordLogReader(at: "/log", on: disk)
    #expect(reader.count == count)
    try log.compact { $0.number % 3 != 1 }
    try log.append(Event(count))
    try log.flush()
    let numbers = (0...count).filter { $0 % 3 != 1 || $0 == count }
    #expect(reader.count == count + 1 && reader.records.map(\.number) == numbers)
    #expect(try reader.last?.number == count && reader.verify().isEmpty)
  }

  /// A writer that was killed may have left many blocks of one.
  @Test(arguments: [nil, 65_536])
  func aGroupThatIsNotFinishedIsLookedAtOnce(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    func open() throws -> RecordLog { try RecordLog(at: "/log", on: disk, segmentSize: segmentSize) }
    let log = try open()
    try log.append(Event(0))
    try log.append(Event(1, size: 1_000_000))
    try log.flush()
    let path = try #require(segmentSize == nil ? "/log" : disk.files(in: "/log").first)
    disk.stop()
    disk.cutOff(path, to: 900_000)
    let reader = try RecordLogReader(at: "/log", on: disk)
    disk.now += 10_000
    #expect(reader.count == 1)
    let calls = disk.calls
    #expect(reader.count == 1)
    #expect(disk.calls - calls < 10)
    let next = try open()
    try next.append(Event(2))
    try next.flush()
    #expect(reader.count == 3)
    #expect(reader.records.map(\.number) == [0, 2])
  }

  @Test(arguments: [nil, 65_536])
  func aCopyInPlaceOfTheLogIsRead(_ segmentSize: Int?) throws {
    for forgetsNameless in [false, true] {
      let disk = SimulatedDisk()
      disk.forgetsNameless = forgetsNameless
      do {
        let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
        for id in 0..<10 { try log.append(Event(id, size: 10_000)) }
        try log.close()
      }
      let reader = try RecordLogReader(at: "/log", on: disk)
      disk.move("/log", to: "/moved")
      disk.duplicate("/moved", as: "/log")
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(Event(10))
      try log.flush()
      reader.lookAgain()
      #expect(reader.count == 11 && reader.records.map(\.number) == Array(0...10))
    }
  }

  @Test(arguments: [nil, 65_536])
  func whatACompactionLeftOutIsFollowedAfterAMomentOfFailures(_ segmentSize: Int?) async throws {
    for call in 0..<20 {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
      try log.append(Event(0))
      try log.flush()
      let reader = try RecordLogReader(at: "/log", on: disk)
      var following = reader.follow(from: 0).makeAsyncIterator()
      #expect(try await following.next()?.number == 0)
      for id in 1..<3 { try log.append(Event(id)) }
      try log.compact { $0.number != 1 }
      try log.append(Event(3))
      try log.flush()
      disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
      var numbers: [Int] = []
      while numbers.last ?? 0 < 3 {
        do {
          try await following.next().map { numbers.append($0.number) }
        } catch {
          disk.failing = 0..<0
        }
        // What could not be read is skipped, and there must be something after it.
        try log.append(Event(log.count))
        try? log.flush()
      }
      #expect(numbers.starts(with: [1, 2, 3]) || !reader.damage.isEmpty, "call \(call): \(numbers)")
    }
  }

  @Test(arguments: [nil, 65_536])
  func whereAFileThatWasReplacedCannotBeUsedTheNewOneIsFollowed(_ segmentSize: Int?) async throws {
    let disk = SimulatedDisk()
    disk.forgetsNameless = true
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    try log.append(Event(0))
    try log.flush()
    var records = try RecordLogReader(at: "/log", on: disk).follow(from: 0).makeAsyncIterator()
    #expect(try await records.next()?.number == 0)
    try log.compact { _ in true }
    try log.append(Event(1))
    try log.flush()
    #expect(try await records.next()?.number == 1)
  }

  @Test(
    "a reader whose log is replaced reports nothing else, at any step of the new log's creation",
    arguments: [nil, 65_536])
  func replacement(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    try log.append(contentsOf: 0..<10)
    try log.close()
    let readers = try (0..<60).map { _ in try RecordLogReader(at: "/log", on: disk) }
    disk.move("/log", to: "/old")
    var reasons: Set<RecordLogError.Reason> = []
    var calls = 0
    disk.beforeCall = { _ in
      do {
        _ = try readers[min(calls, readers.count - 1)].verify()
      } catch {
        if let error = error as? RecordLogError { reasons.insert(error.reason) }
      }
      calls += 1
    }
    let new = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    disk.beforeCall = nil
    #expect(calls > 5 && reasons.isSubset(of: [.replaced]))
    #expect { try readers[0].verify() } throws: { ($0 as? RecordLogError)?.reason == .replaced }
    #expect(try new.append(1) == 0)
  }

  @Test("a new log or segment does not replace a file that appears at its path meanwhile")
  func madeMeanwhile() throws {
    let disk = SimulatedDisk()
    let path = Segment(from: 7, in: "/folder").path
    disk.beforeCall = {
      if $0 == "rename", disk.bytes(of: "/log") == nil { disk.setBytes(Array("mine".utf8), of: "/log") }
    }
    #expect { try RecordLog(at: "/log", on: disk) } throws: { ($0 as? RecordLogError)?.reason == .notALog }
    #expect(disk.bytes(of: "/log") == Array("mine".utf8) && disk.files(in: "") == ["/log"])
    disk.beforeCall = nil
    let log = try RecordLog(at: "/folder", on: disk, segmentSize: 65_536)
    for id in 0..<7 { try log.append(Event(id, size: 9_000)) }
    disk.beforeCall = { if $0 == "rename" { disk.setBytes(Array("mine".utf8), of: path) } }
    #expect { try log.append(Event(7)) } throws: { ($0 as? RecordLogError)?.reason == .replaced }
    #expect(disk.bytes(of: path) == Array("mine".utf8))
  }
}

extension RecordLogReader {
  /// Has a reader of a folder look for other files there, as if it had done so last more than a second ago.
  func lookAgain() { state.withLock { $0.listed -= .seconds(2) } }
}
