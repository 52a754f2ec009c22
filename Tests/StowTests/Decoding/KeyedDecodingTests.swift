import Stow
import Testing

@Suite("Reading objects")
struct KeyedDecodingTests {
  private struct Wide: Codable, Equatable {
    var a = 1
    var b = "two"
    var c = [3.5]
    var d = ["four": true]
    var e: Int? = 5
    var f = Inner()

    struct Inner: Codable, Equatable {
      var x = 1
      var y = ["y"]
    }
  }

  private static func withWide<R>(_ body: @escaping (KeyedDecodingContainer<AnyKey>) throws -> R) throws -> R {
    try read([Wide(), Wide()]) { decoder in
      var list = try decoder.unkeyedContainer()
      _ = try list.decode(Wide.self)
      return try body(list.nestedContainer(keyedBy: AnyKey.self))
    }
  }

  @Test("unknown keys are skipped, whatever their values")
  func unknownKeys() throws {
    struct Narrow: Codable, Equatable {
      var e: Int
    }
    #expect(try transcode(Wide(), to: Narrow.self) == Narrow(e: 5))
    #expect(try transcode([Wide(), Wide()], to: [Narrow].self) == [Narrow(e: 5), Narrow(e: 5)])
    let value: JSONValue = [
      "a": nil, "b": [[], [:], [1, [2.5]]], "c": ["d": ["x": "y"]], "e": 7, "f": "text", "g": 1.25,
    ]
    #expect(try transcode(value, to: Narrow.self) == Narrow(e: 7))
  }

  @Test("an object without known keys is skipped")
  func nothingKnown() throws {
    struct Empty: Codable, Equatable {}
    #expect(try transcode(Wide(), to: Empty.self) == Empty())
    #expect(try transcode([Wide(), Wide(), Wide()], to: [Empty].self).count == 3)
  }

  @Test("fields can be read in any order")
  func anyOrder() throws {
    let keys = ["a", "b", "c", "d", "e", "f"]
    for rotation in keys.indices {
      for order in [Array(keys[rotation...] + keys[..<rotation]), keys.reversed()] {
        try Self.withWide { container in
          for key in order { try Self.expectField(key, in: container) }
        }
      }
    }
  }

  @Test("fields can be read more than once")
  func twice() throws {
    try Self.withWide { container in
      for key in ["f", "f", "a", "c", "a", "d", "d", "b", "e", "b", "e", "f"] {
        try Self.expectField(key, in: container)
      }
    }
  }

  /// Two keys of one name, and one that objects lack.
  private enum TwinKeys: CodingKey {
    case one, other, missing
    var stringValue: String { self == .missing ? "missing" : "name" }
  }

  @Test("two keys of one name read one value, also after the last") func keysOfOneName() throws {
    let values = try read(["name": 7]) { decoder in
      let object = try decoder.container(keyedBy: TwinKeys.self)
      let one = try object.decode(Int.self, forKey: .one)
      let missing = try object.decodeIfPresent(Int.self, forKey: .missing)
      return [one, missing, try object.decode(Int.self, forKey: .other)]
    }
    #expect(values == [7, nil, 7])
  }

  @Test("the next object can be read if no field of an object was")
  func never() throws {
    try read([Wide(), Wide()]) { decoder in
      var list = try decoder.unkeyedContainer()
      _ = try list.nestedContainer(keyedBy: AnyKey.self)
      #expect(list.currentIndex == 1)
      #expect(try list.decode(Wide.self) == Wide())
      #expect(list.isAtEnd)
    }
  }

  private static func expectField(_ key: String, in container: KeyedDecodingContainer<AnyKey>) throws {
    let wide = Wide()
    switch key {
    case "a": #expect(try container.decode(Int.self, forKey: "a") == wide.a)
    case "b": #expect(try container.decode(String.self, forKey: "b") == wide.b)
    case "c": #expect(try container.decode([Double].self, forKey: "c") == wide.c)
    case "d": #expect(try container.decode([String: Bool].self, forKey: "d") == wide.d)
    case "e": #expect(try container.decode(Int?.self, forKey: "e") == wide.e)
    default: #expect(try container.decode(Wide.Inner.self, forKey: "f") == wide.f)
    }
  }

  @Test("decodeIfPresent returns nil for a key that is missing or nil")
  func decodeIfPresent() throws {
    try read(["present": 1, "null": nil] as JSONValue) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(try container.decodeIfPresent(Int.self, forKey: "present") == 1)
      #expect(try container.decodeIfPresent(Int.self, forKey: "null") == nil)
      #expect(try container.decodeIfPresent(Int.self, forKey: "missing") == nil)
      #expect(try container.decodeIfPresent([String].self, forKey: "null") == nil)
      #expect(try container.decodeIfPresent([String].self, forKey: "missing") == nil)
      #expect(try container.decodeIfPresent(Wide.self, forKey: "null") == nil)
      #expect(try container.decodeIfPresent(Wide.self, forKey: "missing") == nil)
      #expect(throws: DecodingError.self) { try container.decodeIfPresent(String.self, forKey: "present") }
    }
  }

  @Test("decoding an optional returns nil for nil, and throws for a missing key")
  func decodeOptional() throws {
    try read(["null": nil] as JSONValue) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(try container.decode(Int?.self, forKey: "null") == nil)
      #expect(failure { try container.decode(Int?.self, forKey: "missing") } == .keyNotFound("missing"))
    }
  }

  @Test("contains returns true for an explicit nil")
  func contains() throws {
    try read(["present": 1, "null": nil] as JSONValue) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(container.contains("present"))
      #expect(container.contains("null"))
      #expect(!container.contains("missing"))
      #expect(try container.decodeNil(forKey: "null"))
      #expect(try !container.decodeNil(forKey: "present"))
      #expect(failure { try container.decodeNil(forKey: "missing") } == .keyNotFound("missing"))
    }
  }

  @Test("allKeys returns the keys that the key type knows")
  func allKeys() throws {
    enum Some: String, CodingKey { case a, c, z }
    try read(["a": 1, "b": nil, "c": [3]] as JSONValue) { decoder in
      let all = try decoder.container(keyedBy: AnyKey.self).allKeys
      #expect(all.map(\.stringValue).sorted() == ["a", "b", "c"])
      let some = try decoder.container(keyedBy: Some.self).allKeys
      #expect(some.map(\.stringValue).sorted() == ["a", "c"])
    }
    #expect(try read([String: Int]()) { try $0.container(keyedBy: AnyKey.self).allKeys.isEmpty })
  }

  @Test("allKeys does not contain absent optionals")
  func allKeysOfRecords() throws {
    struct Sparse: Codable {
      var a: Int?
      var b: Int?
      var c: Int?
    }
    let values = [Sparse(a: 1), Sparse(b: 2), Sparse(), Sparse(a: 1, b: 2, c: 3)]
    let keys = try read(values) { decoder in
      var list = try decoder.unkeyedContainer()
      return try (0..<4).map { _ in
        try list.nestedContainer(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
      }
    }
    #expect(keys == [["a"], ["b"], [], ["a", "b", "c"]])
  }

  @Test("superDecoder reads the key super, and superDecoder(forKey:) its own key")
  func superDecoder() throws {
    try read(["super": ["s": 1], "own": [2], "n": nil] as JSONValue) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      let parent = try container.superDecoder().container(keyedBy: AnyKey.self)
      #expect(try parent.decode(Int.self, forKey: "s") == 1)
      #expect(try container.superDecoder(forKey: "own").readSingle([Int].self) == [2])
      #expect(try container.superDecoder(forKey: "n").singleValueContainer().decodeNil())
    }
  }

  @Test("the super decoder of a missing key is a decoder of nil")
  func missingSuperDecoder() throws {
    try read(["a": 1]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      for decoder in [try container.superDecoder(), try container.superDecoder(forKey: "missing")] {
        #expect(try decoder.singleValueContainer().decodeNil())
        #expect(try decoder.readSingle(Int?.self) == nil)
        let path = steps(decoder.codingPath)
        for error in [
          failure { try decoder.readSingle(Int.self) },
          failure { try decoder.container(keyedBy: AnyKey.self) },
          failure { try decoder.unkeyedContainer() },
        ] {
          #expect(error == Failure(kind: .valueNotFound, path: path))
        }
      }
    }
  }

  @Test("the super decoder of a missing key decodes types that accept nil")
  func missingSuperDecoderOfGenericValue() throws {
    try read(["a": 1]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      for decoder in [try container.superDecoder(), try container.superDecoder(forKey: "missing")] {
        #expect(try decoder.readSingle(JSONValue.self) == .null)
        #expect(try decoder.readSingle(JSONValue?.self) == nil)
        #expect(failure { try decoder.readSingle([JSONValue].self) }?.kind == .valueNotFound)
      }
    }
  }

  @Test("several containers on one decoder read independently")
  func severalContainers() throws {
    try read(["a": 1, "b": 2, "c": 3]) { decoder in
      let first = try decoder.container(keyedBy: AnyKey.self)
      let second = try decoder.container(keyedBy: AnyKey.self)
      #expect(try first.decode(Int.self, forKey: "c") == 3)
      #expect(try second.decode(Int.self, forKey: "a") == 1)
      #expect(try first.decode(Int.self, forKey: "a") == 1)
      #expect(try decoder.readSingle([String: Int].self).count == 3)
      #expect(try second.decode(Int.self, forKey: "c") == 3)
    }
  }
}
