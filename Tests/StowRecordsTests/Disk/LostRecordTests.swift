import Foundation
import Testing

@testable import StowRecords

private func reason(_ error: any Error) -> RecordLogError.Reason? { (error as? RecordLogError)?.reason }

@Suite("Whole records and their numbers")
struct KeptRecordTests {
  /// Five records, each appended by an opening of its own.
  private func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    for id in 0..<5 {
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(Event(id))
      try log.close()
    }
    return disk
  }

  @Test("a flipped bit in the last block costs at most one record and is reported")
  func flippedBit() throws {
    let disk = try disk()
    let bytes = try #require(disk.bytes(of: "/log"))
    var lost: Set<Int> = []
    for place in stride(from: BlockHead.size, to: bytes.count, by: 3) {
      var changed = bytes
      changed[place] ^= 4
      disk.setBytes(changed, of: "/log")
      let log = try RecordLog(at: "/log", on: disk)
      let ids = try log.records.map { try $0.decode(Event.self).id }
      #expect(ids.count >= 4, "byte \(place)")
      #expect(ids == log.records.map(\.number))
      let isTail = log.recovery.bytes.upperBound > 0 && !log.recovery.bytes.isEmpty
      let isReported = try isTail || log.verify().count == 1
      #expect(isReported, "byte \(place)")
      if !isTail { #expect(Array(try #require(disk.bytes(of: "/log")).prefix(changed.count)) == changed) }
      // Appending goes on, and compaction keeps all that can be read.
      let number = try log.append(Event(9))
      #expect(number == (ids.last ?? 0) + 1 || number == 5)
      try log.compact { _ in true }
      #expect(try log.records.map { try $0.decode(Event.self).id } == ids + [9])
      try log.close()
      lost.formUnion(Set(0..<5).subtracting(ids))
    }
    #expect(lost == Set(0..<5))
  }

  @Test("appending continues in a new block after damage, and readers find records on both sides")
  func appendingAfterDamage() throws {
    let disk = try disk()
    var bytes = try #require(disk.bytes(of: "/log"))
    bytes[60] ^= 1
    disk.setBytes(bytes, of: "/log")
    let log = try RecordLog(at: "/log", on: disk)
    #expect(log.count == 5 && log.recovery.bytes.isEmpty)
    #expect(try log.append(Event(5)) == 5)
    try log.synchronize()
    let reader = try RecordLogReader(at: "/log", on: disk)
    let damage = try reader.verify()
    #expect(damage.count == 1 && damage[0].records.count == 1)
    let kept = (0..<6).filter { !damage[0].records.contains($0) }
    #expect(try reader.records.map { try $0.decode(Event.self).id } == kept)
    for number in kept { #expect(try reader.decode(Event.self, at: number).id == number) }
    #expect { try reader.record(at: damage[0].records.lowerBound) } throws: { reason($0) == .damaged(damage[0]) }
    #expect(try #require(disk.bytes(of: "/log")).prefix(bytes.count).elementsEqual(bytes))
  }

  @Test(
    "an unfinished record of several blocks is skipped, and its number is not reused", arguments: [0, 65_536, .max])
  func unfinishedRecord(_ mistakenHole: Int) throws {
    for blocks in 1...3 {
      for torn in [0, 5, 40, 20_000] {
        let disk = SimulatedDisk()
        do {
          let log = try RecordLog(at: "/log", on: disk)
          try log.append(Event(0))
          try log.append(Event(1, size: 300_000))
          try log.close()
        }
        let bytes = try #require(disk.bytes(of: "/log"))
        let size = blocks * BlockHead.blockSize + torn
        disk.setBytes(Array(bytes.prefix(size)), of: "/log")
        disk.holeStart = mistakenHole
        let reader = try RecordLogReader(at: "/log", on: disk)
        #expect(reader.count == 1 && reader.recovery.records == 1..<2)
        #expect(reader.records.map(\.number) == [0])
        for round in 2..<4 {
          let log = try RecordLog(at: "/log", on: disk)
          disk.holeStart = .max
          #expect(log.recovery.records == (round == 2 ? 1..<2 : 3..<3))
          #expect(try log.append(Event(round)) == round)
          #expect(log.records.map(\.number) == [0] + Array(2...round))
          #expect(
            try log.verify().isEmpty && log.damage.isEmpty,
            "\(blocks) blocks and \(torn) bytes, \(round), \(log.recovery)")
          #expect { _ = try log.record(at: 1) } throws: { reason($0) == .noSuchRecord(1, count: round + 1) }
          try log.close()
        }
        #expect(try #require(disk.bytes(of: "/log")).starts(with: bytes.prefix(blocks * BlockHead.blockSize)))
        #expect(reader.records.map(\.number) == [0, 2, 3])
      }
    }
  }

  @Test("a log whose numbers are used up refuses records that no reader would accept")
  func lastNumbers() throws {
    let disk = SimulatedDisk()
    let first = BlockHead.recordLimit - 100
    disk.setBytes(MadeUpFile((first, [(.records, first, [1, 0x91])])).bytes, of: "/log")
    let log = try RecordLog(at: "/log", on: disk)
    var count = 1
    #expect {
      while count < 300 {
        try log.append(Event(count, size: 2_000))
        count += 1
      }
    } throws: {
      reason($0) == .noMoreNumbers
    }
    try log.close()
    #expect(count == 99)
    let reader = try RecordLog(at: "/log", on: disk)
    #expect(reader.recovery.bytes.isEmpty && reader.count == first + 99)
    #expect(reader.records.map(\.number) == Array(first..<(first + 99)))
  }
}

@Suite("Errors of closing and synchronizing")
struct PromiseTests {
  @Test("closing throws synchronizationFailed after a failure to remove what a full disk left")
  func closing() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    try log.flush()
    disk.capacity = try #require(disk.bytes(of: "/log")).count + 100_000
    disk.failingOperation = "synchronize"
    #expect(throws: RecordLogError.self) { try log.append(Event(1, size: 300_000)) }
    disk.failingOperation = nil
    disk.capacity = .max
    #expect { try log.close() } throws: { reason($0) == .synchronizationFailed }
  }

  @Test("closing a log again throws the same error")
  func closingAgain() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    disk.failingOperation = "write"
    for _ in 0..<2 {
      #expect { try log.close() } throws: { reason($0) == .system(operation: "write", code: 5) }
      disk.failingOperation = nil
    }
  }

  /// The system shows what is not on the disk, and takes it for written.
  @Test("after a failed synchronization, the next process's synchronization saves the records")
  func restartAfterAFailedSynchronization() throws {
    for seed in 0..<40 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let disk = SimulatedDisk()
      do {
        let log = try RecordLog(at: "/log", on: disk)
        for id in 0..<random.below(60) { try log.append(Event(id, size: 3_000)) }
        if random.oneIn(2) { try log.synchronize() }
        for _ in 0..<random.below(60) { try log.append(Event(log.count, size: 3_000)) }
        disk.failingOperation = "synchronize"
        #expect(throws: RecordLogError.self) {
          try log.append(Event(log.count))
          try log.synchronize()
        }
        disk.failingOperation = nil
        disk.stop()
      }
      let log = try RecordLog(at: "/log", on: disk)
      let count = log.count
      if random.oneIn(2) { try log.synchronize() } else { try log.close() }
      disk.crash(&random)
      let again = try RecordLog(at: "/log", on: disk)
      #expect(try again.records.map { try $0.decode(Event.self).id } == Array(0..<count), "seed \(seed)")
    }
  }

  @Test("records that could not be rewritten are rewritten by the next synchronization")
  func rewritingThatFails() throws {
    for seed in 0..<20 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let disk = HookedDisk()
      do {
        let log = try RecordLog(at: "/log", on: disk)
        try log.append(Event(0))
        disk.simulated.failingOperation = "synchronize"
        #expect(throws: RecordLogError.self) { try log.synchronize() }
        disk.simulated.failingOperation = nil
        disk.simulated.stop()
      }
      let log = try RecordLog(at: "/log", on: disk, durability: .everyAppend)
      var writes = 0
      disk.beforeWriting = {
        writes += 1
        if writes == 1 { throw SystemError(operation: "write", code: 5) }
      }
      // The old record is written first: without it there is no new one.
      #expect(throws: RecordLogError.self) { try log.append(Event(1)) }
      #expect(log.count == 1)
      if random.oneIn(2) { try log.synchronize() }
      #expect(try log.append(Event(1)) == 1)
      disk.simulated.crash(&random)
      let again = try RecordLog(at: "/log", on: disk)
      #expect(try again.records.map { try $0.decode(Event.self).id } == [0, 1], "seed \(seed)")
    }
  }

  @Test("opening a log that was closed does not rewrite it")
  func openingAfterClosing() throws {
    let disk = HookedDisk()
    do {
      let log = try RecordLog(at: "/log", on: disk)
      for id in 0..<200 { try log.append(Event(id, size: 3_000)) }
      try log.close()
    }
    var writes = 0
    disk.beforeWriting = { writes += 1 }
    let log = try RecordLog(at: "/log", on: disk)
    try log.synchronize()
    // The checkpoint itself.
    #expect(writes <= 1)
    try log.close()
    #expect(writes <= 1)
  }

  @Test("a failed write in the background is reported at once, retried, and thrown by the next call")
  func background() async throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .interval(.milliseconds(1)))
    let (errors, reported) = AsyncStream.makeStream(of: RecordLogError.self)
    let (writes, written) = AsyncStream.makeStream(of: Void.self)
    log.onBackgroundError = { reported.yield($0) }
    disk.simulated.capacity = try #require(disk.simulated.bytes(of: "/log")).count
    try log.append(Event(0))
    var iterator = errors.makeAsyncIterator()
    for _ in 0..<3 { #expect(await iterator.next()?.reason == .diskFull) }
    #expect { try log.append(Event(1)) } throws: { reason($0) == .diskFull }
    disk.beforeSynchronizing = { written.yield() }
    disk.simulated.capacity = .max
    for await _ in writes { break }
    // What failed once more before there was room is thrown now, and the log is closed all the same.
    do { try log.close() } catch { #expect(reason(error) == .diskFull) }
    #expect(try RecordLogReader(at: "/log", on: disk).decode(Event.self, at: 0) == Event(0))
  }
}

@Suite("Another file at the path of the log")
struct DisplacedLogTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What a user does with the file, and what the log then does.
  @Test("another file at the log's path is never written to, replaced or mistaken for the log")
  func displaced() throws {
    let other = Data("not the log".utf8)
    let manager = FileManager.default
    let deeds: [(String, (URL) throws -> Void)] = [
      ("removed", { try manager.removeItem(at: $0) }),
      (
        "replaced",
        {
          try manager.removeItem(at: $0)
          try other.write(to: $0)
        }
      ),
      ("renamed", { try manager.moveItem(at: $0, to: $0.appendingPathExtension("old")) }),
    ]
    let calls: [(String, (RecordLog) throws -> Void)] = [
      ("synchronizing", { try $0.synchronize() }), ("flushing", { try $0.flush() }),
      ("compacting", { try $0.compact { _ in true } }), ("closing", { try $0.close() }),
    ]
    for (deed, perform) in deeds {
      for (name, call) in calls {
        let url = folder.url.appending(path: "\(deed) \(name)")
        let log = try RecordLog(at: url, durability: .manual)
        try log.append(1)
        try log.synchronize()
        try perform(url)
        try log.append(2)
        #expect(throws: RecordLogError.self, "\(deed), \(name)") { try call(log) }
        #expect(throws: RecordLogError.self) { try log.append(3) }
        #expect((try? Data(contentsOf: url)) == (deed == "replaced" ? other : nil), "\(deed), \(name)")
      }
    }
  }

  @Test("a compaction does not replace a log that a second writer made at the same path")
  func secondWriter() throws {
    let first = try RecordLog(at: folder.log, durability: .everyAppend)
    try first.append("first")
    try FileManager.default.removeItem(at: folder.log)
    let second = try RecordLog(at: folder.log, durability: .everyAppend)
    for number in 0..<11 { try second.append("second \(number)") }
    #expect { try first.compact { _ in true } } throws: { reason($0) == .replaced }
    #expect { try first.append("lost") } throws: { reason($0) == .replaced }
    #expect(try RecordLogReader(at: folder.log).count == 11)
    try second.close()
  }

  @Test("a log that another process makes meanwhile is opened, unless a third one makes it again")
  func madeMeanwhile() throws {
    for isMadeAgain in [false, true] {
      let disk = HookedDisk()
      do {
        let other = try RecordLog(at: "/log.stowlog-new", on: disk)
        for id in 0..<3 { try other.append(Event(id, size: 100)) }
        try other.close()
      }
      var isNamed = false
      disk.beforeReading = {
        if isNamed { return }
        isNamed = true
        try disk.simulated.rename("/log.stowlog-new", to: "/log", replacing: false)
        if isMadeAgain { _ = try disk.simulated.open("/log.stowlog-new", .making) }
      }
      if isMadeAgain {
        #expect { try RecordLog(at: "/log", on: disk) } throws: { reason($0) == .inUse }
        #expect(disk.simulated.bytes(of: "/log.stowlog-new") == [])
      } else {
        let log = try RecordLog(at: "/log", on: disk)
        #expect(try log.records.map { try $0.decode(Event.self).id } == [0, 1, 2])
      }
      #expect(isNamed)
    }
  }

  @Test("a log whose folder was moved away adds no segment to a new folder at its path")
  func movedFolder() throws {
    let first = try RecordLog(at: folder.log, segmentSize: 65_536, durability: .manual)
    try first.append("first")
    try first.flush()
    try FileManager.default.moveItem(at: folder.log, to: folder.url.appending(path: "moved"))
    let second = try RecordLog(at: folder.log, segmentSize: 65_536)
    try second.append("second")
    #expect { try first.compact { _ in true } } throws: { reason($0) == .replaced }
    #expect { try first.append("lost") } throws: { reason($0) == .replaced }
    try second.close()
    let records = try RecordLogReader(at: folder.log).records
    #expect(try records.map { try $0.decode(String.self) } == ["second"])
  }

  @Test("a log whose folder was moved away does not compact a copy at its path")
  func compactingBesideACopy() throws {
    for movesLate in [false, true] {
      let disk = SimulatedDisk()
      let first = try Segmented.log(on: disk)
      try Segmented.append(0..<30, to: first)
      try first.compact { _ in true }
      var before: [String: [UInt8]] = [:]
      func move() {
        disk.move(Segmented.folder, to: "/moved")
        disk.duplicate("/moved", as: Segmented.folder)
        before = disk.contents(of: Segmented.folder)
      }
      if !movesLate { move() }
      let second = movesLate ? nil : try Segmented.log(on: disk)
      #expect {
        try first.compact { record in
          if movesLate, record.number == 0 { move() }
          return record.number % 2 == 0
        }
      } throws: {
        reason($0) == .replaced
      }
      #expect(disk.contents(of: Segmented.folder) == before)
      withExtendedLifetime(second) {}
    }
  }

  @Test("a log whose folder was moved away removes no segments from a copy at its path")
  func copiedFolder() throws {
    let first = try RecordLog(at: folder.log, segmentSize: 65_536, durability: .manual)
    for id in 0..<30 { try first.append(Event(id, size: 10_000)) }
    try first.synchronize()
    let moved = folder.url.appending(path: "moved")
    try FileManager.default.moveItem(at: folder.log, to: moved)
    try FileManager.default.copyItem(at: moved, to: folder.log)
    let second = try RecordLog(at: folder.log, segmentSize: 65_536)
    #expect { try first.removeRecords(before: 30) } throws: { reason($0) == .replaced }
    #expect(second.firstNumber == 0 && second.records.map(\.number) == Array(0..<30))
    try second.close()
  }

  @Test("a file that another program truncates causes an error at the next write")
  func truncated() throws {
    for call in 0..<3 {
      let url = folder.url.appending(path: "\(call)")
      let log = try RecordLog(at: url, durability: .manual)
      for id in 0..<100 { try log.append(Event(id, size: 2_000)) }
      try log.synchronize()
      let file = try FileHandle(forWritingTo: url)
      try file.truncate(atOffset: 100_000)
      #expect {
        try log.append(Event(100))
        if call == 0 { try log.synchronize() } else if call == 1 { try log.flush() } else { try log.close() }
      } throws: {
        if case .truncated(100_000, _) = reason($0) { true } else { false }
      }
      let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
      #expect(size == 100_000)
    }
  }

  @Test("a compaction whose renaming succeeds but reports an error continues in the new file")
  func renamed() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<10 { try log.append(Event(id)) }
    disk.renamesAndFails = true
    try log.compact { $0.number % 2 == 0 }
    disk.renamesAndFails = false
    try log.append(Event(10))
    try log.close()
    let reader = try RecordLogReader(at: "/log", on: disk)
    #expect(try reader.records.map { try $0.decode(Event.self).id } == [0, 2, 4, 6, 8, 10])
  }

  @Test("a compaction whose renaming fails continues in the old file")
  func notRenamed() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<10 { try log.append(Event(id)) }
    disk.failingOperation = "rename"
    #expect(throws: RecordLogError.self) { try log.compact { $0.number % 2 == 0 } }
    disk.failingOperation = nil
    try log.append(Event(10))
    try log.close()
    #expect(try RecordLogReader(at: "/log", on: disk).count == 11)
    #expect(disk.bytes(of: "/log.stowlog-new") == nil)
  }
}

@Suite("A disk that cannot be read")
struct UnreadableDiskTests {
  private func log(on disk: SimulatedDisk) throws -> RecordLog {
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<400 { try log.append(Event(id, size: 1_000)) }
    try log.synchronize()
    return log
  }

  /// I/O error, no space left, quota exceeded.
  @Test("a compaction throws any error of reading the disk and drops nothing")
  func compaction() throws {
    for code: Int32 in [5, 28, 122] {
      let disk = SimulatedDisk()
      let log = try log(on: disk)
      disk.unreadable = (offset: 150_000, code: code)
      #expect {
        try log.compact { _ in true }
      } throws: {
        reason($0) == .system(operation: "read", code: code)
      }
      // Iteration passes over the block, and says so afterwards.
      let numbers = log.records.map(\.number)
      #expect(numbers.count > 200 && numbers.count < 400)
      let lost = log.damage.flatMap { Array($0.records) }
      #expect(log.damage.map(\.reason) == [.unreadable(code)] && lost.count == 400 - numbers.count)
      disk.unreadable = nil
      #expect(log.records.map(\.number) == Array(0..<400))
    }
  }

  @Test("a compaction fails if the disk cannot be read directly after damage")
  func compactionAfterDamage() throws {
    let disk = SimulatedDisk()
    let log = try log(on: disk)
    let start = 2 * BlockHead.blockSize
    var bytes = try #require(disk.bytes(of: "/log"))
    bytes[start - 2_000] ^= 1
    disk.setBytes(bytes, of: "/log")
    disk.unreadable = (offset: start + 5_000, code: 5)
    #expect {
      try log.compact { _ in true }
    } throws: {
      reason($0) == .system(operation: "read", code: 5)
    }
    disk.unreadable = nil
    try log.compact { _ in true }
    // Those of one block are lost, and none of the next.
    #expect(Array(log.records).count > 400 - 70)
  }

  @Test("a read that returns fewer bytes than exist is an error, not the end of the log")
  func shortRead() throws {
    let disk = SimulatedDisk()
    let log = try log(on: disk)
    let bytes = disk.bytes(of: "/log")
    for end in [0, 20, 100_000, 200_000, 300_000] {
      disk.readingEnd = end
      #expect(throws: RecordLogError.self, "\(end)") { try log.compact { _ in true } }
      disk.readingEnd = .max
      #expect(log.records.map(\.number) == Array(0..<400))
    }
    try log.close()
    for end in [0, 20, 100_000, 300_000] {
      disk.readingEnd = end
      #expect(throws: RecordLogError.self) { try RecordLog(at: "/log", on: disk) }
    }
    disk.readingEnd = .max
    #expect(disk.bytes(of: "/log")?.starts(with: bytes ?? []) == true)
    #expect(try RecordLog(at: "/log", on: disk).count == 400)
  }
}
