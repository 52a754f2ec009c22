import Stow
import Testing

@Suite("Nested containers")
struct NestedContainerTests {
  @Test("nested containers can be written to in turns")
  func interleaved() throws {
    try expectWritten(["a": ["x": 1, "y": 3], "b": [2, 4, 6], "c": 5]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
      var list = container.nestedUnkeyedContainer(forKey: "b")
      try object.encode(1, forKey: "x")
      try list.encode(2)
      try object.encode(3, forKey: "y")
      try list.encode(4)
      try container.encode(5, forKey: "c")
      try list.encode(6)
    }
  }

  @Test("a nested container can be written to after its parent was continued")
  func writtenLate() throws {
    try expectWritten([["x": 1], [2], "between", ["y": [3]]]) { encoder in
      var list = encoder.unkeyedContainer()
      var object = list.nestedContainer(keyedBy: AnyKey.self)
      var inner = list.nestedUnkeyedContainer()
      try list.encode("between")
      var last = list.nestedContainer(keyedBy: AnyKey.self)
      var deepest = last.nestedUnkeyedContainer(forKey: "y")
      try deepest.encode(3)
      try inner.encode(2)
      try object.encode(1, forKey: "x")
    }
  }

  @Test("many nested containers can be written to in rounds")
  func manyInterleaved() throws {
    let rounds = 20
    let expected = JSONValue.array((0..<rounds).map { i in .array((0..<rounds).map { .int(Int64($0 * 100 + i)) }) })
    try expectWritten(expected) { encoder in
      var outer = encoder.unkeyedContainer()
      var inner = (0..<rounds).map { _ in outer.nestedUnkeyedContainer() }
      for round in 0..<rounds {
        for i in inner.indices { try inner[i].encode(round * 100 + i) }
      }
    }
  }

  @Test("values with containers of their own can be written between those of others")
  func interleavedWithValues() throws {
    struct Point: Codable {
      var x: Int
      var y: [String]
    }
    let point: JSONValue = ["x": 1, "y": ["p", "q"]]
    try expectWritten(["a": ["p": point, "q": point], "b": [point, point], "p": point]) { encoder in
      let value = Point(x: 1, y: ["p", "q"])
      var container = encoder.container(keyedBy: AnyKey.self)
      var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
      try object.encode(value, forKey: "p")
      var list = container.nestedUnkeyedContainer(forKey: "b")
      try list.encode(value)
      try object.encode(value, forKey: "q")
      try container.encode(value, forKey: "p")
      try list.encode(value)
    }
  }

  @Test("the same key nested twice is one object")
  func sameKeyedTwice() throws {
    try expectWritten(["o": ["a": 2, "b": 1, "c": 3]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var first = container.nestedContainer(keyedBy: AnyKey.self, forKey: "o")
      var second = container.nestedContainer(keyedBy: AnyKey.self, forKey: "o")
      try second.encode(1, forKey: "b")
      try first.encode(2, forKey: "a")
      try second.encode(3, forKey: "c")
    }
  }

  @Test("the same key nested twice is one array")
  func sameUnkeyedTwice() throws {
    try expectWritten(["u": [1, 2, 3], "z": 0]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var first = container.nestedUnkeyedContainer(forKey: "u")
      try first.encode(1)
      try container.encode(0, forKey: "z")
      var second = container.nestedUnkeyedContainer(forKey: "u")
      #expect(second.count == 1)
      try second.encode(2)
      try first.encode(3)
      #expect(first.count == 3)
      #expect(second.count == 3)
    }
  }

  @Test("a nested container takes the place of a scalar that its key had")
  func scalarBefore() throws {
    try expectWritten(["a": ["x": 3], "b": [4]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      try container.encode("text", forKey: "b")
      var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
      try object.encode(3, forKey: "x")
      var list = container.nestedUnkeyedContainer(forKey: "b")
      try list.encode(4)
    }
  }

  @Test("the same key nested twice is one object at every depth")
  func sameKeyTwiceDeep() throws {
    try expectWritten(["a": ["b": ["c": 1, "d": 2], "l": [3, 4]]]) { encoder in
      for (key, value) in [("c", 1), ("d", 2)] {
        var outer = encoder.container(keyedBy: AnyKey.self)
        var middle = outer.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
        var inner = middle.nestedContainer(keyedBy: AnyKey.self, forKey: "b")
        try inner.encode(value, forKey: AnyKey(key))
        var list = middle.nestedUnkeyedContainer(forKey: "l")
        try list.encode(value + 2)
      }
    }
  }

  @Test("a nested path written key by key rebuilds the tree")
  func flattened() throws {
    let paths = ["a.b.c", "a.b.d", "x.y", "a.e", "a.b.f", "x.z.w"]
    try expectWritten([
      "a": ["b": ["c": 0, "d": 1, "f": 4], "e": 3], "x": ["y": 2, "z": ["w": 5]],
    ]) { encoder in
      for (number, path) in paths.enumerated() {
        let keys = path.split(separator: ".").map { AnyKey(String($0)) }
        var container = encoder.container(keyedBy: AnyKey.self)
        for key in keys.dropLast() { container = container.nestedContainer(keyedBy: AnyKey.self, forKey: key) }
        try container.encode(number, forKey: keys[keys.count - 1])
      }
    }
  }

  @Test("containers can be nested a hundred deep")
  func deep() throws {
    let data = try message { encoder in
      var container = encoder.unkeyedContainer()
      for _ in 0..<100 { container = container.nestedUnkeyedContainer() }
      try container.encode("end")
    }
    var value = try StowDecoder().decode(JSONValue.self, from: data)
    for _ in 0...100 {
      guard case .array(let elements) = value, elements.count == 1 else {
        Issue.record("not an array of one: \(value)")
        return
      }
      value = elements[0]
    }
    #expect(value == "end")
  }

  @Test("an outer container can be written to from within a nested encode(to:)")
  func foreignKeyed() throws {
    try expectWritten(["inner": ["i": 1], "outer": 2, "after": 3]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let kept = container
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        var outer = kept
        try outer.encode(2, forKey: "outer")
        try own.encode(1, forKey: "i")
      }
      try container.encode(value, forKey: "inner")
      try container.encode(3, forKey: "after")
    }
  }

  @Test("a sibling container can be written to from within a nested encode(to:)")
  func foreignUnkeyed() throws {
    try expectWritten(["log": ["start", "a", "b", "end"], "a": ["n": 1], "b": ["n": 2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var log = container.nestedUnkeyedContainer(forKey: "log")
      let kept = log
      try log.encode("start")
      for (name, number) in [("a", 1), ("b", 2)] {
        let value = Writes { encoder in
          var own = encoder.container(keyedBy: AnyKey.self)
          var log = kept
          try log.encode(name)
          try own.encode(number, forKey: "n")
        }
        try container.encode(value, forKey: AnyKey(name))
      }
      try log.encode("end")
    }
  }

  @Test("an outer encoder gives containers from within a nested encode(to:)")
  func foreignEncoder() throws {
    try expectWritten(["inner": ["i": 1], "outer": ["o": [2]]]) { outer in
      var container = outer.container(keyedBy: AnyKey.self)
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        var again = outer.container(keyedBy: AnyKey.self)
        var nested = again.nestedContainer(keyedBy: AnyKey.self, forKey: "outer")
        try own.encode(1, forKey: "i")
        try nested.encode([2], forKey: "o")
      }
      try container.encode(value, forKey: "inner")
    }
  }
}
