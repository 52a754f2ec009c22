import Foundation
import Stow
import Testing

/// Returns the message with a few bytes changed.
func mutate(_ message: Data, _ random: inout SeededGenerator) -> Data {
  var bytes = Array(message)
  for _ in 0...random.below(2) where !bytes.isEmpty {
    let place = random.below(bytes.count)
    switch random.below(4) {
    case 0: bytes.remove(at: place)
    case 1: bytes.insert(UInt8(random.below(256)), at: place)
    default: bytes[place] = UInt8(random.below(256))
    }
  }
  return Data(bytes)
}

/// An optional with another property in its padding, which is decoded first.
private struct FieldTail<Table: Sendable>: Codable, Equatable, Sendable {
  var level: Int64?
  var mark: UInt8
  init(mark: UInt8, level: Int64?) { (self.mark, self.level) = (mark, level) }

  private enum CodingKeys: CodingKey { case mark, level }
}

extension FieldTail: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(mark:level:), Field("mark", \.mark), Field("level", \.level))
  }
}

/// Counts how often it is decoded.
private struct Counted: Codable {
  final class Counter: @unchecked Sendable { var count = 0 }
  static let key = CodingUserInfoKey(rawValue: "counter")!
  var number: Int

  init(_ number: Int) { self.number = number }

  init(from decoder: any Decoder) throws {
    (decoder.userInfo[Self.key] as? Counter)?.count += 1
    number = try decoder.singleValueContainer().decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

private struct CountedRow: Codable, StowFields {
  var level: Int
  var counted: Counted
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(level:counted:), Field("level", \.level), Field("counted", \.counted))
  }
}

/// What types with tables of fields encode and decode, compared with the same types without.
@Suite("Types with tables", .noBacktraces)
struct TabledCodingTests {
  private typealias Make<Value> = (inout SeededGenerator) -> Value

  /// Records an issue unless both types encode the same bytes, decode equal values of them, and meet the same errors in
  /// bytes that were changed.
  private func compare<With: Codable & Equatable, Without: Codable & Equatable>(
    _ with: @escaping Make<With>, _ without: @escaping Make<Without>, mutations: Int = 400,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for seed in 0..<20 {
      var (one, other) = (SeededGenerator(seed: UInt64(seed)), SeededGenerator(seed: UInt64(seed)))
      let count = [0, 1, 2, 140][seed % 4]
      let values = (0..<count).map { _ in with(&one) }
      let plain = (0..<count).map { _ in without(&other) }
      try compare(values, plain, mutations: mutations / 10, seed, sourceLocation: sourceLocation)
      if let value = values.first, let plain = plain.first {
        try compare(value, plain, mutations: mutations, seed, sourceLocation: sourceLocation)
        try compare([value, nil], [plain, nil], mutations: mutations / 10, seed, sourceLocation: sourceLocation)
        try compare(["key": value], ["key": plain], mutations: mutations / 10, seed, sourceLocation: sourceLocation)
      }
    }
  }

  private func compare<With: Codable & Equatable, Without: Codable & Equatable>(
    _ value: With, _ plain: Without, mutations: Int, _ seed: Int, sourceLocation: SourceLocation
  ) throws {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    for isSorted in [true, false] {
      encoder.outputFormatting = isSorted ? .sortedKeys : []
      let bytes = try encoder.encode(value)
      let expected = try encoder.encode(plain)
      #expect(bytes == expected, sourceLocation: sourceLocation)
      #expect(try "\(StowDecoder().decode(With.self, from: bytes))" == "\(value)", sourceLocation: sourceLocation)
    }
    let context = try StowContext(learningFrom: [plain, plain])
    let bytes = try StowEncoder(context).encode(value)
    #expect(try bytes == StowEncoder(context).encode(plain), sourceLocation: sourceLocation)
    #expect(
      try "\(StowDecoder([context]).decode(With.self, from: bytes))" == "\(value)",
      sourceLocation: sourceLocation)

    var random = SeededGenerator(seed: UInt64(seed))
    let messages = [try StowEncoder().encode(plain), bytes]
    for number in 0..<mutations {
      let message = messages[number % 2]
      let mutated = mutate(message, &random)
      let decoder = StowDecoder([context])
      let one = outcome { try decoder.decode(With.self, from: mutated) }
      let other = outcome { try decoder.decode(Without.self, from: mutated) }
      #expect(one == other, "\(Array(mutated))", sourceLocation: sourceLocation)
    }
  }

  /// What a value or an error says, whichever of the two types it is of.
  private func outcome<Value>(_ body: () throws -> Value) -> String {
    do { return String(reflecting: try body()).replacing("Untabled", with: "Tabled") } catch {
      return String(reflecting: error).replacing("Untabled", with: "Tabled")
    }
  }

  @Test("a value in every row leaves alone what is in its padding") func padding() throws {
    func rows<Table>(_ table: Table.Type) -> [FieldTail<Table>] {
      (0..<20).map { FieldTail(mark: UInt8($0 * 10), level: 5) }
    }
    #expect(MemoryLayout<FieldTail<Tabled>>.offset(of: \.mark) == MemoryLayout<Int64?>.size)
    let message = try StowEncoder().encode(rows(Tabled.self))
    #expect(try message == StowEncoder().encode(rows(Untabled.self)))
    #expect(try StowDecoder().decode([FieldTail<Tabled>].self, from: message) == rows(Tabled.self))
  }

  @Test("a type of numbers is coded as without a table") func points() throws {
    try compare({ FieldPoint<Tabled>.random(&$0) }, { FieldPoint<Untabled>.random(&$0) })
  }

  @Test("a type of scalars and an optional is coded as without a table") func notes() throws {
    try compare({ FieldNote<Tabled>.random(&$0) }, { FieldNote<Untabled>.random(&$0) })
  }

  @Test("nested types, enumerations, arrays and dictionaries are coded as without a table")
  func people() throws { try compare({ FieldPerson<Tabled>.random(&$0) }, { FieldPerson<Untabled>.random(&$0) }) }

  @Test("scalars of all types are coded as without a table") func scalars() throws {
    try compare({ FieldScalars<Tabled>.random(&$0) }, { FieldScalars<Untabled>.random(&$0) })
  }

  @Test("rows are coded as without a table") func rows() throws {
    try compare({ FieldRow<Tabled>.random(&$0) }, { FieldRow<Untabled>.random(&$0) })
  }

  @Test("a long array is coded as without a table after a value with the keys in another order")
  func keysInAnotherOrder() throws {
    func bytes<Table>(_ table: Table.Type) throws -> Data where FieldPair<Table>: Codable {
      try message {
        var list = $0.unkeyedContainer()
        var pair = list.nestedContainer(keyedBy: FieldPair<Table>.CodingKeys.self)
        try pair.encode(2, forKey: .second)
        try pair.encode(1, forKey: .first)
        try list.encode((0..<140).map { FieldPair<Table>(first: $0, second: -$0) })
      }
    }
    #expect(try bytes(Tabled.self) == bytes(Untabled.self))
  }

  @Test("a single column with a value that does not fit is decoded as without a table") func levels() throws {
    struct Reading: Encodable { var level: Int }
    let readings = (0..<40).map { Reading(level: $0 == 30 ? 300 : $0) }
    let bytes = try StowEncoder().encode(readings)
    let one = outcome { try StowDecoder().decode([FieldLevel<Tabled>].self, from: bytes) }
    let other = outcome { try StowDecoder().decode([FieldLevel<Untabled>].self, from: bytes) }
    #expect(one == other)
    #expect(one.contains("does not fit"))
    let first = try StowEncoder().encode(Array(readings.prefix(30)))
    let levels = try StowDecoder().decode([FieldLevel<Tabled>].self, from: first)
    #expect(levels.map(\.level) == Array(0..<30))
  }

  @Test("rows with enumerations and arrays are coded as without a table") func caseRows() throws {
    try compare({ FieldCaseRow<Tabled>.random(&$0) }, { FieldCaseRow<Untabled>.random(&$0) })
  }

  @Test("values in rows are decoded once") func once() throws {
    let (decoder, counter) = (StowDecoder(), Counted.Counter())
    decoder.userInfo[Counted.key] = counter
    let message = try StowEncoder().encode((0..<20).map { CountedRow(level: $0, counted: Counted($0)) })
    _ = try decoder.decode([CountedRow].self, from: message)
    #expect(counter.count == 20)
  }

  @Test("recursive types are coded as without a table") func trees() throws {
    try compare({ FieldTree<Tabled>.random(&$0) }, { FieldTree<Untabled>.random(&$0) })
  }

  @Test("types that contain more than their fields are coded as without a table") func hidden() throws {
    try compare({ FieldHidden<Tabled>.random(&$0) }, { FieldHidden<Untabled>.random(&$0) })
  }

  @Test("classes are coded as without a table") func objects() throws {
    try compare({ FieldObject<Tabled>.random(&$0) }, { FieldObject<Untabled>.random(&$0) })
  }

  @Test("values at the depth limit, in containers and in calls, are coded as without a table") func depth() {
    func nest(_ value: some Encodable, calls: Int) -> Writes {
      Writes { try calls == 0 ? $0.writeSingle(value) : $0.writeSingle(nest(value, calls: calls - 1)) }
    }
    func outcomes(_ value: some Encodable, limit: Int) -> [String] {
      let encoder = StowEncoder()
      encoder.maximumDepth = limit
      func outcome(_ value: some Encodable) -> String { self.outcome { Array(try encoder.encode(value)) } }
      return [outcome([value]), outcome([[value]]), outcome([[[value]]])]
        + (0..<12).map { outcome(nest(value, calls: $0)) }
        + (0..<12).map { outcome(nest([value], calls: $0)) }
    }
    for limit in 0...4 {
      let tabled = outcomes(FieldPoint<Tabled>(x: 1, y: 2, z: 3), limit: limit)
      let plain = outcomes(FieldPoint<Untabled>(x: 1, y: 2, z: 3), limit: limit)
      for (index, (tabled, plain)) in zip(tabled, plain).enumerated() {
        #expect(tabled == plain, "\(limit), \(index)")
      }
    }
  }
}
