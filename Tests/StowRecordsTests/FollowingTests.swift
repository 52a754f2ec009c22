import Foundation
import Testing

@testable import StowRecords

/// Waiting for records that are still to come.
@Suite("Following a log")
struct FollowingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func whoFollowsSeesWhatIsThereAndWhatComes() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    try log.append(contentsOf: (0..<10).map { Event($0) })
    let followed = log.follow(from: 5)
    let reading = Task {
      var ids: [Int] = []
      for try await record in followed {
        ids.append(try record.decode(Event.self).id)
        if ids.count == 15 { break }
      }
      return ids
    }
    for id in 10..<20 {
      try log.append(Event(id))
      await Task.yield()
    }
    #expect(try await reading.value == Array(5..<20))
  }

  @Test func aDiskThatIsFullForAWhileEndsNoFollowing() async throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    disk.simulated.capacity = disk.simulated.used
    let (failures, failure) = AsyncStream.makeStream(of: Void.self)
    // What is left of a write that failed is cut off.
    disk.beforeSynchronizing = { failure.yield() }
    try log.append(Event(0))
    let following = Task { try await log.follow(from: 0).first { _ in true }?.number }
    for await _ in failures { break }
    disk.simulated.capacity = .max
    #expect(try await following.value == 0)
  }

  @Test func whoGoesOnAfterATaskThatWasCancelledWaits() async throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    let iterator = try RecordLogReader(at: "/log", on: disk).follow(from: 0).makeAsyncIterator()
    let cancelled = Task {
      var iterator = iterator
      _ = try await iterator.next()
      return iterator
    }
    // It looks for records before it waits, and once more.
    let before = disk.calls
    while disk.calls < before + 20 { await Task.yield() }
    cancelled.cancel()
    var again = try await cancelled.value
    let calls = disk.calls
    let waiting = Task { try await again.next()?.number }
    let slept = try await ContinuousClock().measure { try await Task.sleep(for: .milliseconds(100)) }
    // It is looked at fifty times a second, and not all the time.
    #expect(disk.calls < calls + 200 + Int(slept / .milliseconds(1)))
    try log.append(Event(0))
    try log.flush()
    #expect(try await waiting.value == 0)
  }

  @Test func followingEndsWhenItsTaskIsCancelledOrTheLogIsClosed() async throws {
    let log = try RecordLog(at: folder.log)
    let cancelled = Task { try await log.follow(from: 0).reduce(0) { count, _ in count + 1 } }
    let closed = Task { try await log.follow(from: 0).reduce(0) { count, _ in count + 1 } }
    cancelled.cancel()
    #expect(try await cancelled.value == 0)
    try log.close()
    #expect(try await closed.value == 0)
  }

  /// No clock wakes anybody here: a change that is not told makes the test wait for ever.
  @Test func readersAreWokenByTheSystem() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    let reader = try RecordLogReader(at: folder.log)
    let waking = FollowerWaking(reader, lookingEvery: .seconds(1 << 20))
    try log.append(Event(0))
    try log.flush()
    #expect(await waking.wait())
    try log.compact { _ in true }
    #expect(await waking.wait())
    let other = FollowerWaking(reader, lookingEvery: .seconds(1 << 20))
    try log.append(Event(1))
    try log.flush()
    #expect(await other.wait())
  }

  @Test func whoFollowsAWriterIsWokenByIt() async throws {
    let log = try RecordLog(at: "/log", on: SimulatedDisk())
    let waking = FollowerWaking(log, lookingEvery: .seconds(1 << 20))
    try log.append(Event(0))
    #expect(await waking.wait())
    try await log.appendDurably(Event(1))
    #expect(await waking.wait())
    try log.compact { _ in true }
    #expect(await waking.wait())
    try log.close()
    #expect(await waking.wait())
  }

  @Test func theNumberOfTheFirstRecordToFollowStays() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    try log.append(contentsOf: (0..<10).map { Event($0) })
    let followed = log.follow(from: log.count)
    try log.compact { $0.number >= 7 }
    try log.append(Event(10))
    var iterator = followed.makeAsyncIterator()
    let record = try await iterator.next()
    #expect(try record?.decode(Event.self).id == 10)
    #expect(record?.number == 10)
  }

  @Test(arguments: [true, false])
  func aFollowerGoesOnAfterWhatACompactionKept(_ isReader: Bool) async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    try log.append(contentsOf: (0..<10).map { Event($0) })
    try log.flush()
    var iterator = (isReader ? try RecordLogReader(at: folder.log) : log).follow(from: 0)
      .makeAsyncIterator()
    for id in 0..<8 { #expect(try await iterator.next()?.decode(Event.self).id == id) }
    try log.append(Event(10))
    try log.compact { $0.number % 2 == 0 }
    try log.append(Event(11))
    try log.flush()
    // What is left of the old file; then what came after it.
    for (id, number) in [(8, 8), (9, 9), (10, 10), (11, 11)] {
      let record = try await iterator.next()
      #expect(try record?.decode(Event.self).id == id)
      #expect(record?.number == number)
    }
  }

  @Test(arguments: [true, false])
  func whatIsLeftOfASegmentComesBeforeTheNext(_ isReader: Bool) async throws {
    let log = try RecordLog(at: folder.log, segmentSize: 65_536, durability: .manual)
    try log.append(Event(0))
    try log.flush()
    var iterator = (isReader ? try RecordLogReader(at: folder.log) : log).follow(from: 0)
      .makeAsyncIterator()
    #expect(try await iterator.next()?.number == 0)
    try log.append(contentsOf: (1..<5).map { Event($0) })
    try log.compact { $0.number % 2 == 0 }
    try log.append(Event(5))
    try log.flush()
    for number in 1...5 { #expect(try await iterator.next()?.number == number) }
  }

  @Test func aNumberThatNeverComesIsWaitedFor() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    let waiting = Task { try await log.follow(from: .max).first { _ in true } == nil }
    for id in 0..<5 {
      try log.append(Event(id))
      try log.compact { _ in true }
      await Task.yield()
    }
    try log.close()
    #expect(try await waiting.value)
  }

  @Test func compactionsThatFollowEachOtherLoseNothing() async throws {
    let log = try RecordLog(at: folder.log, durability: .manual)
    var iterator = try RecordLogReader(at: folder.log).follow(from: 0).makeAsyncIterator()
    try log.append(Event(0))
    try log.flush()
    #expect(try await iterator.next()?.number == 0)
    for round in 1..<5 {
      for number in (round * 10)..<(round * 10 + 10) { #expect(try log.append(Event(number)) == number - 9) }
      try log.compact { $0.number % 2 == 0 }
      try log.compact { $0.number % 3 == 0 }
    }
    try log.append(Event(0))
    try log.flush()
    // What was in the file of which it has read the first record; of all others what is left.
    for number in Array(1...10) + [12, 18, 24, 30, 36, 41] {
      #expect(try await iterator.next()?.number == number)
    }
  }

  @Test func anotherLogInItsPlaceIsAnError() async throws {
    let log = try RecordLog(at: folder.log)
    try log.append(Event(0))
    try log.flush()
    var iterator = try RecordLogReader(at: folder.log).follow(from: 0).makeAsyncIterator()
    _ = try await iterator.next()
    // What is left of the file comes first.
    try log.append(Event(1))
    try log.flush()
    let other = folder.url.appending(path: "other")
    try RecordLog(at: other).append(Event(1))
    try FileManager.default.removeItem(at: folder.log)
    try FileManager.default.moveItem(at: other, to: folder.log)
    #expect(try await iterator.next()?.number == 1)
    do {
      _ = try await iterator.next()
      Issue.record("no error")
    } catch let error as RecordLogError {
      #expect(error.reason == .replaced)
    }
  }
}
