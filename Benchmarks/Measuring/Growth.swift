import Foundation

/// Whether the time of a record stays the same however many there are. Each number of records has a process of its own
/// for each codec: in one that had held millions already, a million more lie scattered in what those left free.
///
/// The cases take turns, and each counts with its fastest turn: processors and their neighbours change from one state to
/// another, and figures of different states would say nothing about growth.
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
