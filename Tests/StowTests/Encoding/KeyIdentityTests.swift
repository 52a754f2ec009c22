import Foundation
import Stow
import StowNotation
import Testing

private let composed = "caf\u{e9}"
private let decomposed = "cafe\u{301}"

@Suite("Identity of keys")
struct KeyIdentityTests {
  @Test("a dictionary key that looks like a number is not changed")
  func numericStrings() throws {
    expectRoundTrip(["007": 1, "7": 2, "07": 3, "-1": 4, "+7": 5, "1e3": 6, "9223372036854775808": 7])
    #expect(failure(decoding: [Int: Int].self, from: ["007": 1, "7": 2]) == .dataCorrupted())
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

  @Test("two spellings are two keys of a key type")
  func spellings() throws {
    enum Spelling: CodingKey {
      case decomposedName, composedName
      var stringValue: String { self == .composedName ? composed : decomposed }
      var intValue: Int? { nil }
      init?(stringValue: String) { nil }
      init?(intValue: Int) { nil }
    }
    func message(_ keys: [(Spelling, Int)]) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: Spelling.self)
          for (key, value) in keys { try container.encode(value, forKey: key) }
        })
    }
    for keys in [
      [(.decomposedName, 1)], [(.composedName, 1)], [(.composedName, 1), (.decomposedName, 2)],
      [(.decomposedName, 1), (.composedName, 2)],
    ] as [[(Spelling, Int)]] {
      let data = try message(keys)
      #expect(try StowValue(from: data) == .object(StowObject(keys.map { ($0.stringValue, StowValue($1)) })))
      try read(message: data) { decoder in
        let container = try decoder.container(keyedBy: Spelling.self)
        for key in [Spelling.composedName, .decomposedName] {
          let value = keys.first { $0.0 == key }?.1
          #expect(try container.decodeIfPresent(Int.self, forKey: key) == value)
          #expect(container.contains(key) == (value != nil))
        }
      }
    }
  }

  @Test("keys of one name are one key, in whatever order messages use them")
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

  /// Objects with both spellings, however many keys there are beside them.
  private func both(_ others: Int) -> StowObject {
    var object: StowObject = [composed: 1, decomposed: 2]
    for number in 0..<others { object["key \(number)"] = StowValue(number) }
    return object
  }

  @Test("canonically equal keys are two keys while encoding", arguments: [0, 3, 20, 100])
  func canonicalEncoding(others: Int) throws {
    #expect(composed == decomposed && Array(composed.utf8) != Array(decomposed.utf8))
    let object = both(others)
    func write(_ encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      for (key, value) in object { try container.encode(value, forKey: AnyKey(key)) }
      // The last value of a key counts, in the place of the first.
      try container.encode(object[composed], forKey: AnyKey(composed))
    }
    for list in [[object], [object, object]] {
      let written = try StowEncoder().encode(list.map { _ in Writes { try write($0) } })
      let value = try StowValue(from: written)
      #expect(value == .array(list.map { .object($0) }))
      #expect(try value.encoded() == written)
    }
    try expectWritten([composed: ["x": 1], "o": ["x": 1, "y": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for (name, key, value) in [("o", "x", 1), (composed, "x", 1), ("o", "y", 2)] {
        var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(name))
        try nested.encode(value, forKey: AnyKey(key))
      }
    }
  }

  @Test("sorted keys are in the order of their bytes")
  func sorted() throws {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let value: StowValue = ["f": 1, composed: 2, decomposed: 3, "z": 4]
    let sorted = try StowValue(from: encoder.encode(value))
    #expect(
      try #require(sorted.object).keys.map { Array($0.utf8) }
        == [decomposed, composed, "f", "z"].map { Array($0.utf8) })
  }

  @Test("a key is found by its bytes alone", arguments: [0, 3, 20, 100])
  func canonicalDecoding(others: Int) throws {
    for key in [composed, decomposed] {
      var object = both(others)
      let other = key.hasSameBytes(as: composed) ? decomposed : composed
      object[other] = nil
      for list in [[object], [object, object]] {
        let message = try StowEncoder().encode(list.map { StowValue.object($0) })
        #expect(try StowDecoder().decode(Int.self, from: message, at: [0, .key(key)]) == object[key]?.int)
        #expect(throws: DecodingError.self) { try StowDecoder().decode(Int.self, from: message, at: [0, .key(other)]) }
        try read(message: message) { decoder in
          var list = try decoder.unkeyedContainer()
          while !list.isAtEnd {
            let container = try list.nestedContainer(keyedBy: AnyKey.self)
            for _ in 0..<2 {
              #expect(try container.decode(Int.self, forKey: AnyKey(key)) == object[key]?.int)
              #expect(!container.contains(AnyKey(other)))
              #expect(throws: DecodingError.self) { try container.decode(Int.self, forKey: AnyKey(other)) }
            }
          }
        }
      }
    }
  }

  @Test("an object with both spellings is read as a value, but not as a dictionary", arguments: [0, 3, 20, 100])
  func bothSpellings(others: Int) throws {
    let object = both(others)
    // Maps, records, and rows of a table.
    for list in [[object], [object, object], Array(repeating: object, count: 20)] {
      let value: StowValue = ["list": .array(list.map { .object($0) })]
      let message = try value.encoded()
      let copy = try StowValue(from: message)
      #expect(copy == value && copy["list"]?[0]?[decomposed] == 2 && copy["list"]?[0]?[composed] == 1)
      #expect(try StowValue(notation: copy.description) == copy)
      #expect(try copy.encoded() == message)
      #expect(try StowMessage(from: message).keys(at: ["list", 0]).count == object.count)
      try read(message: message) { decoder in
        let container = try decoder.container(keyedBy: AnyKey.self)
        var list = try container.nestedUnkeyedContainer(forKey: "list")
        while !list.isAtEnd {
          let inner = try list.nestedContainer(keyedBy: AnyKey.self)
          #expect(inner.allKeys.count == object.count)
          for key in inner.allKeys {
            #expect(try inner.decode(Int.self, forKey: key) == object[key.stringValue]?.int)
          }
        }
      }
      expectCollision(in: message, as: [String: [[String: Int]]].self)
      expectCollision(in: message, as: [String: [[String: StowValue]]].self)
      expectCollision(in: message, as: [String: [[String: Int?]]].self)
    }
  }

  @Test("both spellings are the first fault of an object in every form", arguments: [1, 20])
  func collisionBeforeOthers(count: Int) throws {
    let rows = (0..<count).map { number -> StowValue in
      var object = StowObject()
      (object[composed], object[decomposed]) = (.integer(Int128(number)), .double(Double(number) / 3))
      object["other"] = .bool(number % 2 == 0)
      return .object(object)
    }
    let value: StowValue = ["list": .array(rows)]
    expectCollision(in: try value.encoded(), as: [String: [[String: Double]]].self)
  }

  private func expectCollision<Value: Decodable>(in message: Data, as type: Value.Type) {
    #expect {
      try StowDecoder().decode(type, from: message)
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return context.codingPath.map(\.stringValue) == ["list", "Index 0"]
        && context.debugDescription.contains("spelling")
    }
  }

  @Test("a struct whose key is spelled differently does not find it")
  func canonicalStruct() throws {
    struct Composed: Codable {
      var value: Int?
      enum CodingKeys: String, CodingKey { case value = "caf\u{e9}" }
    }
    struct Decomposed: Codable {
      var other: String
      var value: Int?
      enum CodingKeys: String, CodingKey {
        case other
        case value = "cafe\u{301}"
      }
    }
    let values = [Decomposed(other: "o", value: 1), Decomposed(other: "o", value: 3)]
    for count in 1...2 {
      let message = try StowEncoder().encode(Array(values.prefix(count)))
      #expect(
        try StowDecoder().decode([Composed].self, from: message).map(\.value)
          == Array(repeating: nil, count: count))
      #expect(
        try StowDecoder().decode([Decomposed].self, from: message).map(\.value)
          == values.prefix(count).map(\.value))
    }
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
