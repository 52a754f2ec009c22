import Foundation

/// How much memory a large value takes to encode and to decode, beyond the value: each case in a process of
/// its own, since a peak cannot be taken back.
enum MemoryUse {
  /// The payloads that are large enough to tell.
  enum Subject: String, CaseIterable {
    case people, doubles

    /// How many records or numbers there are.
    func count(quick: Bool) -> Int {
      let base = self == .people ? 1000 : 100_000
      return base * (quick ? 10 : 100)
    }
  }

  /// One direction.
  enum Direction: String {
    case encode, decode
  }

  /// Runs the child processes of every case.
  static func measure(quick: Bool) throws -> [MemoryResult] {
    try Subject.allCases.flatMap { subject in
      try CodecName.allCases.map { try measure(subject, $0, count: subject.count(quick: quick)) }
    }
  }

  /// One subject with one codec: the encoding child leaves its bytes in a file for the decoding child.
  private static func measure(_ subject: Subject, _ codec: CodecName, count: Int) throws -> MemoryResult {
    StandardError.print("memory: \(count) \(subject) as \(codec)")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stow-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: file) }
    func run(_ direction: Direction) throws -> [Double] {
      try ChildProcess.numbers([
        Options.memoryChild, codec.rawValue, subject.rawValue, String(count), direction.rawValue, file.path,
      ])
    }
    let encoding = try run(.encode)
    let decoding = try run(.decode)
    let value = Int(encoding[0])
    return MemoryResult(
      payload: subject.rawValue, count: count, codec: codec.rawValue, value: value, output: Int(encoding[1]),
      encodePeak: Int(encoding[2]), decodePeak: max(0, Int(decoding[0]) - value))
  }

  /// What a child process does, told by the arguments after its option.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 5, let codec = CodecName(rawValue: arguments[0]),
      let subject = Subject(rawValue: arguments[1]), let count = Int(arguments[2]),
      let direction = Direction(rawValue: arguments[3])
    else { throw UsageError("\(Options.memoryChild) is for this program's own use") }
    let file = URL(fileURLWithPath: arguments[4])
    switch subject {
    case .people: try runChild(codec.make(), direction, file) { Person.make(count: count) }
    case .doubles: try runChild(codec.make(), direction, file) { Numbers.doubles(count: count) }
    }
  }

  /// Prints the value's own size, the bytes written and the peak beyond the value; or, decoding, the peak
  /// beyond the bytes read, in which the value is contained.
  private static func runChild<Value: Codable>(
    _ codec: any Codec, _ direction: Direction, _ file: URL, make: () -> Value
  ) throws {
    switch direction {
    case .encode:
      ResidentMemory.resetPeak()
      let empty = ResidentMemory.current()
      let value = make()
      ResidentMemory.resetPeak()
      let before = ResidentMemory.current()
      let bytes = try codec.encode(value)
      let peak = ResidentMemory.peak()
      try bytes.write(to: file)
      print(before - empty, bytes.count, peak - before)
      blackHole(value)
    case .decode:
      let bytes = try Data(contentsOf: file)
      ResidentMemory.resetPeak()
      let before = ResidentMemory.current()
      let value = try codec.decode(Value.self, from: bytes)
      print(ResidentMemory.peak() - before)
      blackHole(value)
    }
  }
}

/// Whether the time of a record stays the same however many there are. Each number of records has a process of its own
/// for each codec: in one that had held millions already, a million more lie scattered in what those left free.
///
/// The cases take turns, and each counts with its fastest turn: processors and their neighbours change from one state
/// to another, and figures of different states would say nothing about growth.
enum Growth {
  /// The kinds of record.
  enum Subject: String, CaseIterable {
    case people, points
  }

  /// What encodes the records, or only asks them for their values.
  enum Side: String, CaseIterable {
    case stow, json, floor
  }

  /// One kind of record at one number.
  private struct Case {
    let subject: Subject
    let count: Int
    /// The nanoseconds per record of encoding and decoding, the fastest yet.
    var times: [Side: [Double]] = [:]

    /// Runs the child processes of all sides.
    mutating func takeTurn(_ quick: Bool) throws {
      StandardError.print("growth: \(count) \(subject)")
      for side in Side.allCases {
        let turn = try ChildProcess.numbers([
          Options.growthChild, side.rawValue, subject.rawValue, String(count), quick ? "quick" : "thorough",
        ]).map { $0 / Double(count) }
        times[side] = times[side].map { zip($0, turn).map(min) } ?? turn
      }
    }

    var result: GrowthResult {
      func time(_ side: Side, _ index: Int) -> Double { times[side]?[index] ?? .nan }
      return GrowthResult(
        payload: subject.rawValue, records: count, stowEncode: time(.stow, 0), jsonEncode: time(.json, 0),
        floorEncode: time(.floor, 0), stowDecode: time(.stow, 1), jsonDecode: time(.json, 1))
    }
  }

  private static let turns = 3

  /// Runs the child processes of every case.
  static func measure(quick: Bool) throws -> [GrowthResult] {
    let counts = [1000, 10_000, 100_000] + (quick ? [] : [1_000_000])
    var cases = Subject.allCases.flatMap { subject in counts.map { Case(subject: subject, count: $0) } }
    for _ in 0..<(quick ? 1 : turns) {
      for index in cases.indices { try cases[index].takeTurn(quick) }
    }
    return cases.map(\.result)
  }

  /// What a child process does, told by the arguments after its option.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 4, let side = Side(rawValue: arguments[0]),
      let subject = Subject(rawValue: arguments[1]), let count = Int(arguments[2])
    else { throw UsageError("\(Options.growthChild) is for this program's own use") }
    let isQuick = arguments[3] == "quick"
    let sampler =
      isQuick
      ? Sampler(maximumRounds: 21, minimumRounds: 3, share: 0.1e9)
      : Sampler(maximumRounds: 21, minimumRounds: 1, share: 0.2e9)
    switch subject {
    case .people: try runChild(side, Person.make(count: count), sampler)
    case .points: try runChild(side, Point.make(count: count), sampler)
    }
  }

  /// Prints the nanoseconds of encoding and, except for the floor, decoding all records.
  private static func runChild<Record: Codable>(_ side: Side, _ records: [Record], _ sampler: Sampler) throws {
    let passes: [Workload.Pass]
    switch side {
    case .stow: passes = try Self.passes(StowCodec(), records)
    case .json: passes = try Self.passes(JSONCodec(), records)
    case .floor:
      let session = DiscardingSession()
      passes = [{ try session.encoder.encode(records) }]
    }
    // One direction after the other: they are not compared, and after a pause many systems have taken the memory back
    // that a call of some hundred MiB has freed. Having it again may take longer than the call.
    for pass in passes {
      for time in try sampler.medians(of: [pass]) { print(time ?? .nan) }
    }
  }

  /// Encoding and decoding.
  private static func passes<Record: Codable>(_ codec: some Codec, _ records: [Record]) throws -> [Workload
    .Pass]
  {
    let message = try codec.encode(records)
    return [
      { blackHole(try codec.encode(records)) },
      { blackHole(try codec.decode([Record].self, from: message)) },
    ]
  }
}
