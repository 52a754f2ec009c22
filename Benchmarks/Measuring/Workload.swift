import Foundation

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
    bytes = EncodedSizes(stow: try codec.size(of: sources), json: json.size, plist: plist?.size)
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

  /// Adds the same by types with tables of fields, whose messages must be the same.
  mutating func add<Tabled: Codable>(_ tabled: Tabled.Type, _ values: [some Encodable], by codec: StowCodec)
    throws
  {
    let messages = try values.map(codec.encode)
    let side = try Side(codec, messages.map { try codec.decode(tabled, from: $0) }, tabled)
    guard side.messages == messages else {
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
  private static func record<Target: Decodable & Equatable>(
    _ messages: [Data], as type: Target.Type
  ) throws -> Replay {
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
  func encode() throws {
    for source in sources { blackHole(try codec.encode(source)) }
  }

  /// Decodes every message; the values are dropped, which counts.
  func decode() throws {
    for message in messages { blackHole(try codec.decode(Target.self, from: message)) }
  }

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
  func lend() throws {
    for source in sources { try codec.lend(source) }
  }
}
