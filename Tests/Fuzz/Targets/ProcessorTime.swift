import Foundation

/// How long the processor works on this thread for `body`, in nanoseconds. Other threads and processes do not count.
public func processorTime(_ body: () throws -> Void) rethrows -> Double {
  let start = threadTime()
  try body()
  return threadTime() - start
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
