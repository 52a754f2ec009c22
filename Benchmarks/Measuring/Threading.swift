import Dispatch
import Foundation
import Stow
import Synchronization

/// What one encoder and decoder deliver to several threads at once, and whether sharing one pays.
enum Threading {
  /// Measures people and small messages from one and two threads, then new encoders against a shared one.
  static func measure(quick: Bool) throws -> [ThreadsResult] {
    let people = [Person.make(count: 1000)]
    let small = Small.make(count: 10_000)
    let share = UInt64(quick ? 100_000_000 : 300_000_000)
    return try shared("people", people, share) + shared("small", small, share) + fresh("small", small, share)
  }

  /// One shared encoder and decoder.
  private static func shared<Value: Codable & Sendable>(
    _ name: String, _ values: [Value], _ share: UInt64
  ) throws -> [ThreadsResult] {
    let codec = StowCodec()
    let messages = try values.map(codec.encode)
    return try [
      compare("\(name), shared StowEncoder", share) {
        for value in values { blackHole(try codec.encode(value)) }
      },
      compare("\(name), shared StowDecoder", share) {
        for message in messages { blackHole(try codec.decode(Value.self, from: message)) }
      },
    ].map { $0.scaled(by: values.count) }
  }

  /// A new encoder and decoder at each call.
  private static func fresh<Value: Codable & Sendable>(
    _ name: String, _ values: [Value], _ share: UInt64
  ) throws -> [ThreadsResult] {
    let messages = try values.map(StowEncoder().encode)
    return try [
      compare("\(name), new StowEncoder() per call", share) {
        for value in values { blackHole(try StowEncoder().encode(value)) }
      },
      compare("\(name), new StowDecoder() per call", share) {
        for message in messages { blackHole(try StowDecoder().decode(Value.self, from: message)) }
      },
    ].map { $0.scaled(by: values.count) }
  }

  /// Passes a second from one thread and from two, the best of rounds that take turns: a system may run both
  /// threads on one core for the whole of a round.
  private static func compare(
    _ name: String, _ share: UInt64, _ pass: @escaping @Sendable () throws -> Void
  ) throws -> ThreadsResult {
    StandardError.print("threads: \(name)")
    var one: [Double] = []
    var two: [Double] = []
    for _ in 0..<5 {
      one.append(try throughput(threads: 1, share, pass))
      two.append(try throughput(threads: 2, share, pass))
    }
    return ThreadsResult(name: name, oneThread: one.max() ?? 0, twoThreads: two.max() ?? 0)
  }

  /// Passes a second of so many threads together, which work for the given nanoseconds.
  private static func throughput(
    threads: Int, _ share: UInt64, _ pass: @escaping @Sendable () throws -> Void
  ) throws -> Double {
    let tally = Tally()
    let start = Clock.now()
    // Threads of their own: a queue may decide to use fewer than it is asked for.
    let group = DispatchGroup()
    for _ in 0..<threads {
      group.enter()
      Thread {
        tally.count(since: start, share, pass)
        group.leave()
      }.start()
    }
    group.wait()
    let seconds = Double(Clock.now() - start) / 1e9
    return Double(try tally.passes()) / seconds
  }
}

/// How many passes all threads made.
private final class Tally: Sendable {
  private let result = Mutex((passes: 0, error: nil as (any Error)?))

  /// Makes passes until `share` nanoseconds have passed since `start`.
  func count(since start: UInt64, _ share: UInt64, _ pass: () throws -> Void) {
    do {
      var passes = 0
      while Clock.now() - start < share {
        try pass()
        passes += 1
      }
      result.withLock { $0.passes += passes }
    } catch {
      result.withLock { $0.error = error }
    }
  }

  func passes() throws -> Int {
    let (passes, error) = result.withLock { $0 }
    if let error { throw error }
    return passes
  }
}

extension ThreadsResult {
  /// Calls a second, of passes that make so many.
  fileprivate func scaled(by calls: Int) -> ThreadsResult {
    ThreadsResult(name: name, oneThread: oneThread * Double(calls), twoThreads: twoThreads * Double(calls))
  }
}
