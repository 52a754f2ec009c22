/// Times several operations against each other: all of them once in each round, so that whatever slows the
/// machine down for a while slows them all.
struct Sampler {
  /// The most rounds any operation takes part in.
  let maximumRounds: Int
  /// The fewest, however slow an operation is.
  let minimumRounds: Int
  /// The time one operation may take in all rounds together, in nanoseconds, unless the fewest take more.
  let share: Double
  /// The shortest time worth measuring: an operation that is faster is repeated within a round. Each operation
  /// finds the caches full of the others' memory, which must not count for more the faster it is.
  private let shortestSample = 1e7

  /// For one of several processes.
  static let thorough = Sampler(maximumRounds: 9, minimumRounds: 1, share: 0.18e9)
  static let quick = Sampler(maximumRounds: 7, minimumRounds: 2, share: 0.08e9)

  /// The median time of one run of each operation, in nanoseconds; nil for those that are nil.
  func medians(of operations: [Workload.Pass?]) throws -> [Double?] {
    var contestants = try operations.map { try $0.map(contestant) }
    let rounds = contestants.reduce(0) { max($0, $1?.rounds ?? 0) }
    for round in 0..<rounds {
      for turn in contestants.indices {
        let index = (turn + round) % contestants.count
        try contestants[index]?.takePart(in: round, of: rounds)
      }
    }
    return contestants.map { $0.map { median($0.samples) } }
  }

  /// Warms an operation up, and finds how often to run it.
  private func contestant(_ operation: @escaping Workload.Pass) throws -> Contestant {
    let first = try Clock.time(operation)
    let cost = first < share / 4 ? max(1, min(first, try Clock.time(operation))) : first
    let sample = max(cost, shortestSample)
    let rounds = max(minimumRounds, min(maximumRounds, Int(share / sample)))
    return Contestant(
      operation: operation, repetitions: max(1, Int((shortestSample / cost).rounded(.up))), rounds: rounds)
  }
}

/// One operation among those that are timed together.
private struct Contestant {
  let operation: Workload.Pass
  let repetitions: Int
  let rounds: Int
  private(set) var samples: [Double] = []

  init(operation: @escaping Workload.Pass, repetitions: Int, rounds: Int) {
    self.operation = operation
    self.repetitions = repetitions
    self.rounds = rounds
  }

  /// Takes a sample, unless this is one of the rounds a slow operation sits out; those it takes part in are
  /// spread evenly.
  mutating func takePart(in round: Int, of total: Int) throws {
    guard round == 0 || round * rounds / total != (round - 1) * rounds / total else { return }
    let time = try Clock.time {
      for _ in 0..<repetitions { try operation() }
    }
    samples.append(time / Double(repetitions))
  }
}
