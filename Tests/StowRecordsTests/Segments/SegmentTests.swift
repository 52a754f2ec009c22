import Foundation
import Testing

@testable import StowRecords

/// A log in a folder on a simulated disk, with segments of one block.
enum Segmented {
  static let folder = "/log"
  static let size = 65_536

  static func log(
    on disk: any Disk, retention: RecordLog.Retention = [], durability: RecordLog.Durability = .manual
  ) throws -> RecordLog {
    try RecordLog(at: folder, on: disk, segmentSize: size, retention: retention, durability: durability)
  }

  /// Appends records, of which some six have room in a segment.
  static func append(_ numbers: Range<Int>, to log: RecordLog) throws {
    for number in numbers { #expect(try log.append(Event(number, size: 10_000)) == number) }
  }

  static func segments(on disk: SimulatedDisk) -> [Segment] {
    disk.files(in: folder).compactMap { Segment(named: $0.dropFirst(folder.count + 1), in: folder) }
  }

  static func ids(_ log: RecordLogReader) throws -> [Int] {
    try log.records.map { record in
      let id = try record.decode(Event.self).id
      #expect(id == record.number)
      return id
    }
  }
}

private func reason(_ error: any Error) -> RecordLogError.Reason? { (error as? RecordLogError)?.reason }

@Suite("A folder of segments")
struct SegmentTests {
  private let disk = SimulatedDisk()

  @Test("segments are named by the numbers of their first records and read as one log")
  func reading() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    let group = try log.append(group: (50..<60).map { Event($0, size: 30_000) })
    #expect(group == 50..<60)
    try Segmented.append(60..<70, to: log)
    try log.flush()
    let segments = Segmented.segments(on: disk)
    #expect(segments.count > 8 && segments[0].path == "/log/00000000000000000000.stowlog")
    // A group is in one segment.
    #expect(!segments.contains { (51..<60).contains($0.first) })
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    for log in [log, reader] {
      #expect(log.count == 70 && log.firstNumber == 0 && !log.isEmpty)
      #expect(try Segmented.ids(log) == Array(0..<70))
      for number in [0, 69, 5, 6, 7, 49, 50, 55, 60, 5, 6] {
        #expect(try log.decode(Event.self, at: number).id == number)
      }
      #expect(log.records(from: 33).map(\.number) == Array(33..<70))
      var cursor = log.cursor(from: 70)
      for number in (0..<70).reversed() { #expect(try cursor.previous()?.number == number) }
      #expect(try cursor.previous() == nil)
      for number in 0..<70 { #expect(try cursor.next()?.number == number) }
      for id in stride(from: 0, through: 70, by: 7) {
        #expect(try log.partitionPoint { (event: Event) in event.id < id } == id)
      }
      #expect(try log.verify().isEmpty)
      #expect(log.damage.isEmpty)
    }
    // Each segment is a log by itself.
    let alone = try RecordLogReader(at: segments[3].path, on: disk)
    #expect(alone.records.map(\.number) == Array(segments[3].first..<segments[4].first))
  }

  @Test("appending to a folder of segments continues after reopening, in batches of any size")
  func appending() throws {
    for round in 0..<5 {
      let log = try Segmented.log(on: disk)
      let numbers = (round * 40)..<(round * 40 + 40)
      #expect(try log.append(contentsOf: numbers.lazy.map { Event($0, size: 10_000) }) == numbers)
      #expect(try Segmented.ids(log) == Array(0..<numbers.upperBound))
      try log.close()
    }
    #expect(Segmented.segments(on: disk).count > 25)
    // Without a size it is opened all the same.
    let log = try RecordLog(at: Segmented.folder, on: disk)
    try Segmented.append(200..<210, to: log)
    #expect(try Segmented.ids(log).count == 210)
  }

  @Test("opening a folder of segments reads only the last one")
  func opening() throws {
    do {
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<50, to: log)
      try log.close()
    }
    for segment in Segmented.segments(on: disk).dropLast() { disk.setBytes([1, 2, 3], of: segment.path) }
    let log = try Segmented.log(on: disk)
    #expect(try log.append(Event(50)) == 50)
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    try log.flush()
    #expect(reader.count == 51)
    #expect(try reader.decode(Event.self, at: 50).id == 50)
  }

  @Test("a log keeps few files open however many segments it has read")
  func openFiles() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<300, to: log)
    let records = Array(log.records)
    for number in 0..<300 { _ = try log.record(at: number) }
    #expect(Segmented.segments(on: disk).count > 40 && disk.openFiles < 12)
    #expect(try records.map { try $0.decode(Event.self).id } == Array(0..<300))
  }

  @Test("a folder of segments has one writer, even for a segment that is opened as a file")
  func locking() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<20, to: log)
    #expect { try Segmented.log(on: disk) } throws: { reason($0) == .inUse }
    // As one file, the segment that is written is in use, too.
    let last = try #require(Segmented.segments(on: disk).last)
    #expect { try RecordLog(at: last.path, on: disk) } throws: { reason($0) == .inUse }
    try log.close()
    try Segmented.log(on: disk).close()
    #expect { try RecordLog(at: last.path, on: disk, segmentSize: 1) } throws: { reason($0) == .notAFolder }
  }

  @Test("an unrelated folder becomes a log only if a segment size is given")
  func otherFolder() throws {
    let folder = try TemporaryFolder()
    try Data("mine".utf8).write(to: folder.url.appending(path: "file"))
    #expect { try RecordLog(at: folder.url) } throws: { reason($0) == .notALog }
    #expect { try RecordLogReader(at: folder.url) } throws: { reason($0) == .notALog }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file"])
    let log = try RecordLog(at: folder.url, segmentSize: 1 << 20)
    try log.append(1)
    try log.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["00000000000000000000.stowlog", "file", "stowlog-lock"])
    #expect(try RecordLogReader(at: folder.url).decode(Int.self, at: 0) == 1)
  }

  @Test("files that are not segments are left alone, whatever their names are")
  func foreignFiles() throws {
    let names = [
      "0.stowlog", "00000000000000000007.stowlog.old", "0000000000000000000x.stowlog",
      "+0000000000000000009.stowlog",
      "00000000000000000005.stowlog.stowlog-new", "99999999999999999999.stowlog", "notes",
    ]
    try disk.makeFolder(Segmented.folder)
    for name in names { disk.setBytes(Array("mine".utf8), of: "/log/\(name)") }
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.compact { _ in true }
    try log.removeRecords(before: 50)
    try log.close()
    try Segmented.log(on: disk).close()
    for name in names { #expect(disk.bytes(of: "/log/\(name)") == Array("mine".utf8), "\(name)") }
  }

  @Test("a file that has the name of the next segment is not replaced")
  func takenName() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<5, to: log)
    let taken = (5..<10).map { Segment(from: $0, in: Segmented.folder).path }
    for path in taken { disk.setBytes(Array("mine".utf8), of: path) }
    #expect { try Segmented.append(5..<20, to: log) } throws: { reason($0) == .replaced }
    #expect(taken.allSatisfy { disk.bytes(of: $0) == Array("mine".utf8) })
    #expect(disk.files(in: Segmented.folder).count == 7)
  }

  @Test("many tasks append durably while segments are begun")
  func durably() async throws {
    let log = try Segmented.log(on: disk)
    let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
      for id in 0..<100 { group.addTask { try await log.appendDurably(Event(id, size: 3_000)) } }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(numbers == Set(0..<100))
    var random = SeededGenerator(seed: 1)
    disk.crash(&random)
    let records = try Array(Segmented.log(on: disk).records)
    #expect(try Set(records.map { try $0.decode(Event.self).id }) == Set(0..<100))
  }

  @Test("a synchronization succeeds if a new segment is begun meanwhile")
  func synchronizingAFinishedSegment() throws {
    let hooked = HookedDisk()
    let log = try Segmented.log(on: hooked)
    try Segmented.append(0..<3, to: log)
    var isFirst = true
    hooked.beforeSynchronizing = {
      guard isFirst else { return }
      isFirst = false
      try Segmented.append(3..<5, to: log)
    }
    try log.synchronize()
    try Segmented.append(5..<30, to: log)
    try log.synchronize()
    #expect(try Segmented.ids(log) == Array(0..<30))
  }

  @Test("a synchronization that fails while a segment is begun ends appending")
  func failingSynchronization() throws {
    for name in ["synchronize", "synchronize folder"] {
      let disk = SimulatedDisk()
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<5, to: log)
      disk.failingOperation = name
      #expect(throws: RecordLogError.self) { try Segmented.append(5..<20, to: log) }
      disk.failingOperation = nil
      #expect { try log.append(Event(9)) } throws: { reason($0) == .synchronizationFailed }
    }
  }

  @Test("nothing is appended to a segment once the next one may have its name")
  func unansweredRenaming() throws {
    var appended = 0
    for call in 0..<24 {
      let disk = SimulatedDisk()
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<5, to: log)
      try log.synchronize()
      // The segment gets its name, and nobody can tell.
      disk.renamesAndFails = true
      disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
      _ = try? log.compact { _ in true }
      (disk.renamesAndFails, disk.failing) = (false, 0..<0)
      if (try? log.append(Event(5))) != nil {
        try log.synchronize()
        appended += 1
      }
      let count = log.count
      try? log.close()
      #expect(try Segmented.ids(Segmented.log(on: disk)) == Array(0..<count), "call \(call)")
    }
    #expect(appended > 0)
  }

  @Test("a full disk at a new segment is an error, and appending continues once there is room")
  func fullDisk() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<6, to: log)
    try log.flush()
    disk.capacity = disk.used + 5_000
    #expect { try Segmented.append(6..<20, to: log) } throws: { reason($0) == .diskFull }
    let count = log.count
    disk.capacity = .max
    try Segmented.append(count..<20, to: log)
    #expect(try Segmented.ids(log) == Array(0..<20))
    #expect(!disk.files(in: Segmented.folder).contains { $0.hasSuffix("-new") })
  }

  @Test("a process with too many open files begins the segment later", arguments: 0..<3, [0, 1])
  func fewFiles(_ more: Int, seed: UInt64) throws {
    let log = try Segmented.log(on: disk, durability: .everyAppend)
    try Segmented.append(0..<5, to: log)
    disk.mostFiles = disk.openFiles + more
    if more < 2 {
      #expect {
        for _ in 0..<3 { try Segmented.append(log.count..<(log.count + 1), to: log) }
      } throws: {
        if case .system(_, 24) = reason($0) { true } else { false }
      }
    }
    disk.mostFiles = .max
    try Segmented.append(log.count..<20, to: log)
    var random = SeededGenerator(seed: seed)
    disk.crash(&random)
    #expect(try Segmented.ids(Segmented.log(on: disk)) == Array(0..<20))
  }
}
