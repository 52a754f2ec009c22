import Dispatch

/// A serial queue for calls that wait for the disk. They must not block a thread of Swift's pool, which has
/// only as many as the machine has cores: all tasks of the process would wait, too.
struct BlockingCalls: Sendable {
  // A serial queue gets a thread even when all threads of the pool are busy.
  private let queue = DispatchQueue(label: "StowRecords", qos: .utility)

  /// Runs `body`, and returns its result.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Runs `body` without waiting for it.
  func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after an interval.
  func run(after interval: Duration, _ body: @escaping @Sendable () -> Void) {
    // Limits the interval to some decades, so that no sum of nanoseconds overflows.
    let seconds = max(0, min(interval, .seconds(1 << 30)) / .seconds(1))
    queue.asyncAfter(deadline: .now() + seconds, execute: body)
  }
}
