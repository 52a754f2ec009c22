import Foundation
import Stow
import Testing

@Suite("Coding StowValue")
struct StowValueCodingTests {
  private struct Person: Codable, Equatable {
    var name: String
    var id: UUID
    var born: Date
    var level: Double?
    var extra: StowValue
    var more: StowValue?
    var list: [StowValue]
    var table: [String: StowValue]
  }

  private let person = Person(
    name: "Ada", id: UUID(), born: Date(timeIntervalSinceReferenceDate: 5), level: nil,
    extra: ["a": [1, 2.5, "x"], "b": .null], more: .null, list: [1, .null, [nil]], table: ["k": ["l": true]])

  @Test("a StowValue is decoded unchanged as a property, an element and an optional")
  func places() throws {
    expectRoundTrip(person)
    expectRoundTrip([StowValue?.none, .some(.null), .some(.nestedNull(level: 2)), .some(5)])
    expectRoundTrip([StowValue??.none, .some(.none), .some(.some(.null))])
    expectRoundTrip(StowValue.null)
    expectRoundTrip([[StowValue]](repeating: [1, "a"], count: 3))
    expectRoundTrip((0..<40).map { ["row": StowValue($0), "even": .bool($0 % 2 == 0), "same": "s"] as StowValue })
  }

  @Test("a StowValue is made from other types and decoded as them")
  func types() throws {
    var value = try StowValue(encoding: person)
    #expect(value["name"] == "Ada")
    #expect(value["id"] == .uuid(person.id))
    #expect(value["born"]?.date == person.born)
    #expect(try value.decode(Person.self) == person)
    value["name"] = 5
    let wrong = value
    #expect(failure { try wrong.decode(Person.self) } == .typeMismatch("name"))
    #expect(try StowValue(encoding: 5) == 5)
    #expect(try StowValue(encoding: [1: "a"]) == ["1": "a"])
    #expect(try StowValue(encoding: value) == value)
    #expect(throws: EncodingError.self) { try StowValue(encoding: Writes { _ in }) }
    #expect(try StowValue(from: [UInt8](value.encoded())) == value)
  }

  @Test("containers of all kinds encode and decode a StowValue")
  func containers() throws {
    let value: StowValue = ["a": .nestedNull(level: 3), "b": [.float(.signalingNaN)], "c": .url("not a URL")]
    let message = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.unkeyedContainer()
        try container.encode(value)
        var inner = container.nestedContainer(keyedBy: AnyKey.self)
        try inner.encode(value, forKey: AnyKey("x"))
        try value.encode(to: inner.superEncoder(forKey: AnyKey("y")))
        try value.encode(to: container.superEncoder())
      })
    #expect(try StowValue(from: message) == [value, ["x": value, "y": value], value])
    let found = try read([value]) { decoder in
      var container = try decoder.unkeyedContainer()
      return try StowValue(from: container.superDecoder())
    }
    #expect(found == value)
    #expect(try read(["a": value]) { try StowValue(from: $0) } == ["a": value])
    let missing = try read(["a": 1]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(!container.contains(AnyKey("b")))
      #expect(failure { try container.decode(StowValue.self, forKey: AnyKey("b")) }?.kind == .keyNotFound)
      #expect(try container.decodeIfPresent(StowValue.self, forKey: AnyKey("b")) == .none)
      return try StowValue(from: container.superDecoder(forKey: AnyKey("b")))
    }
    #expect(missing == .null)
  }

  @Test("the keys of a StowValue are sorted if the encoder sorts keys")
  func sorted() throws {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let value: StowValue = ["b": 1, "a": ["d": 1, "c": 2]]
    let copy = try StowValue(from: encoder.encode(value))
    #expect(copy.object?.keys == ["a", "b"])
    #expect(copy["a"]?.object?.keys == ["c", "d"])
  }

  @Test("a StowValue relies on contexts and shares their keys")
  func contexts() throws {
    let rows: StowValue = .array((0..<3).map { ["identifier": StowValue($0), "description": "text"] })
    let context = try StowContext(learningFrom: [rows])
    let encoder = StowEncoder()
    encoder.context = context
    let decoder = StowDecoder()
    decoder.contexts = [context]
    for _ in 0..<2 {
      let message = try encoder.encode(rows)
      #expect(try decoder.decode(StowValue.self, from: message) == rows)
    }
  }

  // MARK: faults

  @Test("decoding a StowValue throws an error with the path of the fault")
  func faults() throws {
    let message: [UInt8] = [0xC9, 0x81, 0x61, 0xE6, 0x91, 0xE4, 0x92, 0x32, 0xFF, 0xFF]
    let expected = Failure.dataCorrupted("a", 1, 1)
    #expect(failure { try StowValue(from: message) } == expected)
    #expect(failure { try StowDecoder().decode([String: StowValue].self, from: message) } == expected)
    let repeated: [UInt8] = [0xE7, 0xC6, 0x81, 0x61, 0x91, 0x81, 0x61, 0x92]
    #expect(failure { try StowValue(from: repeated) } == .dataCorrupted(0))
    // A record within a record that ends too early, before one whose shape there is not.
    let record: [UInt8] = [0x1F, 0, 1, 1, 4, 0x0D, 0xC0, 0x10, 0x70, 7, 0xF0, 2, 4, 0x6A, 0xFC, 1, 0x64]
    #expect(failure { try StowValue(from: record) } == .dataCorrupted(0, "name"))
    #expect(failure { try StowValue(from: [UInt8]()) } == .dataCorrupted())
    // A decimal number beyond those that Foundation has.
    let decimal = [0x1B, 0x11, 0x7F] + [UInt8](repeating: 0xFF, count: 16)
    _ = try? StowValue(from: decimal)
  }

  @Test(
    "a StowValue has the keys of each partial record, however many keys the shape has",
    arguments: [8, 9, 63, 64, 65, 66])
  func partialRecords(keyCount: Int) throws {
    var message: [UInt8] = [0x1F, 0, 1, UInt8(keyCount)]
    for key in 0..<keyCount { message += Bomb.key(key) }
    let size = (keyCount + 7) / 8
    message += [0x70, UInt8(2 * (size + 4))]
    for key in [keyCount - 2, keyCount - 1] {
      var bits = [UInt8](repeating: 0, count: size)
      bits[0] = 1
      bits[key / 8] |= 1 << UInt8(key % 8)
      message += [0xF8, UInt8(size + 2)] + bits + [0x91, 0x92]
    }
    let records = try StowValue(from: message)
    let plain = try StowDecoder().decode([[String: Int]].self, from: message)
    #expect(plain.count == 2 && plain[0].count == 2 && plain[0] != plain[1])
    #expect(records == .array(plain.map { .object(StowObject($0.map { ($0, StowValue($1)) })) }))
  }

  @Test("a StowValue nests exactly as deep as the limit allows", arguments: [1, 100, 512])
  func depth(_ depth: Int) throws {
    var value: StowValue = 5
    for level in 0..<depth { value = level % 2 == 0 ? [value] : ["a": value] }
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    encoder.maximumDepth = depth
    decoder.maximumDepth = depth
    let message = try encoder.encode(value)
    #expect(try decoder.decode(StowValue.self, from: message) == value)
    encoder.maximumDepth = depth - 1
    decoder.maximumDepth = depth - 1
    #expect(throws: EncodingError.self) { try encoder.encode(value) }
    #expect(throws: DecodingError.self) { try decoder.decode(StowValue.self, from: message) }
  }

  // MARK: other coders

  @Test("JSON encodes and decodes a StowValue as a generic value")
  func json() throws {
    let value: StowValue = [
      "a": [1, -2.5, nil, true, "x"], "b": .integer(Int128(UInt64.max)), "c": .integer(Int128(Int64.min)),
      "d": [:], "e": [],
    ]
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(StowValue.self, from: data) == value)
    #expect(try JSONDecoder().decode([String: StowValue].self, from: data)["b"] == value["b"])
    let id = UUID()
    let kinds: StowValue = [
      "date": .date(Date(timeIntervalSinceReferenceDate: 5.5)), "uuid": .uuid(id),
      "url": .url("https://a.org/b"),
      "data": .data(Data([1, 2, 3])), "decimal": .decimal(Decimal(1) / 8), "nil": .nestedNull(level: 2),
      "odd": .url("http://["),
    ]
    #expect(
      try JSONDecoder().decode(StowValue.self, from: JSONEncoder().encode(kinds)) == [
        "date": 5.5, "uuid": .string(id.uuidString), "url": "https://a.org/b", "data": "AQID",
        "decimal": 0.125,
        "nil": .null, "odd": "http://[",
      ])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(StowValue.self, from: Data("[1, {]".utf8)) }
  }

  @Test("property lists encode and decode a StowValue with dates and data")
  func propertyLists() throws {
    let value: StowValue = [
      "a": [1, -2.5, true, "x"], "b": .date(Date(timeIntervalSinceReferenceDate: 5)),
      "c": .data(Data([1, 2])),
    ]
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    #expect(try PropertyListDecoder().decode(StowValue.self, from: encoder.encode(value)) == value)
  }

  @Test("the error of a broken cell in a table has the path of its row")
  func brokenCell() throws {
    struct Row: Encodable { var number: Int, isKnown: Bool }
    // Among the first bytes of the rows are all that begin an array or an object elsewhere.
    let rows = (0..<256).map { Row(number: $0, isKnown: $0 % 3 == 0) }
    let message = try StowEncoder().encode(rows)
    for row in rows.indices {
      var broken = message
      broken[message.count - 1 - 2 * (rows.count - 1 - row)] = 2
      for type in [StowValue.self, [StowValue].self] as [any Decodable.Type] {
        do {
          _ = try StowDecoder().decode(type, from: broken)
          Issue.record("a broken cell was read")
        } catch DecodingError.dataCorrupted(let context) {
          #expect(steps(context.codingPath) == [Step(integerLiteral: row)])
        }
      }
    }
  }
}
