import Stow
import Testing

/// Free keys are first compared with those that followed last time.
@Suite("Keys that follow each other")
struct FollowingKeysTests {
  /// The entries of some objects with free keys, in order.
  private static func written(_ objects: [[(AnyKey, Int)]]) throws -> [JSONValue] {
    let message = try StowEncoder().encode(
      Writes { encoder in
        var list = encoder.unkeyedContainer()
        for object in objects {
          var container = list.nestedContainer(keyedBy: AnyKey.self)
          for (key, value) in object { try container.encode(value, forKey: key) }
        }
      })
    return try StowDecoder().decode([JSONValue].self, from: message)
  }

  @Test(
    "keys can follow each other in another order the next time",
    arguments: [
      [["a", "b", "c"], ["a", "b", "c"], ["a", "c", "b"], ["a", "b"], ["c", "a", "b"]],
      [["a", "ab", "a name of more than fifteen bytes"], ["a", "a name of more than fifteen bytez", "ab"]],
      [["a", "1", "2"], ["a", "1", "2"], ["a", "2", "1"]],
      [["", "ä", "ü"], ["", "ä", "ü"], ["", "ü", "ä"]],
      [["a"], ["a"], ["b", "a"], ["b", "a", "b2"]],
    ])
  func others(names: [[String]]) throws {
    let objects = names.map { $0.enumerated().map { (AnyKey($1), $0) } }
    let expected = names.map { names in
      JSONValue.object(Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, .int(Int64($0))) }))
    }
    #expect(try Self.written(objects) == expected)
  }

  @Test("the last of two values for a key counts if the keys of earlier objects recur")
  func twice() throws {
    let once: [(AnyKey, Int)] = [("a", 1), ("b", 2)]
    let written = try Self.written([once, once, [("a", 1), ("b", 2), ("a", 3), ("b", 4)]])
    #expect(written == [["a": 1, "b": 2], ["a": 1, "b": 2], ["a": 3, "b": 4]])
  }

  @Test("keys with an integer keep it in coding paths")
  func integers() throws {
    var integers: [Int?] = []
    _ = try StowEncoder().encode(
      Writes { encoder in
        var list = encoder.unkeyedContainer()
        for integer in [nil, nil, 7, nil, 8] {
          var container = list.nestedContainer(keyedBy: AnyKey.self)
          try container.encode(0, forKey: "a")
          let inner = container.nestedUnkeyedContainer(forKey: AnyKey("b", integer))
          integers.append(inner.codingPath.last?.intValue)
        }
      })
    #expect(integers == [nil, nil, 7, nil, 8])
  }

  @Test("keys are forgotten with the value that threw")
  func thrown() throws {
    _ = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try? container.encode(Writes { _ in throw Refusal() }, forKey: AnyKey("x", 7))
        let list = container.nestedUnkeyedContainer(forKey: "y")
        #expect(list.codingPath.last?.intValue == nil)
        #expect(list.codingPath.last?.stringValue == "y")
      })
  }

  @Test("keys are found again after equal strings became one")
  func merged() throws {
    let value = Writes { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode("rare")
      for _ in 0..<3 { try Self.encode(["p", "q"], &list) }
      // So many that the encoder forgets strings that came once.
      for number in 0..<40_000 { try list.encode("filler number \(number)") }
      try Self.encode(["p", "rare"], &list)
      var object = list.nestedContainer(keyedBy: AnyKey.self)
      _ = object.nestedUnkeyedContainer(forKey: "z")
      var last = list.nestedContainer(keyedBy: AnyKey.self)
      try last.encode(1, forKey: "p")
      for number in [1, 2] {
        var numbers = last.nestedUnkeyedContainer(forKey: "rare")
        try numbers.encode(number)
      }
    }
    let decoded = try StowDecoder().decode([JSONValue].self, from: StowEncoder().encode(value))
    #expect(decoded.last == ["p": 1, "rare": [1, 2]])
    #expect(decoded[40_004] == ["p": 1, "rare": 1])
  }

  private static func encode(_ keys: [AnyKey], _ list: inout any UnkeyedEncodingContainer) throws {
    var container = list.nestedContainer(keyedBy: AnyKey.self)
    for key in keys { try container.encode(1, forKey: key) }
  }
}
