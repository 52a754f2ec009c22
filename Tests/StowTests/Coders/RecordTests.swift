import Foundation
import Stow
import Testing

/// Messages one after the other, each of which relies on what those before it defined.
@Suite struct RecordTests {
  struct Reading: Codable, Equatable {
    var sensor: String
    var value: Double
    var note: String?
    var tags: [String]
    var extra: [String: Int]
  }

  /// Records, as a writer makes them, and what they were made of.
  private func makeRecords(_ count: Int, _ definitions: EncodingDefinitions) throws -> [(Data, Reading)] {
    var random = SeededGenerator(seed: 7)
    let encoder = StowEncoder()
    return try (0..<count).map { number in
      let reading = Reading(
        sensor: "sensor-\(random.below(5))", value: Double(number) / 4,
        note: random.below(2) == 0 ? "note \(random.below(100))" : nil,
        tags: ["indoor", "ground floor"].filter { _ in random.below(2) == 0 },
        extra: random.below(3) == 0 ? ["battery": random.below(100)] : [:])
      return (try encoder.withMessage(of: reading, relyingOn: definitions) { Data($0) }, reading)
    }
  }

  private func read(_ records: [Data], _ definitions: DecodingDefinitions) throws -> [Reading] {
    let decoder = StowDecoder()
    let scopes = try records.map { record in try record.withUnsafeBytes { try definitions.add(record: $0) } }
    return try zip(records, scopes).map { record, scope in
      try record.withUnsafeBytes { try decoder.decode(Reading.self, $0, in: scope) }
    }
  }

  @Test func recordsAreReadWithWhatThoseBeforeThemDefined() throws {
    let records = try makeRecords(500, EncodingDefinitions())
    #expect(try read(records.map(\.0), DecodingDefinitions()) == records.map(\.1))
  }

  @Test func keysAreWrittenOnceForAllRecords() throws {
    let records = try makeRecords(500, EncodingDefinitions())
    let alone = try records.map { try StowEncoder().encode($0.1).count }.reduce(0, +)
    #expect(records.map(\.0.count).reduce(0, +) * 2 < alone)
    let withKeys = records.filter { $0.0.range(of: Data("sensor".utf8)) != nil }
    #expect(withKeys.count < 15)
  }

  @Test func definitionsThatWereForgottenAreWrittenAgain() throws {
    let written = EncodingDefinitions()
    for _ in 0..<3 {
      let records = try makeRecords(20, written)
      #expect(try read(records.map(\.0), DecodingDefinitions()) == records.map(\.1))
      written.removeAll()
    }
  }

  @Test func aRecordMayNotReferToWhatLaterOnesDefine() throws {
    let records = try makeRecords(100, EncodingDefinitions()).map(\.0)
    let definitions = DecodingDefinitions()
    let first = try records[0].withUnsafeBytes { try definitions.add(record: $0) }
    for record in records.dropFirst() { _ = try record.withUnsafeBytes { try definitions.add(record: $0) } }
    let last = try #require(records.last)
    #expect(throws: DecodingError.self) {
      try last.withUnsafeBytes { _ = try StowDecoder().decode(Reading.self, $0, in: first) }
    }
  }

  @Test func largeDefinitionsAreNotKeptByTheDecoder() throws {
    let record = Bomb.prelude(keys: 20_000) + [0x91]
    var definitions: DecodingDefinitions? = DecodingDefinitions()
    weak var kept: DecodingDefinitions?
    kept = definitions
    if let definitions {
      try record.withUnsafeBytes {
        let scope = try definitions.add(record: $0)
        let value = try StowDecoder().decode(Int.self, $0, in: scope)
        #expect(value == 1)
      }
    }
    definitions = nil
    #expect(kept == nil)
  }

  @Test func nothingIsDefinedByAPreludeThatIsBroken() throws {
    let record = try makeRecords(1, EncodingDefinitions())[0].0
    let definitions = DecodingDefinitions()
    for size in 0..<20 {
      #expect(throws: DecodingError.self) {
        try record.prefix(size).withUnsafeBytes { _ = try definitions.add(record: $0) }
      }
      #expect(definitions.size == 0)
    }
  }

  @Test func definitionsStopGrowing() throws {
    struct Text: Codable { var text: String }
    let definitions = EncodingDefinitions()
    let encoder = StowEncoder()
    var sizes: [Int] = []
    for number in 0..<40_000 {
      let text = Text(text: "a text that recurs, number \(number / 2)")
      sizes.append(try encoder.withMessage(of: text, relyingOn: definitions) { $0.count })
    }
    #expect(definitions.isFull)
    #expect(sizes.suffix(1000).allSatisfy { $0 < 50 })
  }

  @Test("objects define shapes until the shapes have more than 8,192 keys", arguments: [8192, 8193])
  func shapesAreDefinedUpToALimit(_ count: Int) throws {
    struct Late: Codable { var late: Int }
    let definitions = EncodingDefinitions()
    let encoder = StowEncoder()
    let keys = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", 0) })
    _ = try encoder.withMessage(of: [keys, keys], relyingOn: definitions) { $0.count }
    let sizes = try (0..<2).map { _ in
      try encoder.withMessage(of: Late(late: 1), relyingOn: definitions) { $0.count }
    }
    #expect((sizes[1] < sizes[0]) == (count <= 8192))
  }

  @Test("the only map of a record stays a map, whatever recorded it")
  func singleMap() throws {
    let definitions = EncodingDefinitions()
    let encoder = StowEncoder()
    let map = ["a key of maps": 1]
    let free = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a key of maps")
    }
    _ = try encoder.withMessage(of: [map, map], relyingOn: definitions) { $0.count }
    let values: [any Encodable] = [map, map, StowValue.object(["a key of maps": 1]), free]
    let records = try values.map { try encoder.withMessage(of: $0, relyingOn: definitions) { Data($0) } }
    #expect(Set(records.dropFirst()).count == 1)
    #expect(records.last?.first == 0xC2, "the tag of a map of two bytes")
  }
}
