import Foundation
import Stow
import Testing

@Suite("Values amended and replaced")
struct AmendedValueTests {
  private struct Point: Codable {
    var x = 1
    var y = 2
  }

  @Test("an object encoded for a key is amended by nestedContainer(forKey:)")
  func amendedObject() throws {
    try expectWritten(["o": ["x": 1, "y": 5, "z": 3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Point(), forKey: "o")
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: "o")
      try nested.encode(3, forKey: "z")
      try nested.encode(5, forKey: "y")
    }
  }

  @Test("of two values for a key, one recorded within the other, the outer one stays")
  func withinItself() throws {
    enum Key: String, CodingKey { case before, key, after }
    func check<K: CodingKey>(_ keys: K...) throws {
      for isFirst in [true, false] {
        let value = Writes { encoder in
          var container = encoder.container(keyedBy: K.self)
          try container.encode(0, forKey: keys[0])
          let copy = container
          func write(_ value: some Encodable, _ number: Int = 1) throws {
            var container = copy
            try container.encode(value, forKey: keys[number])
          }
          let outer = Writes { encoder in
            if isFirst { try write(["inner"]) }
            var own = encoder.container(keyedBy: AnyKey.self)
            try own.encode(1, forKey: "outer")
            if !isFirst { try write("inner") }
            try own.encode(2, forKey: "more")
          }
          try container.encode([outer], forKey: keys[1])
          try container.encode(outer, forKey: keys[1])
          try? container.encode(
            Writes {
              try write("inner", 2)
              try $0.writeSingle("lost")
              throw Refusal()
            }, forKey: keys[2])
        }
        let json = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        #expect(try transcode(value, to: JSONValue.self) == json)
      }
    }
    try check(Key.before, .key, .after)
    try check(AnyKey("before"), "key", "after")
  }

  @Test("a container for a key whose value is being encoded is not part of that value")
  func containerWithinItself() throws {
    enum Key: String, CodingKey { case key }
    func check<K: CodingKey>(_ key: K, follows: Bool, refuses: Bool, isList: Bool) throws {
      let value = Writes { encoder in
        var container = encoder.container(keyedBy: K.self)
        if follows, isList { try container.encode([0], forKey: key) }
        if follows, !isList { try container.encode(["early": 0], forKey: key) }
        let copy = container
        func inner(_ number: Int) throws {
          var container = copy
          if isList {
            var list = container.nestedUnkeyedContainer(forKey: key)
            try list.encode(number)
          } else {
            var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
            try object.encode(number, forKey: "same")
            try object.encode(number, forKey: "inner")
          }
        }
        let outer = Writes { encoder in
          if isList {
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            try inner(2)
            try list.encode(3)
          } else {
            var object = encoder.container(keyedBy: AnyKey.self)
            try object.encode(1, forKey: "same")
            try inner(2)
            try object.encode(3, forKey: "last")
          }
          try inner(4)
          if refuses { throw Refusal() }
        }
        try? container.encode(outer, forKey: key)
      }
      let json = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
      #expect(try transcode(value, to: JSONValue.self) == json, "\(key) \(follows) \(refuses) \(isList)")
    }
    for number in 0..<8 {
      let (follows, refuses, isList) = (number & 1 > 0, number & 2 > 0, number & 4 > 0)
      try check(Key.key, follows: follows, refuses: refuses, isList: isList)
      try check(AnyKey("key"), follows: follows, refuses: refuses, isList: isList)
    }
  }

  @Test("values continued after an error or as long arrays are not part of a container for the key")
  func containerWithinWhatGoesOn() throws {
    func encoded(_ body: @escaping (any Encoder, KeyedEncodingContainer<AnyKey>) throws -> Void) throws
      -> StowValue?
    {
      let value = Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        let copy = container
        try container.encode(Writes { try body($0, copy) }, forKey: "key")
      }
      return try StowValue(from: StowEncoder().encode(value))["key"]
    }
    let afterError = try encoded { encoder, copy in
      try? encoder.writeSingle(
        Writes { _ in
          var outer = copy
          try outer.encode(0, forKey: "other")
          throw Refusal()
        })
      var own = encoder.container(keyedBy: AnyKey.self)
      try own.encode(1, forKey: "same")
      var outer = copy
      var nested = outer.nestedContainer(keyedBy: AnyKey.self, forKey: "key")
      try nested.encode(2, forKey: "same")
    }
    #expect(afterError == ["same": 1])
    let longArray = try encoded { encoder, copy in
      try encoder.writeSingle(Array(0..<20))
      var outer = copy
      try outer.encode(0, forKey: "other")
      _ = encoder.unkeyedContainer()
      var nested = outer.nestedUnkeyedContainer(forKey: "key")
      try nested.encode(99)
    }
    #expect(longArray?.array?.count == 20)
  }

  private enum Field: String, CodingKey { case a, b, value, `super` }

  @Test("keys have the order in which nested containers of their type first use them, even as strings")
  func orderOfStrings() throws {
    let value = Writes { encoder in
      var container = encoder.container(keyedBy: Field.self)
      let strings = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(1, forKey: "a")
      }
      try container.encode(strings, forKey: .value)
      var nested = container.nestedContainer(keyedBy: Field.self, forKey: .value)
      try nested.encode(2, forKey: .a)
      try container.encode(3, forKey: .b)
      try container.encode(4, forKey: .a)
    }
    #expect(try StowMessage(from: StowEncoder().encode(value)).keys() == ["value", "a", "b"])
  }

  @Test("with .sortedKeys, a typed key encoded again as a string keeps its first place")
  func orderOfSuper() throws {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let value = Writes { encoder in
      var container = encoder.container(keyedBy: Field.self)
      let copy = container
      try container.encode(0, forKey: .a)
      let inner = Writes { encoder in
        var outer = copy
        _ = encoder.container(keyedBy: Field.self)
        try outer.encode(1, forKey: .b)
      }
      try container.encode(inner, forKey: .super)
      _ = container.superEncoder()
    }
    #expect(try StowMessage(from: encoder.encode(value)).keys() == ["a", "super", "b"])
  }

  @Test("a value can be encoded after one that recorded nothing and then threw")
  func afterNothing() throws {
    try expectWritten(["key": 2]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let value = Writes { encoder in
        let nothing = Writes { encoder in
          try encoder.writeSingle(Writes { _ in })
          throw Refusal()
        }
        #expect(throws: Refusal.self) { try encoder.writeSingle(nothing) }
        try encoder.writeSingle(2)
      }
      try container.encode(value, forKey: "key")
    }
  }

  @Test("of two elements, one recorded within the other, the outer one comes last")
  func elementWithinItself() throws {
    let value = Writes { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(0)
      let copy = list
      let outer = Writes { encoder in
        var list = copy
        try list.encode("inner")
        try encoder.writeSingle(["outer"])
      }
      try list.encode(outer)
      try list.encode(2)
    }
    let json = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    #expect(try transcode(value, to: JSONValue.self) == json)
  }

  @Test("a dictionary encoded for a key is amended by nestedContainer(forKey:)")
  func amendedDictionary() throws {
    try expectWritten(["d": ["a": 1, "b": 2, "c": 3], "i": ["1": 1, "2": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(["a": 1, "b": 0], forKey: "d")
      try container.encode([1: 1], forKey: "i")
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: "d")
      try nested.encode(2, forKey: "b")
      try nested.encode(3, forKey: "c")
      var integers = container.nestedContainer(keyedBy: AnyKey.self, forKey: "i")
      try integers.encode(2, forKey: "2")
    }
  }

  @Test("an array encoded for a key is amended by nestedUnkeyedContainer(forKey:)")
  func amendedArray() throws {
    try expectWritten(["l": [1, 2, "three"], "e": [1], "s": ["a", "b"]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode([1, 2], forKey: "l")
      try container.encode([Int](), forKey: "e")
      try container.encode(["a"], forKey: "s")
      var list = container.nestedUnkeyedContainer(forKey: "l")
      #expect(list.count == 2)
      try list.encode("three")
      var empty = container.nestedUnkeyedContainer(forKey: "e")
      try empty.encode(1)
      var strings = container.nestedUnkeyedContainer(forKey: "s")
      try strings.encode("b")
    }
  }

  @Test("a dictionary encoded by a single-value container is amended by a keyed one")
  func dictionaryThenKeyed() throws {
    try expectWritten(["a": 1, "b": 3]) { encoder in
      try encoder.writeSingle(["a": 1, "b": 2])
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(3, forKey: "b")
    }
  }

  @Test("an object encoded by a single-value container is amended by a keyed one")
  func objectThenKeyed() throws {
    try expectWritten(["list": [["x": 1, "y": 2, "z": 3]]]) { encoder in
      let amended = Writes { encoder in
        try encoder.writeSingle(Point())
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(3, forKey: "z")
      }
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode([amended], forKey: "list")
    }
  }

  @Test("an element added to a long array has its path and its depth")
  func amendedLongArray() throws {
    func encode(_ add: @escaping (inout any UnkeyedEncodingContainer) throws -> Void) throws -> StowValue {
      let encoder = StowEncoder()
      encoder.maximumDepth = 3
      let value = Writes { encoder in
        try encoder.writeSingle(Array(0..<20))
        var list = encoder.unkeyedContainer()
        #expect(steps(list.codingPath) == [0, "list"])
        try add(&list)
      }
      return try StowValue(from: encoder.encode([["list": value]]))
    }
    let added = try encode { list in
      try list.encode(
        Writes { encoder in
          #expect(steps(encoder.codingPath) == [0, "list", 20])
          try encoder.writeSingle("added")
        })
    }
    #expect(added[0]?["list"]?[20] == "added")
    #expect(failure { try encode { try $0.encode([1]) } } == .invalidValue(0, "list", 20))
    #expect(failure { try encode { _ = $0.nestedUnkeyedContainer() } } == .invalidValue(0, "list", 20))
  }

  @Test("an array encoded by a single-value container is amended by an unkeyed one")
  func arrayThenUnkeyed() throws {
    try expectWritten([1, 2, 3]) { encoder in
      try encoder.writeSingle([1, 2])
      var container = encoder.unkeyedContainer()
      #expect(container.count == 2)
      try container.encode(3)
    }
  }

  @Test("an array that replaced a nested one is amended")
  func replacedArray() throws {
    enum Keys: CodingKey { case a, b }
    try expectWritten(["a": [2, 3], "b": 1]) { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var first = container.nestedUnkeyedContainer(forKey: .a)
      try first.encode(1)
      try container.encode([2], forKey: .a)
      try container.encode(1, forKey: .b)
      var second = container.nestedUnkeyedContainer(forKey: .a)
      try second.encode(3)
    }
    try expectWritten(["a": [2, 3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      _ = container.nestedUnkeyedContainer(forKey: "a")
      try container.encode([2], forKey: "a")
      var second = container.nestedUnkeyedContainer(forKey: "a")
      try second.encode(3)
    }
  }

  @Test("an object in a super encoder is amended by nestedContainer(forKey:)")
  func amendedSuperEncoder() throws {
    try expectWritten(["o": ["x": 1, "y": 2], "late": ["x": 1, "z": 3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.superEncoder(forKey: "o").writeSingle(["x": 1])
      let late = container.superEncoder(forKey: "late")
      var first = container.nestedContainer(keyedBy: AnyKey.self, forKey: "o")
      try first.encode(2, forKey: "y")
      try late.writeSingle(["x": 1])
      var second = container.nestedContainer(keyedBy: AnyKey.self, forKey: "late")
      try second.encode(3, forKey: "z")
    }
  }

  @Test("the last value for a key wins if scalars replace scalars")
  func scalarOverScalar() throws {
    try expectWritten(["a": "last", "b": nil, "c": 3]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      try container.encode(2, forKey: "b")
      try container.encode("last", forKey: "a")
      try container.encodeNil(forKey: "b")
      try container.encodeNil(forKey: "c")
      try container.encode(3, forKey: "c")
    }
  }

  @Test("the last value for a key wins if scalars replace containers")
  func scalarOverContainer() throws {
    try expectWritten(["a": 1, "b": 2, "c": 3]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Point(), forKey: "a")
      try container.encode([1, 2, 3], forKey: "b")
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: "c")
      try nested.encode(0, forKey: "lost")
      try container.encode(1, forKey: "a")
      try container.encode(2, forKey: "b")
      try container.encode(3, forKey: "c")
      try nested.encode(0, forKey: "also lost")
    }
  }

  @Test("the last value for a key wins if containers replace scalars")
  func containerOverScalar() throws {
    try expectWritten(["a": ["x": 1, "y": 2], "b": [1, 2], "c": ["k": "v"]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for key in ["a", "b", "c"] as [AnyKey] { try container.encode("replaced", forKey: key) }
      try container.encode(Point(), forKey: "a")
      try container.encode([1, 2], forKey: "b")
      try container.encode(["k": "v"], forKey: "c")
    }
  }

  @Test("the last value for a key wins, and encode replaces objects without merging them")
  func objectOverObject() throws {
    try expectWritten(["a": ["x": 1, "y": 2], "b": [3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(["lost": 1, "x": 9], forKey: "a")
      try container.encode(Point(), forKey: "a")
      try container.encode([1, 2], forKey: "b")
      try container.encode([3], forKey: "b")
    }
  }

  @Test("a value replaced many times leaves only the last, and no strings of the others")
  func replacedOften() throws {
    let replaced = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for i in 0..<100 {
        try container.encode(["gone": "a string that is gone \(i % 3)"], forKey: "a")
        try container.encode(i, forKey: "b")
      }
    }
    let direct = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(["gone": "a string that is gone 0"], forKey: "a")
      try container.encode(99, forKey: "b")
    }
    #expect(replaced == direct)
  }

  @Test("a replaced value can be amended again")
  func amendedAfterReplacement() throws {
    try expectWritten(["a": ["x": 1, "y": 2, "z": 3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(["lost": 0], forKey: "a")
      try container.encode(Point(), forKey: "a")
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
      try nested.encode(3, forKey: "z")
    }
  }
}
