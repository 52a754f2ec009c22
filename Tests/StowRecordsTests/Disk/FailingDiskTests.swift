import Foundation
import Synchronization
import Testing

@testable import StowRecords

@Suite("Temporary disk failures")
struct FailingDiskTests {
  /// Of a new folder, and of an empty file.
  @Test("a failed opening releases the lock even if a forked process has the file open", arguments: [65_536, nil])
  func lockAfterFailure(_ segmentSize: Int?) throws {
    let disk = HookedDisk()
    if segmentSize == nil { disk.simulated.setBytes([], of: "/log") }
    disk.keepsFiles = true
    disk.simulated.failingOperation = "synchronize folder"
    #expect(throws: RecordLogError.self) { try RecordLog(at: "/log", on: disk, segmentSize: segmentSize) }
    disk.simulated.failingOperation = nil
    #expect(try RecordLog(at: "/log", on: disk, segmentSize: segmentSize).append(Event(0)) == 0)
  }

  @Test("a failed synchronization is remembered if it occurs while a partial write is removed")
  func synchronizationWhileRemoving() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    try log.flush()
    disk.simulated.capacity = try #require(disk.simulated.bytes(of: "/log")).count + 3
    disk.beforeSynchronizing = { throw SystemError(operation: "synchronize", code: 5) }
    try log.append(Event(1))
    #expect(throws: RecordLogError.self) { try log.flush() }
    disk.beforeSynchronizing = {}
    disk.simulated.capacity = .max
    #expect { try log.synchronize() } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
    #expect(throws: RecordLogError.self) { try log.append(Event(2)) }
  }

  @Test("running out of room while synchronizing is not reported as an error that can be retried")
  func fullWhileSynchronizing() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    disk.beforeSynchronizing = { throw SystemError(operation: "synchronize", code: 28) }
    #expect { try log.synchronize() } throws: {
      ($0 as? RecordLogError)?.reason == .system(operation: "synchronize", code: 28)
    }
    disk.beforeSynchronizing = {}
    #expect { try log.append(Event(1)) } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
  }

  @Test("a record that a full disk cut short is removed only once")
  func removingOnce() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    disk.capacity = disk.used + 3
    try log.append(Event(0))
    #expect(throws: RecordLogError.self) { try log.flush() }
    disk.capacity = .max
    try log.flush()
    let synchronizations = log.counters.synchronizations
    try log.append(Event(1))
    try log.flush()
    #expect(log.counters.synchronizations == synchronizations)
  }

  @Test("closing writes records that stayed in memory because the disk was full")
  func closingAfterAFullDisk() async throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .interval(.milliseconds(100)))
    let (errors, error) = AsyncStream.makeStream(of: Void.self)
    log.onBackgroundError = { _ in error.yield() }
    disk.capacity = disk.used
    try log.append(Event(0))
    for await _ in errors { break }
    disk.capacity = .max
    #expect { try log.close() } throws: { ($0 as? RecordLogError)?.reason == .diskFull }
    #expect(try RecordLogReader(at: "/log", on: disk).count == 1)
  }

  @Test("an append that fails before the end of the log is rewritten leaves no record", arguments: [false, true])
  func writingAnewFails(isDurably: Bool) async throws {
    let disk = SimulatedDisk()
    let killed = try RecordLog(at: "/log", on: disk)
    for id in 0..<3 { try killed.append(Event(id)) }
    try killed.flush()
    disk.stop()
    let log = try RecordLog(at: "/log", on: disk, durability: .everyAppend)
    func append(_ event: Event) async throws -> Int {
      isDurably ? try await log.appendDurably(event) : try log.append(event)
    }
    disk.unreadable = (40, 5)
    await #expect(throws: RecordLogError.self) { try await append(Event(3)) }
    disk.unreadable = nil
    #expect(log.count == 3)
    #expect(try await append(Event(3)) == 3)
    #expect(try log.records.map { try $0.decode(Event.self).id } == Array(0..<4))
  }

  @Test("nothing is appended after a record that may or may not have been written")
  func lookingUpFailsAfterWriting() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .everyAppend)
    disk.beforeWriting = { disk.simulated.failingOperation = "look up" }
    #expect(throws: RecordLogError.self) { try log.append(Event(0)) }
    disk.beforeWriting = {}
    disk.simulated.failingOperation = nil
    #expect { try log.append(Event(0)) } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
  }

  @Test("an append fails if the new name of a compacted file may not be on the disk")
  func compactionWithoutAName() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .everyAppend)
    try log.append(Event(0))
    disk.failingOperation = "synchronize folder"
    let isDone = DispatchSemaphore(value: 0)
    let value = Doing {
      DispatchQueue.global().async {
        try? log.compact { _ in true }
        isDone.signal()
      }
      // The compaction is to wait for this append, and bringing the record to the disk for the compaction.
      while log.synchronization.withLockIfAvailable({ _ in true }) == true {}
    }
    #expect { try log.append(value) } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
    isDone.wait()
    #expect(throws: RecordLogError.self) { try log.append(Event(2)) }
  }

  @Test(
    "a new name that cannot be brought to the disk causes an error that gives the reason", arguments: [nil, 65_536])
  func tooManyFiles(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    try log.append(Event(0))
    (disk.failingOperation, disk.code) = ("synchronize folder", 24)
    if segmentSize == nil { try log.compact { _ in true } }
    #expect { try segmentSize == nil ? log.flush() : log.compact { _ in true } } throws: {
      ($0 as? RecordLogError)?.reason == .system(operation: "synchronize folder", code: 24)
    }
    disk.failingOperation = nil
    #expect { try log.append(Event(1)) } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
  }

  @Test("a process with too many open files cannot compact but continues to append", arguments: [0, 1])
  func fewFiles(_ more: Int) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    disk.mostFiles = disk.openFiles + more
    #expect { try log.compact { _ in false } } throws: {
      if case .system(_, 24) = ($0 as? RecordLogError)?.reason { true } else { false }
    }
    disk.mostFiles = .max
    #expect(try log.append(Event(1)) == 1 && log.records.map(\.number) == [0, 1])
    #expect(disk.files(in: "") == ["/log"])
  }

  @Test("bytes that a writer cuts off while a reader looks for the end are not an error")
  func cuttingOffBesideAReader() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk.simulated)
    try log.append(Event(0))
    try log.flush()
    let bytes = try #require(disk.simulated.bytes(of: "/log"))
    func tear() {
      disk.beforeReading = {}
      disk.simulated.setBytes(bytes + [1, 2, 3], of: "/log")
      disk.beforeReading = { disk.simulated.setBytes(bytes, of: "/log") }
    }
    tear()
    let reader = try RecordLogReader(at: "/log", on: disk)
    tear()
    #expect(try reader.verify().isEmpty && reader.count == 1)
    withExtendedLifetime(log) {}
  }

  @Test("bytes cut off while a reader looks are not an error even if the writer then writes more")
  func cuttingOffAndWritingBesideAReader() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    try log.flush()
    let short = try #require(disk.bytes(of: "/log"))
    try log.append(Event(1))
    try log.flush()
    let long = try #require(disk.bytes(of: "/log"))
    let reader = try RecordLogReader(at: "/log", on: disk)
    disk.setBytes(short + [1, 2, 3], of: "/log")
    var later = [short, long]
    disk.beforeCall = { operation in
      // Cut off before the reader reads, and longer before it looks up the size again.
      if operation == (later.count == 2 ? "read" : "look up"), !later.isEmpty {
        disk.setBytes(later.removeFirst(), of: "/log")
      }
    }
    var cursor = reader.cursor(from: 0)
    #expect(try cursor.next()?.number == 0)
    disk.beforeCall = nil
    withExtendedLifetime(log) {}
  }

  @Test("a block head that a writer cuts off after the disk was full is not damage")
  func cuttingOffAHead() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0, size: 64_000))
    try log.flush()
    try log.append(Event(1, size: 65_000))
    // All of the head, and a part of the frame after it.
    disk.simulated.capacity = BlockHead.blockSize + BlockHead.size + 10
    disk.simulated.failingOperation = "truncate"
    #expect(throws: RecordLogError.self) { try log.flush() }
    (disk.simulated.capacity, disk.simulated.failingOperation) = (.max, nil)
    let reader = try RecordLogReader(at: "/log", on: disk.simulated)
    let records = reader.records
    var numbers: [Int]?
    disk.beforeSynchronizing = { numbers = numbers ?? records.map(\.number) }
    try log.flush()
    #expect(numbers == [0])
    #expect(reader.damage.isEmpty)
    #expect(reader.records.map(\.number) == [0, 1] && reader.damage.isEmpty)
  }

  @Test("bytes that the system reports as a hole by mistake are not cut off", arguments: [65_536, nil])
  func mistakenHole(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    do {
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize.map { $0 * 10 })
      for id in 0..<50 { try log.append(Event(id, size: 5_000)) }
      try log.flush()
      disk.stop()
    }
    for start in [0, 65_536] {
      disk.holeStart = start
      #expect(try RecordLogReader(at: "/log", on: disk).count == 50)
      let log = try RecordLog(at: "/log", on: disk)
      #expect(try log.records.map { try $0.decode(Event.self).id } == Array(0..<50))
      disk.stop()
    }
  }

  @Test("a reader that cannot open the compacted file keeps the old one and reports no damage")
  func lookingAtTheNewFile() throws {
    for call in 0..<10 {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      for id in 0..<50 { try log.append(Event(id, size: 10_000)) }
      try log.synchronize()
      let reader = try RecordLogReader(at: "/log", on: disk)
      try log.compact { $0.number % 10 == 0 }
      disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
      let records = Array(reader.records)
      disk.failing = 0..<0
      let ids = records.compactMap { try? $0.decode(Event.self).id }
      #expect(ids == Array(0..<50) || ids == [0, 10, 20, 30, 40], "call \(call)")
      let lost = reader.damage.filter { if case .unreadable = $0.reason { false } else { true } }
      #expect(lost.isEmpty, "call \(call)")
    }
  }
}

/// Has something done while it is encoded.
private struct Doing: Encodable {
  let body: () -> Void

  func encode(to encoder: any Encoder) throws {
    body()
    try Event(1).encode(to: encoder)
  }
}

/// Appends a record when it is let go.
private final class Last: Sendable {
  let log: RecordLog

  init(log: RecordLog) { self.log = log }

  deinit { _ = try? log.append(1) }
}

/// Events, until one that throws when it is encoded.
private struct EventOrFailure: Encodable {
  var event: Event?

  func encode(to encoder: any Encoder) throws {
    guard let event else { throw CancellationError() }
    try event.encode(to: encoder)
  }
}

@Suite("Failed batches and exiting processes")
struct FailedBatchTests {
  @Test("records of a failed batch survive a crash if every append synchronizes", arguments: 0..<10 as Range<UInt64>)
  func everyAppend(seed: UInt64) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .everyAppend)
    let events = (0..<10).map { EventOrFailure(event: Event($0, size: 20_000)) }
    #expect(throws: CancellationError.self) { try log.append(contentsOf: events + [EventOrFailure()]) }
    let count = log.count
    #expect(count > 0)
    var random = SeededGenerator(seed: seed)
    disk.crash(&random)
    #expect(try Array(RecordLog(at: "/log", on: disk).records).count == count)
  }

  @Test("records of a failed batch are written after the interval")
  func interval() async throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk, durability: .interval(.milliseconds(10)))
    let (writes, write) = AsyncStream.makeStream(of: Void.self)
    disk.beforeWriting = { write.yield() }
    let events = (0..<2).map { EventOrFailure(event: Event($0)) }
    #expect(throws: CancellationError.self) { try log.append(contentsOf: events + [EventOrFailure()]) }
    #expect(log.count == 2)
    // Nobody but the interval writes them.
    for await _ in writes { break }
    withExtendedLifetime(log) {}
  }

  @Test("a process can exit while a log encodes a value")
  func exitingWhileEncoding() async {
    await #expect(processExitsWith: .success) {
      let log = try RecordLog(at: "/log", on: SimulatedDisk())
      try log.append(Doing { exit(EXIT_SUCCESS) })
    }
  }

  @Test("a process can exit while a log synchronizes or closes, as a signal handler may do")
  func exitingWhileBusy() async {
    await #expect(processExitsWith: .success) {
      let (log, _) = try Self.logThatExits()
      try log.synchronize()
      exit(EXIT_FAILURE)
    }
    await #expect(processExitsWith: .success) {
      let (log, _) = try Self.logThatExits()
      try log.close()
      exit(EXIT_FAILURE)
    }
    // The checkpoint is written when all is synchronized.
    await #expect(processExitsWith: .success) {
      let (log, disk) = try Self.logThatExits()
      disk.beforeSynchronizing = { disk.beforeWriting = { exit(EXIT_SUCCESS) } }
      try log.close()
      exit(EXIT_FAILURE)
    }
  }

  /// A log with a record, which ends the process when it synchronizes.
  private static func logThatExits() throws -> (RecordLog, HookedDisk) {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    disk.beforeSynchronizing = {
      disk.beforeSynchronizing = {}
      exit(EXIT_SUCCESS)
    }
    return (log, disk)
  }

  @Test("a handler of background errors may use the log when it is released")
  func lettingGoOfClosure() async {
    await #expect(processExitsWith: .success) {
      let log = try RecordLog(at: "/log", on: SimulatedDisk())
      log.onBackgroundError = { [last = Last(log: log)] _ in withExtendedLifetime(last) {} }
      log.onBackgroundError = nil
      exit(log.count == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test("an interval may have any length")
  func longestInterval() async {
    await #expect(processExitsWith: .success) {
      let log = try RecordLog(at: "/log", on: SimulatedDisk(), durability: .interval(.seconds(Int64.max)))
      try log.append(Event(0))
      withExtendedLifetime(log) {}
      exit(EXIT_SUCCESS)
    }
  }
}

@Suite("Reading while another thread closes the log")
struct ClosingTests {
  /// What another thread sees while the log writes its last records.
  private func seen<Result: Sendable>(
    closing log: RecordLog, on disk: HookedDisk, _ look: @escaping @Sendable (RecordLog) -> Result
  ) throws -> Result {
    let result = Mutex<Result?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    disk.beforeWriting = {
      DispatchQueue.global().async {
        let found = look(log)
        result.withLock { $0 = found }
        isDone.signal()
      }
      // It may have to wait until this thread has closed the log.
      if isDone.wait(timeout: .now() + 0.3) == .success { isDone.signal() }
    }
    try log.close()
    isDone.wait()
    return try #require(result.withLock { $0 })
  }

  @Test("reading finds all records while another thread closes the log")
  func count() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<5 { try log.append(Event(id)) }
    let counts = try seen(closing: log, on: disk) { [$0.count, Array($0.records).count] }
    #expect(counts == [5, 5])
  }

  @Test("reading finds the records of a compacted log and no damage while it is closed")
  func compacted() throws {
    let disk = HookedDisk()
    try {
      let log = try RecordLog(at: "/log", on: disk)
      for id in 0..<50 { try log.append(Event(id, size: 10_000)) }
      try log.close()
    }()
    let log = try RecordLog(at: "/log", on: disk)
    try log.compact { $0.number == 7 }
    try log.append(Event(1))
    let numbers = try seen(closing: log, on: disk) { $0.records.map(\.number) }
    #expect(numbers == [7, 50])
    #expect(log.damage.isEmpty)
  }
}
