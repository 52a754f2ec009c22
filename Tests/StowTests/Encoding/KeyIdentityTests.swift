import Stow
import Testing

private let composed = "caf\u{e9}"
private let decomposed = "cafe\u{301}"

@Suite("Keys are their string values alone, compared as Swift compares strings")
struct KeyIdentityTests {
  @Test("a dictionary key that looks like a number stays what it is")
  func numericStrings() throws {
    expectRoundTrip(["007": 1, "7": 2, "07": 3, "-1": 4, "+7": 5, "1e3": 6, "9223372036854775808": 7])
    #expect(try transcode(["007": 1, "7": 2], to: [Int: Int].self)[7] != nil)
  }

  @Test("keys with equal integers and different strings are different")
  func sameIntegers() throws {
    try expectWritten(["a": 1, "b": 2, "7": 3]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey("a", 7))
      try container.encode(2, forKey: AnyKey("b", 7))
      try container.encode(3, forKey: AnyKey("7", nil))
    }
    try read(["a": 1, "b": 2]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(try container.decode(Int.self, forKey: AnyKey("a", 7)) == 1)
      #expect(try container.decode(Int.self, forKey: AnyKey("b", 7)) == 2)
      #expect(!container.contains(AnyKey("c", 7)))
    }
  }

  @Test("keys with equal strings and different integers are the same")
  func sameStrings() throws {
    try expectWritten(["a": 2]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey("a", 1))
      try container.encode(2, forKey: AnyKey("a", 2))
    }
    try read(["a": 1]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(try container.decode(Int.self, forKey: AnyKey("a", 99)) == 1)
    }
  }

  @Test("of two spellings a message has the one that it asks for first, whatever other messages asked for")
  func spellings() throws {
    enum Spelling: CodingKey {
      case decomposedName, composedName
      var stringValue: String { self == .composedName ? composed : decomposed }
      var intValue: Int? { nil }
      init?(stringValue: String) { nil }
      init?(intValue: Int) { nil }
    }
    func message(_ keys: Spelling?...) -> Writes {
      Writes { encoder in
        var container = encoder.container(keyedBy: Spelling.self)
        for key in keys { try container.encodeIfPresent(key.map { _ in 1 }, forKey: key ?? .decomposedName) }
      }
    }
    let encoder = StowEncoder()
    for _ in 0..<3 {
      #expect(try encoder.encode(message(.decomposedName)) == encoder.encode([decomposed: 1]))
      #expect(try encoder.encode(message(.composedName)) == encoder.encode([composed: 1]))
      #expect(try encoder.encode(message(.composedName, .decomposedName)) == encoder.encode([composed: 1]))
      #expect(try encoder.encode(message(.decomposedName, .composedName)) == encoder.encode([decomposed: 1]))
      // Asked for without a value is asked for.
      #expect(try encoder.encode(message(nil, .composedName)) == encoder.encode([decomposed: 1]))
      #expect(try encoder.encode(message(.composedName, nil)) == encoder.encode([composed: 1]))
    }
  }

  @Test("keys of one name are one key, in whatever order messages ask for them")
  func manyOfOneName() throws {
    struct Key: CodingKey {
      let byte: UInt8
      var stringValue: String { byte % 3 == 0 ? "same" : "other \(byte)" }
      var intValue: Int? { nil }
      init(_ byte: UInt8) { self.byte = byte }
      init?(stringValue: String) { nil }
      init?(intValue: Int) { nil }
    }
    var random = SystemRandomNumberGenerator()
    for _ in 0..<400 {
      let keys = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        Key(UInt8.random(in: 0..<12, using: &random))
      }
      var expected: [String: JSONValue] = [:]
      for (index, key) in keys.enumerated() { expected[key.stringValue] = .int(Int64(index)) }
      let object = Writes { encoder in
        var container = encoder.container(keyedBy: Key.self)
        for (index, key) in keys.enumerated() { try container.encode(index, forKey: key) }
      }
      #expect(try transcode(object, to: JSONValue.self) == .object(expected))
      #expect(try transcode([object, object], to: JSONValue.self) == [.object(expected), .object(expected)])
    }
  }

  @Test("of two spellings of a free key a message has its first, but dictionaries by themselves keep theirs")
  func freeSpellings() throws {
    func message(_ objects: [[String]]) -> Writes {
      Writes { encoder in
        var list = encoder.unkeyedContainer()
        for names in objects {
          var container = list.nestedContainer(keyedBy: AnyKey.self)
          for name in names { try container.encode(1, forKey: AnyKey(name)) }
        }
      }
    }
    let encoder = StowEncoder()
    let first = try encoder.encode(message([[composed], [composed, "x"]]))
    #expect(try encoder.encode(message([[composed], [decomposed, "x"]])) == first)
    #expect(try encoder.encode(message([[composed], [composed, "x", decomposed]])) == first)
    let dictionaries = [[composed: 1], [decomposed: 1]]
    let unified = [[composed: 1], [composed: 1]]
    #expect(try encoder.encode(dictionaries) != encoder.encode(unified))
    encoder.outputFormatting = .sortedKeys
    #expect(try encoder.encode(dictionaries) == encoder.encode(unified))
  }

  @Test("two cases of a key type with the same string are one key")
  func equalCases() throws {
    enum Alias: CodingKey, CaseIterable {
      case first, second, third
      var stringValue: String { self == .third ? "three" : "one" }
      var intValue: Int? { nil }
      init?(stringValue: String) { self = stringValue == "three" ? .third : .first }
      init?(intValue: Int) { nil }
    }
    try expectWritten(["one": 2, "three": 3]) { encoder in
      var container = encoder.container(keyedBy: Alias.self)
      try container.encode(1, forKey: .first)
      try container.encode(3, forKey: .third)
      try container.encode(2, forKey: .second)
    }
    try read(["one": 1, "three": 3]) { decoder in
      let container = try decoder.container(keyedBy: Alias.self)
      #expect(try container.decode(Int.self, forKey: .second) == 1)
      #expect(try container.decode(Int.self, forKey: .first) == 1)
      #expect(try container.decode(Int.self, forKey: .third) == 3)
      #expect(container.contains(.second))
    }
  }

  @Test("canonically equal keys are one key while encoding")
  func canonicalEncoding() throws {
    #expect(composed == decomposed && Array(composed.utf8) != Array(decomposed.utf8))
    try expectWritten([composed: 2, "o": ["x": 1, "y": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey(composed))
      try container.encode(2, forKey: AnyKey(decomposed))
      var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: "o")
      try object.encode(1, forKey: "x")
      try object.encode(2, forKey: "y")
    }
    try expectWritten([composed: ["x": 1, "y": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for (name, key, value) in [(composed, "x", 1), (decomposed, "y", 2)] {
        var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(name))
        try nested.encode(value, forKey: AnyKey(key))
      }
    }
  }

  @Test("canonically equal keys are one key while decoding", arguments: [composed, decomposed])
  func canonicalDecoding(key: String) throws {
    for value in [[key: 1], [key: 1, "x": 2], ["x": 2, key: 1]] {
      try read([value, value]) { decoder in
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
          let container = try list.nestedContainer(keyedBy: AnyKey.self)
          for name in [composed, decomposed, composed] {
            #expect(container.contains(AnyKey(name)))
            #expect(try container.decode(Int.self, forKey: AnyKey(name)) == 1)
          }
        }
      }
    }
  }

  @Test("a struct whose key is spelled otherwise reads it")
  func canonicalStruct() throws {
    struct Composed: Codable {
      var value: [Int]
      enum CodingKeys: String, CodingKey { case value = "caf\u{e9}" }
    }
    struct Decomposed: Codable {
      var other: String
      var value: [Int]
      enum CodingKeys: String, CodingKey {
        case other
        case value = "cafe\u{301}"
      }
    }
    let values = [Decomposed(other: "o", value: [1, 2]), Decomposed(other: "o", value: [3])]
    #expect(try transcode(values, to: [Composed].self).map(\.value) == [[1, 2], [3]])
  }

  @Test("keys that differ in case or by invisible characters are different")
  func similar() throws {
    expectRoundTrip(["key": 1, "Key": 2, "KEY": 3, "key ": 4, " key": 5, "key\u{0}": 6, "ke\u{200B}y": 7])
    expectRoundTrip(["\u{212B}": 1, "A": 2, "K": 3, "\u{FF21}": 4, "\u{391}": 5, "\u{410}": 6])
  }

  @Test("keys keep their exact bytes")
  func exactBytes() throws {
    for key in [composed, decomposed, "\u{212B}", "\u{1E9B}\u{323}"] {
      let copy = try roundTrip([key: 1])
      #expect(copy.keys.map { Array($0.utf8) } == [Array(key.utf8)])
    }
  }
}
