import Stow
import Testing

@Suite("Containers kept beyond the encode(to:) of their owner")
struct LateWriteTests {
  /// Containers and encoders that outlive the call that made them.
  private final class Kept {
    var keyed: [KeyedEncodingContainer<AnyKey>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []
    var encoders: [any Encoder] = []
  }

  @Test("the owner's own container can be written to later")
  func ownContainer() throws {
    try expectWritten(["a": ["x": 1, "y": 3], "b": 2, "c": [4, 5]]) { encoder in
      let kept = Kept()
      var container = encoder.container(keyedBy: AnyKey.self)
      let object = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(1, forKey: "x")
        kept.keyed.append(own)
      }
      let list = Writes { encoder in
        var own = encoder.unkeyedContainer()
        try own.encode(4)
        kept.unkeyed.append(own)
      }
      try container.encode(object, forKey: "a")
      try container.encode(list, forKey: "c")
      try container.encode(2, forKey: "b")
      try kept.keyed[0].encode(3, forKey: "y")
      try kept.unkeyed[0].encode(5)
    }
  }

  @Test("a container nested in the owner's can be written to later")
  func nestedContainer() throws {
    try expectWritten(["a": ["late": [3, 4], "x": 1, "o": ["k": 5]], "b": 2]) { encoder in
      let kept = Kept()
      var container = encoder.container(keyedBy: AnyKey.self)
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        kept.unkeyed.append(own.nestedUnkeyedContainer(forKey: "late"))
        try own.encode(1, forKey: "x")
        kept.keyed.append(own.nestedContainer(keyedBy: AnyKey.self, forKey: "o"))
      }
      try container.encode(value, forKey: "a")
      try kept.unkeyed[0].encode(3)
      try container.encode(2, forKey: "b")
      try kept.unkeyed[0].encode(4)
      try kept.keyed[0].encode(5, forKey: "k")
    }
  }

  @Test("a super encoder of the owner's container can be written to later")
  func superEncoder() throws {
    try expectWritten([["x": 1, "super": ["s": 9], "named": "n"], 2]) { encoder in
      let kept = Kept()
      var list = encoder.unkeyedContainer()
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        kept.encoders.append(own.superEncoder())
        try own.encode(1, forKey: "x")
        kept.encoders.append(own.superEncoder(forKey: "named"))
      }
      try list.encode(value)
      try list.encode(2)
      try kept.encoders[1].writeSingle("n")
      var container = kept.encoders[0].container(keyedBy: AnyKey.self)
      try container.encode(9, forKey: "s")
    }
  }

  @Test("the owner's encoder itself can be used later")
  func encoderItself() throws {
    try expectWritten(["a": ["x": 1, "y": 2]]) { encoder in
      let kept = Kept()
      var container = encoder.container(keyedBy: AnyKey.self)
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(1, forKey: "x")
        kept.encoders.append(encoder)
      }
      try container.encode(value, forKey: "a")
      var again = kept.encoders[0].container(keyedBy: AnyKey.self)
      try again.encode(2, forKey: "y")
    }
  }

  @Test("containers of array elements can all be written to at the end")
  func arrayElements() throws {
    let count = 30
    let expected = JSONValue.array((0..<count).map { ["first": .int(Int64($0)), "last": .int(Int64(-$0))] })
    try expectWritten(expected) { encoder in
      let kept = Kept()
      let values = (0..<count).map { number in
        Writes { encoder in
          var own = encoder.container(keyedBy: AnyKey.self)
          try own.encode(number, forKey: "first")
          kept.keyed.append(own)
        }
      }
      try encoder.writeSingle(values)
      for number in (0..<count).reversed() { try kept.keyed[number].encode(-number, forKey: "last") }
    }
  }

  @Test("containers of dictionary values can be written to later")
  func dictionaryValues() throws {
    try expectWritten(["p": [1, 2], "q": [1, 2]]) { encoder in
      let kept = Kept()
      let value = Writes { encoder in
        var own = encoder.unkeyedContainer()
        try own.encode(1)
        kept.unkeyed.append(own)
      }
      try encoder.writeSingle(["p": value, "q": value])
      for i in kept.unkeyed.indices { try kept.unkeyed[i].encode(2) }
    }
  }

  @Test("an empty container can be written to later")
  func startedEmpty() throws {
    try expectWritten(["a": ["k": "v"]]) { encoder in
      let kept = Kept()
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Writes { kept.keyed.append($0.container(keyedBy: AnyKey.self)) }, forKey: "a")
      try kept.keyed[0].encode("v", forKey: "k")
    }
  }

  @Test("a container can be written to after the values two levels above it ended")
  func deep() throws {
    try expectWritten(["a": ["b": ["c": ["late": true]], "z": 1], "y": 2]) { encoder in
      let kept = Kept()
      let innermost = Writes { kept.keyed.append($0.container(keyedBy: AnyKey.self)) }
      let inner = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(innermost, forKey: "c")
      }
      let outer = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(inner, forKey: "b")
        try own.encode(1, forKey: "z")
      }
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(outer, forKey: "a")
      try container.encode(2, forKey: "y")
      try kept.keyed[0].encode(true, forKey: "late")
    }
  }

  @Test("a container of a replaced value writes nowhere")
  func replaced() throws {
    try expectWritten(["a": 1, "b": ["new": 2]]) { encoder in
      let kept = Kept()
      var container = encoder.container(keyedBy: AnyKey.self)
      let value = Writes { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode(0, forKey: "old")
        kept.keyed.append(own)
      }
      for key in ["a", "b"] as [AnyKey] { try container.encode(value, forKey: key) }
      try container.encode(1, forKey: "a")
      try container.encode(["new": 2], forKey: "b")
      for i in kept.keyed.indices { try kept.keyed[i].encode(3, forKey: "late") }
    }
  }

  @Test("containers that were made after the call can outlive their origin")
  func outliving() throws {
    var made: [KeyedEncodingContainer<AnyKey>] = []
    for _ in 0..<50 {
      let kept = Kept()
      _ = try StowEncoder().encode(
        Writes { encoder in
          kept.encoders.append(encoder)
          kept.keyed.append(encoder.container(keyedBy: AnyKey.self))
        })
      made.append(kept.encoders[0].container(keyedBy: AnyKey.self))
      made.append(kept.keyed[0].nestedContainer(keyedBy: AnyKey.self, forKey: "k"))
    }
    for index in made.indices { try made[index].encode("late", forKey: "key") }
  }

  @Test("containers of new key types can be made after the call while another thread encodes")
  func lateBesideOtherThreads() async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for _ in 0..<200 { Self.makeLateContainers() } }
      group.addTask { for number in 0..<20_000 { _ = try? StowEncoder().encode(["key": number]) } }
    }
  }

  private static func makeLateContainers() {
    let kept = Kept()
    _ = try? StowEncoder().encode(Writes { kept.keyed.append($0.container(keyedBy: AnyKey.self)) })
    makeContainers(of: Deeper<AnyKey>.self, depth: 20, in: &kept.keyed[0])
  }

  /// Makes containers of `depth` key types, of which no message had any.
  private static func makeContainers<Key: CodingKey>(
    of keyType: Key.Type, depth: Int, in container: inout KeyedEncodingContainer<AnyKey>
  ) {
    var made = container.nestedContainer(keyedBy: keyType, forKey: "k")
    if let key = Key(stringValue: "late") { try? made.encode(depth, forKey: key) }
    if depth > 1 { makeContainers(of: Deeper<Key>.self, depth: depth - 1, in: &container) }
  }

  /// A key type for each type of keys.
  private struct Deeper<Inner>: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test("a container kept beyond the whole call harms neither the message nor the next one")
  func beyondTheCall() throws {
    let kept = Kept()
    let value = Writes { encoder in
      var own = encoder.container(keyedBy: AnyKey.self)
      try own.encode(1, forKey: "x")
      kept.keyed.append(own)
      kept.unkeyed.append(own.nestedUnkeyedContainer(forKey: "list"))
    }
    let encoder = StowEncoder()
    let first = try encoder.encode(value)
    try? kept.keyed[0].encode(2, forKey: "late")
    try? kept.unkeyed[0].encode("late")
    let second = try encoder.encode(value)
    #expect(first == second)
    #expect(try StowDecoder().decode(JSONValue.self, from: second) == ["x": 1, "list": []])
  }
}
