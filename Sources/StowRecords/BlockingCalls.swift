import Dispatch

/// A thread for calls that wait for the disk, one after the other. It is not one of Swift's pool: that has as many as the
/// machine has cores, and all tasks of the process would wait, too.
struct BlockingCalls: Sendable {
  // A queue that is serial gets a thread also where those of the pool are all busy.
  private let queue = DispatchQueue(label: "StowRecords", qos: .utility)

  /// Runs `body`, and returns its result.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Runs `body`, without anybody who waits for it.
  func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after some time.
  func run(after interval: Duration, _ body: @escaping @Sendable () -> Void) {
    // Some decades are as long as any interval, and no sum of nanoseconds overflows.
    let seconds = max(0, min(interval, .seconds(1 << 30)) / .seconds(1))
    queue.asyncAfter(deadline: .now() + seconds, execute: body)
  }
}
