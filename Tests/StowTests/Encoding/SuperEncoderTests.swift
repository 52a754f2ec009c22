import Stow
import Testing

@Suite("Super encoders")
struct SuperEncoderTests {
  @Test("superEncoder() writes under the key super, and superEncoder(forKey:) under its own key")
  func keys() throws {
    try expectWritten(["super": ["s": 1], "own": [2], "x": 3]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var first = container.superEncoder().container(keyedBy: AnyKey.self)
      try first.encode(1, forKey: "s")
      var second = container.superEncoder(forKey: "own").unkeyedContainer()
      try second.encode(2)
      try container.encode(3, forKey: "x")
    }
  }

  @Test("a super encoder accepts any value", arguments: [nil, 1, "s", 1.5, [1, [2]], ["k": "v"]] as [JSONValue])
  func anyValue(value: JSONValue) throws {
    try expectWritten(["super": value, "list": [value, value]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try value.encode(to: container.superEncoder())
      var list = container.nestedUnkeyedContainer(forKey: "list")
      try value.encode(to: list.superEncoder())
      try list.superEncoder().writeSingle(value)
    }
  }

  @Test("super encoders filled late keep their place in an array")
  func placeInArray() throws {
    try expectWritten([1, ["late"], 2, "later", 3]) { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(1)
      let first = list.superEncoder()
      try list.encode(2)
      let second = list.superEncoder()
      try list.encode(3)
      try first.writeSingle(["late"])
      try second.writeSingle("later")
    }
  }

  @Test("super encoders filled in the opposite order keep their place in an array")
  func oppositeOrder() throws {
    try expectWritten([0, 1, 2, 3, 4, 5]) { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(0)
      let supers = (1...4).map { _ in list.superEncoder() }
      try list.encode(5)
      for (number, encoder) in zip(1...4, supers).reversed() { try encoder.writeSingle(number) }
    }
  }

  @Test("a super encoder can be filled late in an object")
  func lateInObject() throws {
    try expectWritten(["super": ["a": 1, "b": [2]], "x": 1, "y": ["z": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let parent = container.superEncoder()
      try container.encode(1, forKey: "x")
      var own = parent.container(keyedBy: AnyKey.self)
      try own.encode(1, forKey: "a")
      try container.encode(["z": 2], forKey: "y")
      try own.encode([2], forKey: "b")
    }
  }

  @Test("a super encoder that is never filled is an empty object")
  func neverFilled() throws {
    try expectWritten(["super": [:], "own": [:], "list": [[:], 1, [:]]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      _ = container.superEncoder()
      _ = container.superEncoder(forKey: "own")
      var list = container.nestedUnkeyedContainer(forKey: "list")
      _ = list.superEncoder()
      try list.encode(1)
      _ = list.superEncoder()
    }
  }

  @Test("a super encoder counts as an element")
  func count() throws {
    try expectWritten([[:], 1, 2]) { encoder in
      var list = encoder.unkeyedContainer()
      _ = list.superEncoder()
      #expect(list.count == 1)
      try list.superEncoder().writeSingle(1)
      #expect(list.count == 2)
      try list.encode(2)
      #expect(list.count == 3)
    }
  }

  @Test("super encoders can be nested in super encoders")
  func nested() throws {
    try expectWritten(["super": ["super": ["super": "top"], "b": 2], "a": 1]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      var parent = container.superEncoder().container(keyedBy: AnyKey.self)
      let grandparent = parent.superEncoder()
      try parent.encode(2, forKey: "b")
      var last = grandparent.container(keyedBy: AnyKey.self)
      try last.superEncoder().writeSingle("top")
    }
  }

  @Test("an array in a super encoder is not mistaken for that of another key")
  func arrays() throws {
    enum Keys: CodingKey { case own, late }
    try expectWritten(["super": [1], "own": [2], "late": [3, 4]]) { encoder in
      var container = encoder.container(keyedBy: Keys.self)
      var parent = container.superEncoder().unkeyedContainer()
      try parent.encode(1)
      var own = container.nestedUnkeyedContainer(forKey: .own)
      #expect(own.count == 0)
      #expect(steps(own.codingPath) == ["own"])
      try own.encode(2)
      try container.superEncoder(forKey: .late).writeSingle([3])
      var late = container.nestedUnkeyedContainer(forKey: .late)
      #expect(late.count == 1)
      try late.encode(4)
    }
  }

  @Test("a value encoded later for the key of a super encoder wins")
  func replaced() throws {
    try expectWritten(["k": 2]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.superEncoder(forKey: "k").writeSingle(1)
      try container.encode(2, forKey: "k")
    }
  }

  @Test("three classes of a hierarchy survive a round trip, each with a container of its own")
  func hierarchy() throws {
    let value = Bottom()
    value.top = ["t"]
    value.middle = 2
    value.bottom = 3.5
    let copies = try roundTrip([value, value])
    #expect(copies.count == 2)
    for copy in copies {
      #expect(copy.top == ["t"])
      #expect(copy.middle == 2)
      #expect(copy.bottom == 3.5)
    }
  }

  private class Top: Codable {
    var top: [String] = []

    init() {}
  }

  private class Middle: Top {
    var middle = 0

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      middle = try container.decode(Int.self)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(middle)
      try super.encode(to: container.superEncoder())
    }
  }

  private final class Bottom: Middle {
    var bottom = 0.0

    enum CodingKeys: CodingKey { case bottom, parent }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      bottom = try container.decode(Double.self, forKey: .bottom)
      try super.init(from: container.superDecoder(forKey: .parent))
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let parent = container.superEncoder(forKey: .parent)
      try container.encode(bottom, forKey: .bottom)
      try super.encode(to: parent)
    }
  }
}
