import Foundation
import StowRecords

/// Logs beside what people would use instead: `.ci/integrations logs`. `--records 1000000` sets of how many records one
/// is looked up.
@main
struct LogPeers {
  static func main() throws {
    var arguments = CommandLine.arguments.dropFirst()
    var large = 100_000
    while let argument = arguments.popFirst() {
      guard argument == "--records", let count = arguments.popFirst().flatMap(Int.init), count > 1 else {
        StandardError.print("usage: LogPeers [--records COUNT]")
        exit(64)
      }
      large = count
    }
    let files = try LogFiles()
    defer { files.remove() }
    print(try PeerMeasurement(name: "events", values: Event.make(count: 20_000), large, files).table.text)
    print()
    print(
      try PeerMeasurement(name: "small records", values: Small.make(count: 20_000), large, files).table.text)
    let waiting = try LogWaiting(files: files, rounds: 100).measure()
    print(
      "\nSeen by a follower of a RecordLog: \(Figures.time(waiting.seenMedian)), the slowest in a hundred ",
      terminator: "")
    print("\(Figures.time(waiting.seenLate)).\n\nMeasured on \(Machine.current.description).")
  }
}

/// All stores of one payload, which take turns in each work.
struct PeerMeasurement<Value: Codable & Equatable & Sendable> {
  let name: String
  let values: [Value]
  /// How many records there are of which one is looked up.
  let large: Int
  let files: LogFiles
  private let kinds = StoreKind<Value>.all

  private static var batchSize: Int { 1_000 }
  private static var tasks: Int { 64 }
  /// How many are brought to the disk one by one, and how many by tasks.
  private static var durable: Int { 300 }
  private static var durableByTasks: Int { 64 * 50 }
  private static var lookedUp: Int { 5_000 }

  init(name: String, values: [Value], _ large: Int, _ files: LogFiles) {
    (self.name, self.values, self.large, self.files) = (name, values, large, files)
  }

  var table: Table {
    get throws {
      StandardError.print("log: \(name)")
      try check()
      return Table(
        title: "Logs beside databases, \(name): medians, and how many times those of a RecordLog",
        columns: [.init(title: "work", isText: true)] + kinds.map { .init(title: $0.name) },
        rows: try writing() + durably() + reading() + lookingUp(),
        notes: [
          "JSON lines: each is written at once. SQLite: by GRDB, Stow messages as blobs, a write-ahead log; one append is one",
          "transaction. LevelDB: Stow messages by number. 64 at once: tasks for a RecordLog, threads for the others.",
          "Nothing known: of no block of the log. Otherwise each store has the cache it comes with, and was read from before.",
        ])
    }
  }

  /// Compares what each store gives back with what was put into it.
  private func check() throws {
    for kind in kinds {
      let store = try fresh(kind)
      try store.append(batch: values[...])
      try store.flush()
      var read: [Value] = []
      try store.readAll { read.append($0) }
      let found = kind.canFind ? try store.read(values.count / 2) : values[values.count / 2]
      guard read == values, found == values[values.count / 2] else {
        throw CocoaError(.fileReadCorruptFile)
      }
      try store.close()
    }
  }

  private func fresh(_ kind: StoreKind<Value>, isDurable: Bool = false) throws -> any Store<Value> {
    try kind.open(files.freshFile(kind.name), isDurable)
  }

  // MARK: - Works

  /// The medians of so many rounds, in which all kinds take turns; nil of a kind for which there is no time.
  private func medians(
    rounds: Int = 5, _ time: (StoreKind<Value>) throws -> Double?
  ) rethrows -> [Double?] {
    var samples = [[Double]](repeating: [], count: kinds.count)
    for round in 0..<rounds {
      for turn in kinds.indices {
        let index = (turn + round) % kinds.count
        if let time = try time(kinds[index]) { samples[index].append(time) }
      }
    }
    return samples.map { $0.isEmpty ? nil : median($0) }
  }

  /// The time of a value, with a store of its own.
  private func time(
    _ kind: StoreKind<Value>, isDurable: Bool = false, of count: Int,
    _ body: (any Store<Value>) throws -> Void
  ) throws -> Double {
    let store = try fresh(kind, isDurable: isDurable)
    let time = try Clock.time {
      try body(store)
      try store.flush()
    }
    try store.close()
    return time / Double(count)
  }

  private func writing() throws -> [[String]] {
    let one = try medians { kind in
      let some = values.prefix(kind.isDurable ? Self.durable : values.count)
      return try time(kind, of: some.count) { store in for value in some { try store.append(value) } }
    }
    let batches = try medians { kind in
      try time(kind, of: values.count) { try append(values.count, to: $0) }
    }
    return [row("append one", one), row("batch of 1,000", batches)]
  }

  /// Appends so many values, and begins with the first again when there are no more.
  private func append(_ count: Int, to store: any Store<Value>) throws {
    for start in stride(from: 0, to: count, by: Self.batchSize) {
      let first = start % values.count
      try store.append(
        batch: values[first..<min(first + Self.batchSize, values.count, first + count - start)])
    }
  }

  private func durably() throws -> [[String]] {
    let alone = try medians(rounds: 3) { kind in
      guard kind.canBeDurable else { return nil }
      return try time(kind, isDurable: true, of: Self.durable) { store in
        for value in values.prefix(Self.durable) { try store.append(value) }
      }
    }
    let together = try medians(rounds: 3) { kind in
      guard kind.canBeDurable else { return nil }
      return try time(kind, isDurable: true, of: Self.durableByTasks) { store in
        try store.append(Array(values.prefix(Self.durableByTasks)), fromTasks: Self.tasks)
      }
    }
    return [row("every append durable", alone), row("the same, 64 at once", together)]
  }

  private func reading() throws -> [[String]] {
    for kind in kinds {
      let store = try fresh(kind)
      try store.append(batch: values[...])
      try store.close()
    }
    let sizes = try kinds.map { Double(try size(of: files.file($0.name))) / Double(values.count) }
    let all = try medians { kind in
      // A file of lines that is opened for writing is emptied.
      if !kind.canFind {
        return try Clock.time { try JSONLines.read(Value.self, at: files.file(kind.name)) { blackHole($0) } }
          / Double(values.count)
      }
      let store = try kind.open(files.file(kind.name), false)
      let time = try Clock.time { try store.readAll { blackHole($0) } }
      try store.close()
      return time / Double(values.count)
    }
    return [row("read all", all), row("bytes per record", sizes) { Figures.ratio($0) }]
  }

  private func size(of path: URL) throws -> Int {
    let manager = FileManager.default
    let paths = try manager.subpathsOfDirectory(atPath: path.path).map { path.appending(path: $0) }
    return try (paths.isEmpty ? [path] : paths).reduce(0) {
      $0 + ((try manager.attributesOfItem(atPath: $1.path)[.size] as? Int) ?? 0)
    }
  }

  private func lookingUp() throws -> [[String]] {
    for kind in kinds where kind.canFind {
      let store = try fresh(kind)
      try append(large, to: store)
      try store.close()
    }
    let opening = try medians(rounds: 21) { kind in
      guard kind.canFind else { return nil }
      var store: (any Store<Value>)?
      let time = try Clock.time { store = try kind.open(files.file(kind.name), false) }
      try store?.close()
      return time
    }
    let stores = try kinds.map { $0.canFind ? try $0.open(files.file($0.name), false) : nil }
    let forgetful = try kinds.map { kind in
      kind.name == "RecordLog" || kind.name == "packed"
        ? try RecordLogReader(at: files.file(kind.name), cacheSize: 0) : nil
    }
    for store in stores {
      for number in stride(from: 0, to: large, by: 100) { blackHole(try store?.read(number)) }
    }
    var samples = [(new: [Double], known: [Double], neighbour: [Double])](
      repeating: ([], [], []), count: kinds.count)
    var random = RandomSource(seed: 20)
    for _ in 0..<Self.lookedUp {
      let number = random.int(in: 0...large - 2)
      for index in kinds.indices {
        if let log = forgetful[index] {
          samples[index].new.append(try Clock.time { blackHole(try log.decode(Value.self, at: number)) })
        }
        guard let store = stores[index] else { continue }
        samples[index].known.append(try Clock.time { blackHole(try store.read(number)) })
        samples[index].neighbour.append(try Clock.time { blackHole(try store.read(number + 1)) })
      }
    }
    for store in stores { try store?.close() }
    for kind in kinds { try? FileManager.default.removeItem(at: files.file(kind.name)) }
    func middle(_ samples: [[Double]]) -> [Double?] { samples.map { $0.isEmpty ? nil : median($0) } }
    return [
      row("open \(Figures.count(large)) records", opening),
      row("one of \(Figures.count(large)), nothing known", middle(samples.map(\.new))),
      row("one of \(Figures.count(large))", middle(samples.map(\.known))),
      row("the one after it", middle(samples.map(\.neighbour))),
    ]
  }

  /// The first figure, and the others with how many times the first they are.
  private func row(
    _ name: String, _ figures: [Double?], _ text: (Double?) -> String = Figures.time
  ) -> [String] {
    [name]
      + figures.enumerated().map { index, figure in
        guard index > 0, let figure, let first = figures[0] else { return text(figure) }
        return "\(text(figure)) (\(Figures.ratio(figure / first)))"
      }
  }
}
