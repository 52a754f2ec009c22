import Foundation
import Testing

@testable import StowRecords

private func reason(_ error: any Error) -> RecordLogError.Reason? { (error as? RecordLogError)?.reason }

@Suite("Removing records from the front")
struct RemovalTests {
  private let disk = SimulatedDisk()

  @Test("removing records takes whole segments, oldest first, but not the one being written")
  func wholeSegments() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    let segments = Segmented.segments(on: disk)
    for number in 0...60 {
      let first = try log.removeRecords(before: number)
      #expect(first == segments.last { $0.first <= number }?.first)
      #expect(log.firstNumber == first && log.count == 50)
      #expect(Segmented.segments(on: disk) == segments.filter { $0.first >= first })
      #expect(try Segmented.ids(log) == Array(first..<50))
    }
    #expect(try log.verify().isEmpty)
    try log.close()
    #expect(try RecordLogReader(at: Segmented.folder, on: disk).records.count { _ in true } > 0)
    #expect { try log.removeRecords(before: 1) } throws: { reason($0) == .closed }
  }

  @Test("removing segments releases their files, even if they were read")
  func openFiles() throws {
    let log = try Segmented.log(on: disk, retention: .records(20))
    try Segmented.append(0..<200, to: log)
    try log.flush()
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    for reader in [log, reader] { #expect(try Segmented.ids(reader).count >= 20) }
    #expect(try log.removeRecords(before: 200) == reader.firstNumber)
    // The last segment, twice, and the lock of the folder.
    #expect(disk.openFiles == 3)
    withExtendedLifetime((log, reader)) {}
  }

  @Test("removing records has no effect on a log in one file")
  func oneFile() throws {
    let log = try RecordLog(at: "/file", on: disk)
    try Segmented.append(0..<50, to: log)
    #expect(try log.removeRecords(before: 50) == 0)
    #expect(try Segmented.ids(log).count == 50)
  }

  @Test("reading a removed record reports the number of the first record that is left", arguments: [true, false])
  func asking(_ isReader: Bool) async throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.flush()
    let reader = isReader ? try RecordLogReader(at: Segmented.folder, on: disk) : log
    var early = reader.cursor()
    #expect(try early.next()?.number == 0)
    let index = try reader.index(of: Event.self, by: \.id)
    let first = try log.removeRecords(before: 30)
    let told: (any Error) -> Bool = { reason($0) == .removed(3, first: first) }
    #expect { try reader.record(at: 3) } throws: { told($0) }
    var cursor = reader.cursor(from: 3)
    #expect { try cursor.next() } throws: { told($0) }
    #expect(try cursor.next()?.number == first)
    #expect(try cursor.previous()?.number == first && cursor.previous() == nil)
    #expect(try reader.cursor().position == first && reader.first { _ in true }?.number == first)
    #expect(reader.firstNumber == first && reader.records.map(\.number) == Array(first..<50))
    var following = reader.follow(from: 3).makeAsyncIterator()
    do {
      _ = try await following.next()
      Issue.record("no error")
    } catch {
      #expect(told(error))
    }
    #expect(try await reader.follow(from: first).first { _ in true }?.number == first)
    #expect(try reader.partitionPoint { (event: Event) in event.id < 10 } == first)
    #expect(try index.record(for: 3) == nil && index.count == 50 - first)
    #expect(try index.record(for: first)?.number == first && index.outdated == 0)
    // One that was under way reads the file that it has open, and is told then.
    let open = try #require(try reader.first { _ in true }?.number)
    for number in 1..<Segmented.segments(on: disk)[0].first where number < 6 {
      if let next = try? early.next()?.number { #expect(next == number || next == open) }
    }
  }

  /// What an index knows holds until a file is replaced.
  @Test("a removed segment does not count as replaced")
  func removedSegment() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    let (first, id) = (Segmented.segments(on: disk)[0], log.state.withLock { $0.file.origin.log })
    let files = SegmentFiles(disk, Segmented.folder, isFolder: true)
    #expect(try files.open(first, of: id) != nil)
    let generation = files.generation
    try log.removeRecords(before: 30)
    #expect(try files.open(first, of: id) == nil && files.generation == generation)
  }

  @Test("iterations continue with the first record that is left, and cursors report the removal")
  func underWay() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<100, to: log)
    var iterator = log.records.makeIterator()
    var cursor = log.cursor()
    #expect(iterator.next()?.number == 0)
    #expect(try cursor.next()?.number == 0)
    let second = Segmented.segments(on: disk)[1].first
    let first = try log.removeRecords(before: 70)
    let numbers = Array(IteratorSequence(iterator)).map(\.number)
    #expect(numbers == Array(1..<second) + Array(first..<100))
    for number in 1..<second { #expect(try cursor.next()?.number == number) }
    #expect { try cursor.next() } throws: { reason($0) == .removed(second, first: first) }
    #expect(try cursor.next()?.number == first)
    #expect(log.damage.isEmpty)
  }

  @Test("removal stops before a file that may not be a segment of this log")
  func notOurs() throws {
    let other = SimulatedDisk()
    let another = try Segmented.log(on: other)
    try Segmented.append(0..<10, to: another)
    try another.flush()
    let foreign = try #require(other.bytes(of: Segmented.segments(on: other)[0].path))
    for bytes in [foreign, Array("mine".utf8), []] {
      let disk = SimulatedDisk()
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<50, to: log)
      let segments = Segmented.segments(on: disk)
      disk.setBytes(bytes, of: segments[2].path)
      #expect(throws: RecordLogError.self) { try log.removeRecords(before: 50) }
      #expect(log.firstNumber == segments[2].first)
      #expect(Segmented.segments(on: disk) == Array(segments[2...]))
      #expect(disk.bytes(of: segments[2].path) == bytes)
    }
  }

  @Test("retention limits a log by bytes, records and age")
  func retention() throws {
    let disk = SimulatedDisk()
    var log = try Segmented.log(on: disk, retention: .records(20))
    try Segmented.append(0..<100, to: log)
    let first = log.firstNumber
    #expect((70...80).contains(first) && Segmented.segments(on: disk).count < 6)
    try log.close()

    log = try Segmented.log(on: disk, retention: .bytes(4 * 65_536))
    for number in 100..<200 {
      try Segmented.append(number..<(number + 1), to: log)
      try log.flush()
      #expect(disk.used <= 4 * 65_536 + 10_200)
    }
    #expect(Segmented.segments(on: disk).count >= 3)
    try log.close()

    log = try Segmented.log(on: disk, retention: [.age(.seconds(60)), .records(1_000)])
    let before = log.firstNumber
    for number in 200..<300 {
      disk.now += 2_000
      try Segmented.append(number..<(number + 1), to: log)
    }
    // What is younger than a minute is there, and what stands with it.
    #expect(log.firstNumber > before && (255...271).contains(log.firstNumber))
    let kept = log.firstNumber
    try log.close()
    // A clock that went back makes nothing old.
    disk.now = 5
    log = try Segmented.log(on: disk, retention: .age(.seconds(1)))
    #expect(log.firstNumber == kept)
    try log.close()
    disk.now = 10_000_000
    log = try Segmented.log(on: disk, retention: .age(.seconds(1)))
    #expect(Segmented.segments(on: disk).count == 1)
    #expect(try Segmented.ids(log) == Array(log.firstNumber..<300))
  }

  @Test("retention leaves the given number of records even after a crash", arguments: 0..<8 as Range<UInt64>)
  func crashAfterRemoving(seed: UInt64) throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.synchronize()
    try Segmented.append(50..<54, to: log)
    try log.flush()
    disk.stop()
    // The last segment has as many records as retention says, of which some are not synchronized.
    let last = try #require(Segmented.segments(on: disk).last?.first)
    let again = try Segmented.log(on: disk, retention: .records(54 - last))
    #expect(last < 50 && again.firstNumber == last)
    var random = SeededGenerator(seed: seed)
    disk.crash(&random)
    #expect(try Segmented.ids(Segmented.log(on: disk)).count >= 54 - last)
  }

  @Test("a crash during a removal leaves no gap, and the removal can be repeated", arguments: 0..<4 as Range<UInt64>)
  func crashWhileRemoving(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for call in 0..<30 {
      let disk = SimulatedDisk()
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<50, to: log)
      try log.synchronize()
      disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
      _ = try? log.removeRecords(before: 40)
      disk.failing = 0..<0
      let removed = random.oneIn(2) ? try log.removeRecords(before: 40) : 0
      disk.crash(&random)
      let again = try Segmented.log(on: disk)
      #expect(try again.verify().isEmpty && again.firstNumber >= removed, "call \(call)")
    }
  }

  @Test("a clock that ran ahead for a while does not keep old segments")
  func clockAhead() throws {
    var log = try Segmented.log(on: disk)
    for number in 0..<50 {
      disk.now = number / 10 == 2 ? 1 << 40 : UInt64(number + 1) * 1_000
      try Segmented.append(number..<(number + 1), to: log)
    }
    try log.close()
    disk.now = 100_000
    log = try Segmented.log(on: disk, retention: .age(.seconds(60)))
    // Those of the last minute are from 40 on, and what stands with them.
    #expect((33...40).contains(log.firstNumber))
  }

  /// A flipped bit in each byte of the head and of the first frame of an old segment, of one block or of several.
  @Test("a damaged segment is removed in its turn and does not prevent appending", arguments: [65_536, 200_000])
  func damagedSegment(_ segmentSize: Int) throws {
    for place in 0..<(BlockHead.size + Frame.headSize + Origin.size) {
      let disk = SimulatedDisk()
      func open() throws -> RecordLog {
        try RecordLog(at: Segmented.folder, on: disk, segmentSize: segmentSize, retention: .records(40))
      }
      for isCompacted in [false, true] {
        var log = try open()
        let first = log.count
        try Segmented.append(first..<(first + 30), to: log)
        try log.close()
        let segment = try #require(Segmented.segments(on: disk).dropLast().last)
        #expect(disk.flipBit(place % 8, at: place, of: segment.path))
        log = try open()
        if isCompacted { try log.compact { _ in true } }
        try Segmented.append((first + 30)..<(first + 120), to: log)
        #expect(log.firstNumber > segment.first && log.firstNumber >= log.count - 80, "\(place)")
        #expect(!disk.files(in: Segmented.folder).contains(segment.path), "\(place)")
        try log.close()
      }
    }
  }

  @Test("a segment that cannot be removed is reported and makes no call fail", arguments: [true, false])
  func reportedTrouble(_ isForeign: Bool) async throws {
    let (reports, report) = AsyncStream<RecordLogError>.makeStream()
    var received = reports.makeAsyncIterator()
    var log = try Segmented.log(on: disk, retention: .records(10))
    try Segmented.append(0..<10, to: log)
    let segment = Segmented.segments(on: disk)[0]
    let reason: RecordLogError.Reason
    if isForeign {
      disk.setBytes(Array("mine".utf8), of: segment.path)
      reason = .notALog
    } else {
      disk.failingOperation = "remove"
      reason = .system(operation: "remove", code: 5)
    }
    log.onBackgroundError = { report.yield($0) }
    for id in 10..<40 { #expect(try log.append(Event(id, size: 10_000)) == id) }
    #expect(log.firstNumber == 0 && Segmented.segments(on: disk)[0] == segment)
    #expect(await received.next()?.reason == reason)
    #expect(log.damage.map(\.file) == (isForeign ? [segment.path] : []))
    try log.close()
    // The error of an opening reaches whoever wants to hear of errors then.
    log = try Segmented.log(on: disk, retention: .records(10))
    #expect(try log.append(Event(40)) == 40)
    let (early, first) = AsyncStream<RecordLogError>.makeStream()
    log.onBackgroundError = { first.yield($0) }
    var heard = early.makeAsyncIterator()
    #expect(await heard.next()?.reason == reason)
    // A compaction leaves a file alone that is not the log's, and compacts the others.
    if isForeign {
      try log.compact { $0.number % 2 == 0 }
      #expect(disk.bytes(of: segment.path) == Array("mine".utf8))
      let finished = try #require(Segmented.segments(on: disk).last).first
      #expect(
        log.records.map(\.number)
          == (0..<41).filter { $0 >= Segmented.segments(on: disk)[1].first && $0 % 2 == 0 })
      #expect(finished == 41)
    }
  }

  @Test("a segment that retention must not remove costs no record when the log is closed")
  func closingAfterRetentionFailed() throws {
    for count in 10..<30 {
      let disk = SimulatedDisk()
      do {
        let log = try Segmented.log(on: disk, retention: .records(10))
        try Segmented.append(0..<10, to: log)
        disk.setBytes(Array("mine".utf8), of: Segmented.segments(on: disk)[0].path)
        while log.count < count { try log.append(Event(log.count, size: 10_000)) }
        try log.close()
      }
      #expect(try Segmented.log(on: disk).count == count)
    }
  }

  @Test("segment sizes and retention limits may have extreme values")
  func largestSegments() async {
    await #expect(processExitsWith: .success) {
      let disk = SimulatedDisk()
      try Segmented.append(0..<50, to: Segmented.log(on: disk))
      let segments = Segmented.segments(on: disk)
      for bytes in [Int.min, 0, .max - 1] {
        let log = try RecordLog(at: Segmented.folder, on: disk, segmentSize: .max, retention: .bytes(bytes))
        if log.firstNumber != segments.last?.first { exit(EXIT_FAILURE) }
      }
      exit(EXIT_SUCCESS)
    }
  }

  @Test("a clock that goes back between two readings makes no segment old")
  func clockGoingBack() async {
    await #expect(processExitsWith: .success) {
      let disk = HookedDisk()
      let log = try Segmented.log(on: disk, retention: .age(.seconds(60)))
      var times = 0
      disk.beforeTellingTheTime = {
        disk.simulated.now = [10_000, 20_000, 5_000][times % 3]
        times += 1
      }
      try Segmented.append(0..<50, to: log)
      exit(log.firstNumber == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
