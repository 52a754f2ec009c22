import Foundation

/// Whether the time of a record stays the same however many there are. Each number of records has a process of its own
/// for each codec: in one that had held millions already, a million more lie scattered in what those left free.
enum Growth {
  /// The kinds of record.
  enum Subject: String, CaseIterable {
    case people, points
  }

  /// What encodes the records, or only asks them for their values.
  enum Side: String {
    case stow, json, floor
  }

  /// Runs the child processes of every case.
  static func measure(quick: Bool) throws -> [GrowthResult] {
    let counts = [1000, 10_000, 100_000] + (quick ? [] : [1_000_000])
    return try Subject.allCases.flatMap { subject in
      try counts.map { try measure(subject, count: $0, quick) }
    }
  }

  /// One kind of record at one number.
  private static func measure(_ subject: Subject, count: Int, _ quick: Bool) throws -> GrowthResult {
    StandardError.print("growth: \(count) \(subject)")
    func run(_ side: Side) throws -> [Double] {
      try ChildProcess.numbers([
        Options.growthChild, side.rawValue, subject.rawValue, String(count), quick ? "quick" : "thorough",
      ]).map { $0 / Double(count) }
    }
    let (stow, json, floor) = try (run(.stow), run(.json), run(.floor))
    return GrowthResult(
      payload: subject.rawValue, records: count, stowEncode: stow[0], jsonEncode: json[0],
      floorEncode: floor[0],
      stowDecode: stow[1], jsonDecode: json[1])
  }

  /// What a child process does, told by the arguments behind its option.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 4, let side = Side(rawValue: arguments[0]),
      let subject = Subject(rawValue: arguments[1]), let count = Int(arguments[2])
    else { throw UsageError("\(Options.growthChild) is for this program's own use") }
    let isQuick = arguments[3] == "quick"
    let sampler = Sampler(maximumRounds: 21, minimumRounds: 3, share: isQuick ? 0.1e9 : 0.5e9)
    switch subject {
    case .people: try runChild(side, Person.make(count: count), sampler)
    case .points: try runChild(side, Point.make(count: count), sampler)
    }
  }

  /// Prints the nanoseconds of encoding and, but for the floor, decoding all records.
  private static func runChild<Record: Codable>(_ side: Side, _ records: [Record], _ sampler: Sampler) throws
  {
    let passes: [Workload.Pass]
    switch side {
    case .stow: passes = try Self.passes(StowCodec(), records)
    case .json: passes = try Self.passes(JSONCodec(), records)
    case .floor:
      let session = DiscardingSession()
      passes = [{ try session.encoder.encode(records) }]
    }
    for time in try sampler.medians(of: passes) { print(time ?? .nan) }
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
