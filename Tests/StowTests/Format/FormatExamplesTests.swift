import Foundation
import Stow
import StowNotation
import Testing

/// Runs the examples of FORMAT.md: each is what the encoder writes, and decodes to the value it is of.
@Suite("Examples of FORMAT.md")
struct FormatExamplesTests {
  @Test("each example of FORMAT.md has an entry here, and each entry has an example")
  func names() throws {
    let inFile = try FormatDocument.load().examples.map { $0.name }
    let here = Example.all.map { $0.name }
    #expect(Set(inFile).count == inFile.count, "two examples have one name")
    #expect(Set(here).count == here.count, "two entries have one name")
    #expect(Set(inFile).subtracting(here).sorted() == [], "examples without an entry")
    #expect(Set(here).subtracting(inFile).sorted() == [], "entries without an example")
  }

  @Test("encoding writes the bytes of the examples, and the examples are decoded")
  fileprivate func bytes() {
    forEachCase(of: Example.all) { (example: Example) in
      let written = try example.encode()
      let text = try #require(try FormatDocument.load().examples.first { $0.name == example.name })
      #expect(VectorFile.hex(written) == VectorFile.hex(text.bytes), "the bytes of \(example.name)")
      #expect(VectorFile.hex(text.explained) == VectorFile.hex(text.bytes), "the explanation of \(example.name)")
      #expect(try example.comesBack(text.bytes), "\(example.name) decodes to something else")
    }
  }

  @Test("the examples of refused messages are refused")
  func refused() throws {
    let messages = try FormatDocument.load().refused
    #expect(messages.count > 20)
    for message in messages {
      #expect(throws: DecodingError.self, "\(VectorFile.hex(message))") {
        try StowDecoder().decode(Anything.self, from: message)
      }
    }
  }

  @Test("the examples of accepted messages are decoded")
  func accepted() throws {
    let messages = try FormatDocument.load().accepted
    #expect(messages.count > 5)
    for (message, meaning) in messages {
      let (value, expected) = (try StowValue(from: message), try StowValue(notation: meaning))
      #expect(value == expected, "\(VectorFile.hex(message))")
    }
  }
}

// MARK: - The values

/// How the bytes of an example are made, and whether they say what they should.
private struct Example: Sendable, CustomTestStringConvertible {
  let name: String
  let encode: @Sendable () throws -> Data
  let comesBack: @Sendable (Data) throws -> Bool

  var testDescription: String { name }

  init<Value: Codable & Equatable & Sendable>(_ name: String, _ value: Value, sorted: Bool = false) {
    self.init(name, value, sorted: sorted) { $0 == $1 }
  }

  init<Value: Codable & Sendable>(
    _ name: String, _ value: Value, sorted: Bool = false,
    same: @escaping @Sendable (Value, Value) -> Bool
  ) {
    self.name = name
    encode = {
      let encoder = StowEncoder()
      if sorted { encoder.outputFormatting = .sortedKeys }
      return try encoder.encode(value)
    }
    comesBack = { same(try StowDecoder().decode(Value.self, from: $0), value) }
  }

  static let all: [Example] = [
    integers, floats, strings, foundation, collections, objects, preludes, packedIntegers, packedFloats, rows,
    lengths,
  ].flatMap { $0 }
}

extension Example {
  static let integers: [Example] = [
    Example("nil", Int?.none),
    Example("nested-nil", Int??.some(nil)),
    Example("false", false),
    Example("true", true),
    Example("integer-zero", 0),
    Example("integer-smallest-in-tag", -16),
    Example("integer-largest-in-tag", 47),
    Example("integer-1-byte", 48),
    Example("integer-negative", -17),
    Example("integer-2-bytes", 1000),
    Example("integer-3-bytes", -100_000),
    Example("integer-8-bytes", Int64.max),
    Example("integer-unsigned", UInt64.max),
    Example("integer-128", Int128(1) << 64),
    Example("integer-unsigned-128", UInt128.max),
  ]

  static let floats: [Example] = [
    Example("float-integral", 5.0),
    Example("float-integral-3-bytes", -100_000.0),
    Example("float-short-decimal", 1.5),
    Example("float-short-decimal-2-bytes", -273.15),
    Example("float-decimal", 0.123456),
    Example("float-decimal-large", 5_000_000_001.0),
    Example("float-noisy-decimal", 0.1 + 0.2),
    Example("float-noisy-negative", 0.1 * 3 - 0.2),
    Example("float-4-bytes", Float(0.1)),
    Example("float-minus-zero", -0.0) { $0.bitPattern == $1.bitPattern },
    Example("float-infinity", -Double.infinity),
    Example("float-8-bytes", Double.pi),
    Example("float-nan", Double.nan) { $0.bitPattern == $1.bitPattern },
    Example("float-nan-4-bytes", Float(nan: 1, signaling: true)) { $0.bitPattern == $1.bitPattern },
  ]

  static let strings: [Example] = [
    Example("string-empty", ""),
    Example("string-short", "Stow"),
    Example("string-not-ascii", "Käse"),
    Example("string-32-bytes", "A string of exactly 32 bytes ..."),
    Example("data", Data([0xDE, 0xAD, 0xBE, 0xEF])),
  ]

  static let foundation: [Example] = [
    Example("uuid", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    Example("url", URL(string: "https://swift.org")),
    Example("date-whole", Date(timeIntervalSinceReferenceDate: 800_000_000)),
    Example("date-decimal", Date(timeIntervalSinceReferenceDate: 800_000_000.25)),
    Example("date-many-decimals", Date(timeIntervalSinceReferenceDate: 0.123456)),
    Example("date-8-bytes", Date(timeIntervalSinceReferenceDate: 1.0 / 3)),
    Example("decimal", Decimal(string: "12.34")),
    Example("decimal-negative", Decimal(string: "-1e10")),
    Example("decimal-zero", Decimal(0)),
    Example("decimal-nan", Decimal.nan) { $0.isNaN && $1.isNaN },
  ]

  static let collections: [Example] = [
    Example("array-empty", [String]()),
    Example("array-short", ["a", "b"]),
    Example("array-long", ["Lorem ipsum", "dolor sit"]),
    Example("array-of-optionals", [1, nil, 3]),
    Example("array-of-nested-optionals", [Int??.none, .some(.none), 5]),
    Example("array-nested", [["a"], [], ["b", "c"]]),
    Example("map-empty", [String: Int]()),
    Example("map-plain-key", ["id": 1]),
    Example("map-6-bit-key", ["name": 1]),
    Example("map-5-bit-key", ["street": 1]),
    Example("map-5-bit-shifted-key", ["media.type2": 1, "postalCode": 2], sorted: true),
    Example("map-6-bit-mixed-key", ["PNG_1": true]),
    Example("map-plain-key-not-ascii", ["größe": 1]),
    Example("map-empty-key", ["": 1]),
    Example("map-63-characters", [String(repeating: "a", count: 63): 1]),
    Example("map-64-characters", [String(repeating: "a", count: 64): 1]),
    Example("map-integer-keys", [10: "ten", 9: "nine"], sorted: true),
    Example("map-long", ["first": "Lorem ipsum", "second": "dolor sit amet"], sorted: true),
    Example("dictionary-of-other-keys", [Pair(left: 1, right: 2): "x"]),
  ]

  static let objects: [Example] = [
    Example("object-once", Person(name: "Ada", age: 36)),
    Example("object-nothing", [Person.Empty(), Person.Empty()]),
    Example("object-null", Explicit(value: nil)),
    Example("object-nested-nil", Levels(value: .some(nil))),
    Example("object-subclass", Child(name: "Ada", age: 36)),
  ]

  static let preludes: [Example] = [
    Example("symbol", ["Europe/Berlin", "Europe/Berlin"]),
    Example("symbol-too-small", ["no", "no", "no"]),
    Example("symbol-key", ["description": "description"]),
    Example("symbol-url", ["https://swift.org", "https://swift.org"].map(URL.init(string:))),
    Example("symbols-33", Ordered(keys: (1000..<1033).map { "\($0)" })),
    Example("records", [Person(name: "Ada", age: 36), Person(name: "Alan", age: 41)]),
    Example("records-too-small", [Small(id: "a"), Small(id: "b")]),
    Example("records-partial", [Contact(name: "Ada", mail: "a@b.c"), Contact(name: "Alan", phone: 5)]),
    Example("records-partial-empty", [Contact(), Contact(mail: "a@b.c", phone: 1), Contact(phone: 5)]),
    Example("records-of-maps", [["name": "x", "kind": "y"], ["name": "z", "kind": "w"]], sorted: true),
    Example(
      "records-two-shapes",
      Group(
        leader: Person(name: "Ada", age: 36), tools: [Tool(title: "a"), Tool(title: "b"), Tool(title: "c")],
        deputy: Person(name: "Alan", age: 41))),
    Example("records-nine-shapes", Nine()),
    Example("records-symbol-in-shape", [Named(name: "name"), Named(name: "name"), Named(name: "x")]),
  ]

  static let packedIntegers: [Example] = [
    Example("integers-tagged", [1, 2, 3]),
    Example("integers-1-byte", [100, -100, 50]),
    Example("integers-2-bytes", [1000, -1000, 500]),
    Example("integers-3-bytes", [100_000, -100_000, 50_000]),
    Example("integers-4-bytes", [10_000_000, -2_000_000_000]),
    Example("integers-unsigned", [UInt8](Data([200, 250, 0, 255]))),
    Example("integers-offsets", [1_000_000, 1_000_200, 1_000_100]),
    Example("integers-own-widths", [100, 101, 0, 1_000_000_000_000, 99, 98, 97, 200]),
    Example("integers-deltas", [1_700_000_000, 1_700_000_060, 1_700_000_120, 1_700_000_100]),
    Example(
      "integers-own-width-deltas",
      [
        3_000_000, 3_000_001, 3_000_002, 3_000_003, 3_000_004, 3_070_000, 3_070_001, 3_070_001, 3_070_002,
        500_000,
      ]),
    Example("bools-tagged", [true, false, true]),
    Example("bools", [true, false, true, true, false, false, false, true, true, true]),
  ]

  static let packedFloats: [Example] = [
    Example("floats-tagged", [1.0, .pi, 2.5]),
    Example("floats-integral", [1.0, 2.0, 3.0, 4.0, 5.0]),
    Example("floats-scaled", [12.5, 13.25, -3.75, 4.25]),
    Example("floats-noisy", [0.1 + 0.2, 0.7, 0.1 * 3 - 0.2]),
    Example("floats-noisy-integral", [5.0, .leastNonzeroMagnitude, 7.0, 9.0]),
    Example("floats-4-bytes", [Float](arrayLiteral: 0.1, 0.2)),
    Example("floats-8-bytes", [Double.pi, 1.0 / 3, -.pi]),
    Example("floats-and-integers", [Number.float(0.1 * 3), .integer(7), .float(0.1 * 6), .float(0.5)] as [Number]),
  ]

  static let rows: [Example] = [
    Example("table", [Point(x: 100, y: 1.5), Point(x: 200, y: -2.5), Point(x: 300, y: 0.5)]),
    Example("table-of-everything", (0..<6).map { Sample(row: $0) }),
    Example("matrix", [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]),
    Example("matrix-integers", [[100, 1000], [101, 1001], [102, 1002], [103, 1003]]),
    Example("table-constant-column", (1...4).map { Reading(unit: "mm", value: 100 * $0) }),
    Example(
      "matrix-mixed",
      (0..<5).map { (row: Int) -> [Number] in
        [.float(100.5 + Double(row)), row == 2 ? .integer(70) : .float(0.5 * Double(row))]
      }),
    Example("matrix-too-small", [[1, 2], [3, 4]]),
  ]

  static let lengths: [Example] = [
    Example("length-223", Data(count: 223)),
    Example("length-224", Data(count: 224)),
    Example("length-6367", Data(count: 6367)),
    Example("length-6368", Data(count: 6368)),
    Example("length-268511", Data(count: 268_511)),
    Example("length-268512", Data(count: 268_512)),
  ]
}

// MARK: - The types of the values

private struct Pair: Codable, Hashable {
  var left: Int
  var right: Int
}

private struct Person: Codable, Equatable {
  var name: String
  var age: Int

  struct Empty: Codable, Equatable {}
}

private struct Small: Codable, Equatable {
  var id: String
}

private struct Contact: Codable, Equatable {
  var name: String?
  var mail: String?
  var phone: Int?
}

private struct Tool: Codable, Equatable {
  var title: String
}

private struct Group: Codable, Equatable {
  var leader: Person
  var tools: [Tool]
  var deputy: Person
}

private struct Named: Codable, Equatable {
  var name: String
}

/// A map whose keys come in order, each with itself as its value.
private struct Ordered: Codable, Equatable {
  var keys: [String]

  struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(keys: [String]) { self.keys = keys }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    keys = try container.allKeys.map { try container.decode(String.self, forKey: $0) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for key in keys { try container.encode(key, forKey: Name(stringValue: key)) }
  }
}

private struct Levels: Codable, Equatable {
  var value: Int??
}

/// Writes a nil where a synthesized conformance would write nothing.
private struct Explicit: Codable, Equatable {
  var value: Int?

  enum CodingKeys: CodingKey { case value }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(value, forKey: .value)
  }
}

extension Explicit {
  init(from decoder: any Decoder) throws {
    value = try decoder.container(keyedBy: CodingKeys.self).decode(Int?.self, forKey: .value)
  }
}

/// An object with keys of two key types, as a class and its superclass write them.
private struct Child: Codable, Equatable {
  var name: String
  var age: Int

  enum BaseKeys: CodingKey { case name }
  enum OwnKeys: CodingKey { case age }

  init(name: String, age: Int) {
    self.name = name
    self.age = age
  }

  init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: BaseKeys.self).decode(String.self, forKey: .name)
    age = try decoder.container(keyedBy: OwnKeys.self).decode(Int.self, forKey: .age)
  }

  func encode(to encoder: any Encoder) throws {
    var base = encoder.container(keyedBy: BaseKeys.self)
    try base.encode(name, forKey: .name)
    var own = encoder.container(keyedBy: OwnKeys.self)
    try own.encode(age, forKey: .age)
  }
}

/// Eight key lists of dictionaries and the shape of a struct, each used twice.
private struct Nine: Codable, Equatable {
  var maps: [[String: String]] = (0..<16).map { ["key\($0 / 2)": "v"] }
  var pairs = [Half(here: 1, there: 2), Half(here: 3)]

  struct Half: Codable, Equatable {
    var here: Int
    var there: Int?
  }

  init() {}

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    maps = try (0..<16).map { _ in try container.decode([String: String].self) }
    pairs = try (0..<2).map { _ in try container.decode(Half.self) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for map in maps { try container.encode(map) }
    for pair in pairs { try container.encode(pair) }
  }
}

/// What JSON calls a number.
private enum Number: Codable, Equatable {
  case integer(Int)
  case float(Double)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let integer = try? container.decode(Int.self) {
      self = .integer(integer)
    } else {
      self = .float(try container.decode(Double.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .integer(let integer): try container.encode(integer)
    case .float(let float): try container.encode(float)
    }
  }
}

private struct Point: Codable, Equatable {
  var x: Int
  var y: Double
}

private struct Reading: Codable, Equatable {
  var unit: String
  var value: Int
}

private struct Sample: Codable, Equatable {
  var on: Bool
  var at: Date
  var id: Int
  var kind: String
  var f: Float

  init(row: Int) {
    on = row == 1
    at = Date(timeIntervalSinceReferenceDate: Double(row) / 7 + 1)
    id = 1_000_000 + row
    kind = "lidar"
    f = 0.1 * Float(row + 1)
  }
}
