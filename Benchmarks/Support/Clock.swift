import Dispatch

/// The monotonic clock every figure here is read from, in nanoseconds.
enum Clock {
  /// The time now, in nanoseconds since some fixed moment.
  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// How long `body` takes, in nanoseconds.
  static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = now()
    try body()
    return Double(now() - start)
  }
}
