import Foundation
import FuzzTargets
import Testing

@testable import StowRecords

/// What `appendDurably` returned for is on the disk.
@Suite("Appending durably")
struct DurableAppendTests {
  @Test func recordsOfManyTasksAreThereAfterACrash() async throws {
    for seed in 0..<6 as Range<UInt64> {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(Event(1_000))
      let numbers = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
        for task in 0..<16 {
          group.addTask {
            var numbers: [Int: Int] = [:]
            for round in 0..<20 {
              let id = task * 20 + round
              numbers[try await log.appendDurably(Event(id, size: id % 37 == 0 ? 70_000 : 40))] = id
            }
            return numbers
          }
        }
        return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
      }
      #expect(numbers.count == 320)
      var random = SeededGenerator(seed: seed)
      disk.crash(&random)
      let after = try RecordLogReader(at: "/log", on: disk)
      let ids = try after.records.map { try $0.decode(Event.self).id }
      #expect(ids.count == 321 && ids[0] == 1_000)
      for (number, id) in numbers { #expect(ids[number] == id) }
      // In the order of each task.
      for task in 0..<16 { #expect(ids.filter { $0 / 20 == task } == Array((task * 20)..<(task * 20 + 20))) }
    }
  }

  @Test func tasksThatWaitShareASynchronization() async throws {
    let held = try HeldLog()
    let log = held.log
    let first = Task { try await log.appendDurably(Event(0)) }
    await held.waitUntilHeld()
    // These come while the first waits for the disk.
    let others = (1...64).map { id in Task { try await log.appendDurably(Event(id)) } }
    while log.durableWishes.count < 64 { await Task.yield() }
    held.letGo()
    #expect(try await first.value == 0)
    var numbers: Set<Int> = []
    for other in others { numbers.insert(try await other.value) }
    #expect(numbers == Set(1...64))
    #expect(held.synchronizations.value == 2)
  }

  @Test func oneThatIsCancelledBeforeItsTurnIsNotAppended() async throws {
    let held = try HeldLog()
    let log = held.log
    let first = Task { try await log.appendDurably(Event(0)) }
    await held.waitUntilHeld()
    let second = Task { try await log.appendDurably(Event(1)) }
    while log.durableWishes.count < 1 { await Task.yield() }
    // The first is being brought to the disk, which cannot be called off.
    first.cancel()
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    held.letGo()
    #expect(try await first.value == 0)
    let third = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await log.appendDurably(Event(2))
    }
    await #expect(throws: CancellationError.self) { try await third.value }
    #expect(try await log.appendDurably(Event(3)) == 1)
    #expect(try log.records.map { try $0.decode(Event.self).id } == [0, 3])
  }

  @Test func recordsThatAreWrittenBeforeTheDiskIsFullAreCounted() async throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    let gate = DispatchSemaphore(value: 0)
    log.writingCalls.start { gate.wait() }
    let tasks = (0..<5).map { id in Task { try await log.appendDurably(Event(id, size: 30_000)) } }
    while log.durableWishes.count < 5 { await Task.yield() }
    disk.capacity = disk.used + 100_000
    gate.signal()
    var count = 0
    for task in tasks where (try? await task.value) != nil { count += 1 }
    #expect(0 < count && count < 5)
    #expect(log.count == count && log.counters.appended == count)
  }

  @Test func manyAreCancelledInProportionToTheirNumber() async throws {
    func time(_ count: Int) async throws -> Double {
      let log = try RecordLog(at: "/log", on: SimulatedDisk())
      let gate = DispatchSemaphore(value: 0)
      log.writingCalls.start { gate.wait() }
      let tasks = (0..<count).map { id in Task { try await log.appendDurably(id) } }
      while log.durableWishes.count < count { await Task.yield() }
      let time = processorTime { for task in tasks { task.cancel() } }
      for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
      gate.signal()
      #expect(try await log.appendDurably(0) == 0)
      return time
    }
    var (short, long) = (Double.infinity, Double.infinity)
    // Like `timeRatio`, which cannot wait for tasks.
    for round in 0..<20 where round < 2 || long >= 48 * short {
      short = min(short, try await time(2_000))
      long = min(long, try await time(32_000))
    }
    #expect(long < 48 * short)
  }

  private struct Refused: Error, Encodable {
    func encode(to encoder: any Encoder) throws { throw self }
  }

  @Test func anErrorIsThatOfItsOwnRecord() async throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, maximumRecordSize: 1_000)
    await #expect(throws: Refused.self) { try await log.appendDurably(Refused()) }
    await #expect(throws: RecordLogError.self) { try await log.appendDurably(Event(0, size: 2_000)) }
    #expect(try await log.appendDurably(Event(1)) == 0)
    // What did not get to the disk is not found later; what others have appended is.
    try log.append(Event(2))
    try log.flush()
    disk.capacity = try #require(disk.bytes(of: "/log")).count + 4
    await #expect { try await log.appendDurably(Event(3)) } throws: { ($0 as? RecordLogError)?.reason == .diskFull }
    disk.capacity = .max
    #expect(try await log.appendDurably(Event(4)) == 2)
    #expect(try log.records.map { try $0.decode(Event.self).id } == [1, 2, 4])
    disk.failingOperation = "synchronize"
    await #expect(throws: RecordLogError.self) { try await log.appendDurably(Event(5)) }
    disk.failingOperation = nil
    await #expect { try await log.appendDurably(Event(6)) } throws: {
      ($0 as? RecordLogError)?.reason == .synchronizationFailed
    }
    try? log.close()
    await #expect { try await log.appendDurably(Event(7)) } throws: { ($0 as? RecordLogError)?.reason == .closed }
  }
}

/// A log whose first synchronization waits until it may go on.
private final class HeldLog: Sendable {
  let log: RecordLog
  let synchronizations = Counter()
  private let gate = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Void>

  init() throws {
    let disk = HookedDisk()
    let (arrivals, arrived) = AsyncStream<Void>.makeStream()
    self.arrivals = arrivals
    log = try RecordLog(at: "/log", on: disk)
    disk.beforeSynchronizing = { [synchronizations, gate] in
      guard synchronizations.next() == 1 else { return }
      arrived.yield()
      gate.wait()
    }
  }

  func waitUntilHeld() async { for await _ in arrivals { break } }

  func letGo() { gate.signal() }
}

private final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var value: Int { lock.withLock { count } }

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
