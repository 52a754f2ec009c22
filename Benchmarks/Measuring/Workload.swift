import Foundation
import Stow

/// A payload that is made, encoded and verified: what is left is to time its operations.
struct Workload {
  /// One pass over all values of the payload.
  typealias Pass = () throws -> Void

  /// The same pass by each side. A side that cannot do it is nil.
  struct Passes {
    var stow: Pass
    var json: Pass
    var plist: Pass?
    /// Stow, where the types have tables of fields.
    var tabled: Pass?
    var floor: Pass
  }

  /// What is timed.
  enum Subject {
    case both, decoding
    /// Encoding, where Stow lends the bytes.
    case lending
  }

  /// Stow did not give back what it was given.
  struct RoundTripFailure: Error, CustomStringConvertible {
    let description: String
  }

  /// How many calls one pass makes.
  let calls: Int
  /// The size of everything one pass encodes.
  var bytes: EncodedSizes
  /// Nil when only decoding is compared.
  private(set) var encode: Passes?
  /// Nil when only encoding is.
  private(set) var decode: Passes?

  /// Encodes `sources` with each codec, and checks that Stow decodes them as `targets`.
  ///
  /// - Parameter codec: Stow, as it is measured.
  init<Source: Encodable, Target: Decodable & Equatable>(
    sources: [Source], targets: [Target], _ subject: Subject, _ withPropertyList: Bool,
    by codec: StowCodec = StowCodec()
  ) throws {
    let stow = try Side(codec, sources, Target.self)
    try stow.verify(targets)
    let json = try Side(JSONCodec(), sources, Target.self)
    let plist = withPropertyList ? Self.propertyList(sources, targets) : nil
    let replay = try Self.record(json.messages, as: Target.self)

    calls = sources.count
    let size = try codec.sorted(sources).reduce(0) { $0 + $1.count }
    bytes = EncodedSizes(stow: size, json: json.size, plist: plist?.size)
    let discarding = DiscardingSession()
    let discard: Pass = { for source in sources { try discarding.encoder.encode(source) } }
    let encode = Passes(
      stow: subject == .lending ? stow.lend : stow.encode, json: json.encode, plist: plist?.encode,
      floor: discard)
    let decode = Passes(stow: stow.decode, json: json.decode, plist: plist?.decode) {
      replay.rewind()
      for _ in targets { blackHole(try replay.decode(Target.self)) }
    }
    self.encode = subject == .decoding ? nil : encode
    self.decode = subject == .lending ? nil : decode
  }

  /// Adds the same by types with tables of fields, whose messages must be the same, except for the order of
  /// dictionaries.
  mutating func add<Tabled: Codable>(_ tabled: Tabled.Type, _ values: [some Encodable], by codec: StowCodec)
    throws
  {
    let messages = try values.map(codec.encode)
    let side = try Side(codec, messages.map { try codec.decode(tabled, from: $0) }, tabled)
    guard try codec.sorted(side.sources) == codec.sorted(values) else {
      throw RoundTripFailure(description: "the messages of a type with a table differ")
    }
    encode?.tabled = decode == nil ? side.lend : side.encode
    decode?.tabled = side.decode
  }

  /// Property lists, if they can hold the values at all.
  private static func propertyList<Source: Encodable, Target: Decodable & Equatable>(
    _ sources: [Source], _ targets: [Target]
  ) -> Side<PropertyListCodec, Source, Target>? {
    guard let side = try? Side(PropertyListCodec(), sources, Target.self) else { return nil }
    guard (try? side.verify(targets)) != nil else { return nil }
    return side
  }

  /// A replay of decoding all messages, checked against what was recorded.
  private static func record<Target: Decodable & Equatable>(_ messages: [Data], as type: Target.Type) throws -> Replay {
    let recorder = ReplayRecorder()
    let recorded = try messages.map { try recorder.record(type, from: $0) }
    let replay = Replay(recorder)
    for value in recorded where try replay.decode(type) != value {
      throw RoundTripFailure(description: "the floor's replay differs from what was recorded")
    }
    return replay
  }
}

/// One codec at work on the values of one payload.
private struct Side<Format: Codec, Source: Encodable, Target: Decodable> {
  let codec: Format
  let sources: [Source]
  let messages: [Data]
  var size: Int { messages.reduce(0) { $0 + $1.count } }

  /// Encodes every value once.
  init(_ codec: Format, _ sources: [Source], _ target: Target.Type) throws {
    self.codec = codec
    self.sources = sources
    messages = try sources.map(codec.encode)
  }

  /// Encodes every value; the bytes are dropped.
  func encode() throws { for source in sources { blackHole(try codec.encode(source)) } }

  /// Decodes every message; the values are dropped, which counts.
  func decode() throws { for message in messages { blackHole(try codec.decode(Target.self, from: message)) } }

  /// Checks that decoding gives what is expected.
  func verify(_ targets: [Target]) throws where Target: Equatable {
    for (index, (message, target)) in zip(messages, targets).enumerated() {
      guard try codec.decode(Target.self, from: message) == target else {
        let place = targets.count == 1 ? "" : " (value \(index))"
        throw Workload.RoundTripFailure(description: "decoding does not give back what was encoded\(place)")
      }
    }
  }
}

extension Side where Format == StowCodec {
  /// Encodes every value; the bytes are lent.
  func lend() throws { for source in sources { try codec.lend(source) } }
}

/// A way to turn values into bytes and back, with the same face for all that are compared.
protocol Codec: Sendable {
  init()
  func encode<Value: Encodable>(_ value: Value) throws -> Data
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// The library that is measured. One encoder and one decoder serve all calls.
struct StowCodec: Codec {
  private let encoder = StowEncoder()
  private let decoder = StowDecoder()

  init() {}

  /// The same, where messages rely on a context that they do not name.
  init(_ context: StowContext) {
    encoder.context = context
    encoder.contextIdentification = .none
    decoder.implicitContext = context
  }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  /// Messages with sorted keys: in whatever order dictionaries have their entries, they are the same in every run.
  func sorted<Value: Encodable>(_ values: [Value]) throws -> [Data] {
    let sorting = StowEncoder()
    sorting.outputFormatting = .sortedKeys
    (sorting.context, sorting.contextIdentification) = (encoder.context, encoder.contextIdentification)
    return try values.map(sorting.encode)
  }

  /// Encodes a value and has the bytes lent, instead of made into a `Data`.
  func lend<Value: Encodable>(_ value: Value) throws { try encoder.withEncoded(value) { blackHole($0) } }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// Foundation's JSON, without the backslashes before slashes it adds of itself.
struct JSONCodec: Codec {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init() { encoder.outputFormatting = .withoutEscapingSlashes }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// Foundation's property lists in their binary form.
struct PropertyListCodec: Codec {
  private let encoder = PropertyListEncoder()
  private let decoder = PropertyListDecoder()

  init() { encoder.outputFormat = .binary }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// The two codecs that are compared in processes of their own, by the names a child process is told.
enum CodecName: String, CaseIterable {
  case stow, json

  /// A codec of this name.
  func make() -> any Codec {
    switch self {
    case .stow: StowCodec()
    case .json: JSONCodec()
    }
  }
}

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
    let time = try Clock.time { for _ in 0..<repetitions { try operation() } }
    samples.append(time / Double(repetitions))
  }
}
