import Foundation
import Testing

/// How long the processor works on this thread for `body`, in nanoseconds. Other threads and processes do not
/// count.
func processorTime(_ body: () throws -> Void) rethrows -> Double {
  let start = threadTime()
  try body()
  return threadTime() - start
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Checks that so many times the size takes less than three times as much more time: what is quadratic takes as many
/// times more again.
func expectLinear(
  small: Int, times growth: Int = 16, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Int) throws -> Void
) throws {
  try body(small)
  // The fastest of three runs: the others found other things in the caches.
  func fastest(_ size: Int) throws -> Double {
    try (0..<3).map { _ in try processorTime { try body(size) } }.min() ?? 0
  }
  let (short, long) = (try fastest(small), try fastest(small * growth))
  let growths = "\(small): \(short) ns, \(small * growth): \(long) ns"
  #expect(long < short * Double(growth * 3), "\(growths)", sourceLocation: sourceLocation)
}
