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
    return try compare(shared("people", people), share)
      + compare(shared("small", small) + fresh("small", small), share)
  }

  /// What threads do again and again: so many calls in a pass.
  private struct Work {
    let name: String
    let calls: Int
    let pass: @Sendable () throws -> Void
  }

  /// One shared encoder and decoder.
  private static func shared<Value: Codable & Sendable>(_ name: String, _ values: [Value]) throws -> [Work] {
    let codec = StowCodec()
    let messages = try values.map(codec.encode)
    return [
      Work(name: "\(name), shared StowEncoder", calls: values.count) {
        for value in values { blackHole(try codec.encode(value)) }
      },
      Work(name: "\(name), shared StowDecoder", calls: values.count) {
        for message in messages { blackHole(try codec.decode(Value.self, from: message)) }
      },
    ]
  }

  /// A new encoder and decoder at each call.
  private static func fresh<Value: Codable & Sendable>(_ name: String, _ values: [Value]) throws -> [Work] {
    let messages = try values.map(StowEncoder().encode)
    return [
      Work(name: "\(name), new StowEncoder() per call", calls: values.count) {
        for value in values { blackHole(try StowEncoder().encode(value)) }
      },
      Work(name: "\(name), new StowDecoder() per call", calls: values.count) {
        for message in messages { blackHole(try StowDecoder().decode(Value.self, from: message)) }
      },
    ]
  }

  /// Calls a second from one thread and from two, the best of rounds in which all works take turns: a system may run
  /// both threads on one core for the whole of a round.
  private static func compare(_ works: [Work], _ share: UInt64) throws -> [ThreadsResult] {
    var results = works.map { ThreadsResult(name: $0.name, oneThread: 0, twoThreads: 0) }
    for round in 1...5 {
      for (index, work) in works.enumerated() {
        StandardError.print("threads: \(work.name), round \(round)")
        let calls = Double(work.calls)
        let one = calls * (try throughput(threads: 1, share, work.pass))
        let two = calls * (try throughput(threads: 2, share, work.pass))
        let best = results[index]
        results[index] = ThreadsResult(
          name: work.name, oneThread: max(best.oneThread, one), twoThreads: max(best.twoThreads, two))
      }
    }
    return results
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

/// The first encode and decode of a process: what an app pays at its start, before anything is cached.
enum ColdStart {
  static let name = "cold"
  static let summary = "the first encode and decode of 10 people in a fresh process"

  /// Medians over several child processes of each codec, in turn.
  static func measure(quick: Bool) throws -> [ColdResult] {
    var samples: [CodecName: [[Double]]] = [:]
    for _ in 0..<(quick ? 5 : 15) {
      for codec in CodecName.allCases {
        samples[codec, default: []].append(try ChildProcess.numbers([Options.coldChild, codec.rawValue]))
      }
    }
    return CodecName.allCases.map { codec in
      let runs = samples[codec, default: []]
      return ColdResult(codec: codec.rawValue, encode: median(runs.map { $0[0] }), decode: median(runs.map { $0[1] }))
    }
  }

  /// What the child process does: prints two times in nanoseconds.
  static func runChild(_ codec: CodecName) throws {
    let people = Person.make(count: 10)
    let codec = codec.make()
    var message = Data()
    let encode = try Clock.time { message = try codec.encode(people) }
    var decoded: [Person] = []
    let decode = try Clock.time { decoded = try codec.decode([Person].self, from: message) }
    guard decoded == people else { throw Workload.RoundTripFailure(description: "cold: the round trip fails") }
    print(encode, decode)
  }
}
