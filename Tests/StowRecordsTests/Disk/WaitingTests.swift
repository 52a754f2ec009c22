import Foundation
import Synchronization
import Testing

@testable import StowRecords

@Suite("Waiting for the disk")
struct WaitingTests {
  /// As many calls as Swift's pool has threads, and one more, wait until a task of that pool lets them go on.
  private static let count = ProcessInfo.processInfo.activeProcessorCount + 1

  private final class Gate: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init() { (arrivals, arrived) = AsyncStream.makeStream() }

    func pass() {
      arrived.yield()
      semaphore.wait()
      semaphore.signal()
    }

    /// Waits until so many calls stand before the gate, and opens it.
    func open(after count: Int) async {
      var left = count
      for await _ in arrivals {
        left -= 1
        if left == 0 { break }
      }
      semaphore.signal()
    }
  }

  @Test("a synchronization in the background takes no thread of Swift's pool")
  func synchronizing() async throws {
    let gate = Gate()
    let logs = try (0..<Self.count).map { _ in
      let disk = HookedDisk()
      let log = try RecordLog(at: "/log", on: disk, durability: .interval(.milliseconds(1)))
      disk.beforeSynchronizing = { gate.pass() }
      try log.append(1)
      return log
    }
    await Task.detached { await gate.open(after: Self.count) }.value
    for log in logs { try log.close() }
  }

  @Test("a follower that waits for the disk takes no thread of Swift's pool")
  func following() async throws {
    let gate = Gate()
    let followers = try (0..<Self.count).map { _ in
      let disk = HookedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(1)
      disk.beforeReading = { gate.pass() }
      return Task { try await log.follow(from: 0).first { _ in true }?.number }
    }
    await Task.detached { await gate.open(after: Self.count) }.value
    for follower in followers { #expect(try await follower.value == 0) }
  }

  @Test("a follower that begins to wait for records takes no thread of Swift's pool")
  func watching() async throws {
    let gate = Gate()
    let followers = try (0..<Self.count).map { _ in
      let disk = HookedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      try log.close()
      let reader = try RecordLogReader(at: "/log", on: disk)
      disk.beforeWatching = { gate.pass() }
      return Task { try await reader.follow(from: 0).first { _ in true }?.number }
    }
    await Task.detached { await gate.open(after: Self.count) }.value
    for follower in followers { follower.cancel() }
    for follower in followers { #expect(try await follower.value == nil) }
  }

  @Test("closing a log that another thread is closing returns once it is closed")
  func closing() throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(1)
    let closed = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Void, any Error>?>(nil)
    disk.beforeSynchronizing = {
      disk.beforeSynchronizing = {}
      Thread.detachNewThread {
        let result = Result {
          try log.close()
          try RecordLog(at: "/log", on: disk).close()
        }
        outcome.withLock { $0 = result }
        closed.signal()
      }
      // That the other thread waits is no event. A `close` that does not wait is done well within this time.
      if closed.wait(timeout: .now() + 0.1) == .success { closed.signal() }
    }
    try log.close()
    closed.wait()
    try outcome.withLock { try $0?.get() }
  }
}
