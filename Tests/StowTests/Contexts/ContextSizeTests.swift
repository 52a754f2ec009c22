import Foundation
import Stow
import Testing

/// What a context is for: small messages that are small, and take no longer.
@Suite("Small messages in a context")
struct ContextSizeTests {
  /// As the benchmark's `small`.
  private struct Small: Codable, Equatable {
    var id: Int
    var name: String
    var flag: Bool
    var value: Double
    var note: String?
  }

  private static let names = [
    "Ada", "Alan", "Brigitte", "Carlos", "Dmitri", "Fatima", "Hannah", "Ingrid", "José", "Zoë",
  ]
  private static let words = [
    "about", "account", "after", "balance", "because", "board", "book", "build", "carry", "city", "cloud",
    "current", "day",
    "garden", "hand", "letter", "market", "morning", "number", "open", "order", "paper", "question", "river",
    "season",
    "second", "service", "summer", "table", "travel", "under", "water", "winter", "world", "year",
  ]

  private static func values(_ count: Int) -> [Small] {
    var random = SeededGenerator(seed: 10)
    return (0..<count).map { _ in
      let note = (0...random.below(4)).map { _ in Self.words[random.below(Self.words.count)] }
      return Small(
        id: 1 + random.below(1_000_000), name: names[random.below(names.count)], flag: random.below(2) == 0,
        value: Double(random.below(100_000)) / 100,
        note: random.below(2) == 0 ? note.joined(separator: " ") : nil)
    }
  }

  @Test("small messages take at most 27 bytes on average in a context, and 33 with its id")
  func sizes() throws {
    let values = Self.values(2_000)
    let context = try StowContext(learningFrom: Array(values.prefix(100)))
    for (encoder, limit) in [
      (StowEncoder(context, names: false), 27.0), (StowEncoder(context), 33),
    ] {
      let decoder = StowDecoder([context], implicit: context)
      var bytes = 0
      for value in values {
        let message = try encoder.encode(value)
        #expect(try decoder.decode(Small.self, from: message) == value)
        bytes += message.count
      }
      #expect(Double(bytes) / Double(values.count) <= limit)
    }
  }

  @Test("a context of 1,000 shapes and 10,000 symbols does not slow small messages down", .enabled(if: !isSanitized))
  func time() throws {
    let values = Self.values(200)
    let small = ["id", "name", "flag", "value", "note"]
    let context = try context(
      symbols: Self.names + (0..<10_000).map { "symbol \($0)" },
      shapes: (0..<999).map { ["id", "key \($0)", "name", "other key \($0)"] } + [small])
    func roundTrip(_ encoder: StowEncoder, _ decoder: StowDecoder) throws {
      for value in values { _ = try decoder.decode(Small.self, from: encoder.encode(value)) }
    }
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    let (encoderWithin, decoderWithin) = (StowEncoder(context, names: false), StowDecoder([], implicit: context))
    // What looked at each shape would take hundreds of times as long.
    try expect(
      { try roundTrip(encoderWithin, decoderWithin) }, takesLessThan: 5, times: { try roundTrip(encoder, decoder) })
  }
}
