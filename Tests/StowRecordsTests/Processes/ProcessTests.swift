import Foundation
import Testing

@testable import StowRecords

/// Several processes with one log, and one that is killed.
@Suite(.serialized)
struct ProcessTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// How often a process is killed: `STOW_CRASH_ROUNDS` sets it.
  private func rounds(_ standard: Int) -> Int {
    ProcessInfo.processInfo.environment["STOW_CRASH_ROUNDS"].flatMap(Int.init) ?? standard
  }

  @Test(arguments: [false, true])
  func aProcessThatIsKilledLosesNothingThatWasWritten(_ isFolder: Bool) throws {
    var written = -1
    let rounds = rounds(isFolder ? 15 : 30)
    for round in 0..<rounds {
      let worker = try Worker(["crash", folder.log.path, "\(round)"] + (isFolder ? ["SEGMENTS"] : []))
      // Sometimes before it has even opened the log, and mostly while it writes: somewhere after what it said last.
      for _ in 0..<(round % 5) { worker.waitForOutput() }
      worker.kill()
      written = max(written, try worker.lines().last.flatMap { Int($0) } ?? -1)
      try expectWhole(atLeast: written, "round \(round)")
    }
    #expect(written > rounds)
  }

  /// All records up to one that was written are there, except those that a compaction left out.
  private func expectWhole(atLeast written: Int, _ what: String) throws {
    // The first worker may have been killed before the log was made.
    guard let log = try? RecordLogReader(at: folder.log) else {
      #expect(written == -1, "\(what)")
      return
    }
    var last: Int?
    for record in log.records {
      let value = try record.decode(LoggedValue.self)
      #expect(value.isRight, "\(what): \(value.id)")
      if let last {
        #expect(
          value.id > last && ((last + 1)..<value.id).allSatisfy(LoggedValue.isDropped),
          "\(what): \(last), \(value.id)")
      }
      last = value.id
    }
    #expect(log.damage.isEmpty, "\(what): \(log.damage)")
    let end = last ?? -1
    #expect(end >= written || ((end + 1)...written).allSatisfy(LoggedValue.isDropped), "\(what): \(end) of \(written)")
    let saved = folder.log.appendingPathExtension("index")
    let index = try log.index(of: LoggedValue.self, by: \.key, savedAt: saved)
    let made = try log.index(of: LoggedValue.self, by: \.key)
    #expect(Set(index.keys) == Set(made.keys), "\(what)")
    for key in index.keys {
      #expect(try index.record(for: key)?.number == made.record(for: key)?.number, "\(what)")
    }
  }

  /// Three processes take turns. The one that has the log is killed, or one that waits for it, and another comes in its
  /// place.
  @Test(arguments: [false, true])
  func whatManyTasksHaveAppendedDurablyIsThereAfterAKill(_ isFolder: Bool) throws {
    var (said, seen) = ([Int: Int](), [Int: Int]())
    var started = 0
    func start() throws -> Worker {
      started += 1
      let arguments = ["durably", folder.log.path, "16", "\(started)"]
      return try Worker(arguments + (isFolder ? ["SEGMENTS"] : []))
    }
    func kill(_ worker: Worker) throws {
      worker.kill()
      for line in try worker.lines() {
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.count == 2 && said.updateValue(numbers[1], forKey: numbers[0]) == nil, "\(line)")
      }
    }
    var workers = try (0..<3).map { _ in try start() }
    let rounds = rounds(10)
    for round in 0..<rounds {
      var last = 0
      for _ in 0...(round * 7 % 50) {
        let worker = try #require(Worker.nextToPrint(of: workers))
        last = workers.firstIndex { $0 === worker } ?? 0
      }
      try kill(workers.remove(at: round % 3 == 2 ? (last + 1) % 3 : last))
      workers.append(try start())
      try expectOneRecord(ofEach: said, &seen, "round \(round)")
    }
    for worker in workers { try kill(worker) }
    try expectOneRecord(ofEach: said, &seen, "in the end")
    #expect(said.count > rounds * 10)
  }

  /// What was said to be there is there, unless a compaction left it out; nothing is there twice, and all numbers stay
  /// the same.
  private func expectOneRecord(ofEach said: [Int: Int], _ seen: inout [Int: Int], _ what: String) throws {
    let log = try RecordLogReader(at: folder.log)
    var found: [Int: Int] = [:]
    for record in log.records {
      let value = try record.decode(LoggedValue.self)
      #expect(value.isRight, "\(what): \(value.id)")
      found[record.number] = value.id
    }
    #expect(Set(found.values).count == found.count, "\(what)")
    for (number, id) in seen.merging(said, uniquingKeysWith: { $1 }) {
      let isThere = found[number] == id || (found[number] == nil && LoggedValue.isDropped(id))
      #expect(isThere && seen[number] ?? id == id, "\(what): \(number), \(id)")
    }
    seen.merge(found) { $1 }
    #expect(log.damage.isEmpty, "\(what): \(log.damage)")
  }

  @Test func aSecondWriterIsRefused() throws {
    let log = try RecordLog(at: folder.log)
    #expect(try Worker("open", folder.log.path).lines() == ["inUse"])
    #expect { try RecordLog(at: folder.log) } throws: { ($0 as? RecordLogError)?.reason == .inUse }
    try log.append(1)
    try log.compact { _ in true }
    #expect(try Worker("open", folder.log.path).lines() == ["inUse"])
    try log.close()
    #expect(try Worker("open", folder.log.path).lines() == ["opened 1"])
    let segments = folder.url.appending(path: "segments")
    let other = try RecordLog(at: segments, segmentSize: 65_536)
    #expect(try Worker("open", segments.path).lines() == ["inUse"])
    try other.close()
    #expect(try Worker("open", segments.path).lines() == ["opened 0"])
  }

  #if os(Linux)
    @Test func aChildThatExitsLeavesTheLogToItsParent() throws {
      let lines = try Worker("fork", folder.log.path).lines()
      #expect(lines == ["refused", "refused", "refused", "inUse", "1000"])
      let log = try RecordLogReader(at: folder.log)
      #expect(try log.records.map { try $0.decode(Int.self) } == Array(0..<1000))
      #expect(try log.verify().isEmpty)
    }
  #endif

  @Test func aReaderSeesWholeRecordsBesideAWriter() throws {
    let reader = try reader()
    let worker = try Worker("feed", folder.log.path, "1500")
    while worker.waitForOutput() {
      let values = try reader.records.map { try $0.decode(LoggedValue.self) }
      #expect(values.allSatisfy { $0.isRight })
    }
    _ = try worker.lines()
    #expect(try reader.records.map { try $0.decode(LoggedValue.self).id }.last == 1_499)
    #expect(reader.damage.isEmpty)
  }

  @Test func recordsAreFollowedAcrossProcessesAndCompactions() async throws {
    let reader = try reader()
    let worker = try Worker("feed", folder.log.path, "1000")
    var ids: [Int] = []
    for try await record in reader.follow(from: 0) {
      ids.append(try record.decode(LoggedValue.self).id)
      if ids.last == 999 { break }
    }
    _ = try worker.lines()
    // Each once, those too that the compaction left out: the old file is read to its end.
    #expect(ids == Array(0..<1000))
    #expect(reader.count == 1000 && Array(reader.records).count < 1000)
  }

  @Test func aFolderIsFollowedAcrossProcessesRemovalsAndCompactions() async throws {
    try RecordLog(at: folder.log, segmentSize: 1).close()
    let reader = try RecordLogReader(at: folder.log)
    let rounds = 100
    let worker = try Worker("segments", folder.log.path, "\(rounds)")
    let last = rounds * 20
    // Every number is one of a record that is there, or of one that the follower is told was removed, or of one that a
    // compaction may have left out.
    var (next, seen) = (0, 0)
    while next <= last {
      do {
        for try await record in reader.follow(from: next) {
          let value = try record.decode(LoggedValue.self)
          #expect(value.isRight && value.id == record.number && record.number >= next)
          #expect((next..<record.number).allSatisfy(LoggedValue.isDropped), "\(next) to \(record.number)")
          (next, seen) = (record.number + 1, seen + 1)
          if next > last { break }
        }
      } catch let error as RecordLogError {
        guard case .removed(let number, let first) = error.reason else { throw error }
        #expect(number == next && first > next)
        next = first
      }
    }
    #expect(try worker.lines() == ["\(last + 1)"])
    #expect(seen > 100 && reader.count == last + 1 && reader.firstNumber > last - 500)
    #expect(try reader.verify().isEmpty)
  }

  /// Somebody who reads a log that has no records yet.
  private func reader() throws -> RecordLogReader {
    try RecordLog(at: folder.log).close()
    return try RecordLogReader(at: folder.log)
  }
}
