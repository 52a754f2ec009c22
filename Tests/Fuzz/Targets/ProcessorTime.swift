import Foundation

/// How long the processor works on this thread for `body`, in nanoseconds. Other threads and processes do not count.
public func processorTime(_ body: () throws -> Void) rethrows -> Double {
  let start = threadTime()
  try body()
  return threadTime() - start
}

/// How many times as much of the processor's time `body` takes as `other`, by the shortest run of each.
///
/// Whatever else a machine does makes runs longer, never shorter. Both are therefore measured again until the ratio is
/// below `limit`, at most 50 times.
public func timeRatio(
  of body: () throws -> Void, to other: () throws -> Void, below limit: Double
) rethrows -> Double {
  var (shortest, shortestOther) = (Double.infinity, Double.infinity)
  for round in 0..<50 where round < 3 || shortest >= limit * shortestOther {
    shortestOther = min(shortestOther, try processorTime(other))
    shortest = min(shortest, try processorTime(body))
  }
  return shortest / shortestOther
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
