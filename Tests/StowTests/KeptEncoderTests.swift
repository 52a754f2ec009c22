import Stow
import Testing

/// Containers that outlive the call that made them: they go nowhere, and harm nothing.
@Suite("Encoding containers kept beyond their message")
struct KeptEncoderTests {
  @Test("with keys whose message was put in order")
  func normalized() throws {
    var kept: KeyedEncodingContainer<AnyKey>?
    _ = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for number in 0..<9 { try container.encode("lost \(number)", forKey: "k") }
        try container.encode(1, forKey: "last")
        kept = container
      })
    for key in ["late", "k", "last", "later"] { try kept?.encode(2, forKey: AnyKey(key)) }
    #expect(try transcode(["a": 1], to: [String: Int].self) == ["a": 1])
  }

  @Test("whose message was large have a path still", arguments: [10, 600_000])
  func large(count: Int) throws {
    var kept: (any UnkeyedEncodingContainer)?
    _ = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.unkeyedContainer()
        for number in 0..<count { try container.encode(number) }
        kept = container
      })
    #expect(kept?.codingPath.isEmpty == true)
  }

  /// Whatever a value can keep of the encoder that it was handed.
  private final class Kept {
    var encoders: [any Encoder] = []
    var keyed: [KeyedEncodingContainer<AnyKey>] = []
    var fixed: [KeyedEncodingContainer<FixedKey>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []
    var single: [any SingleValueEncodingContainer] = []

    /// One character each, so that `FixedKey` is a byte.
    enum FixedKey: String, CodingKey { case a, b }

    /// A value that keeps everything it gets, in all places.
    var collector: Writes {
      Writes { [self] encoder in
        encoders.append(encoder)
        var container = encoder.container(keyedBy: FixedKey.self)
        try container.encode(
          Writes { encoder in
            self.encoders.append(encoder)
            self.single.append(encoder.singleValueContainer())
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            self.encoders.append(list.superEncoder())
            self.unkeyed += [list, list.nestedUnkeyedContainer()]
            self.keyed.append(list.nestedContainer(keyedBy: AnyKey.self))
          }, forKey: .a)
        encoders.append(container.superEncoder(forKey: .b))
        fixed.append(container)
      }
    }

    /// Writes to all of it, in every way.
    func write() throws {
      for encoder in encoders {
        #expect(encoder.codingPath.isEmpty && encoder.userInfo.isEmpty)
        var object = encoder.container(keyedBy: AnyKey.self)
        try object.encode("lost", forKey: AnyKey("lost"))
        var list = encoder.unkeyedContainer()
        try writeAll(&list)
        var value = encoder.singleValueContainer()
        try value.encode("lost")
        try value.encode(["lost"])
      }
      for index in unkeyed.indices { try writeAll(&unkeyed[index]) }
      for index in single.indices {
        try single[index].encodeNil()
        try single[index].encode(Writes(Self.lose))
      }
      for index in keyed.indices { try writeAll(&keyed[index], "k", "l") }
      for index in fixed.indices {
        try fixed[index].encode("lost", forKey: .b)
        try fixed[index].encode(Writes(Self.lose), forKey: .a)
      }
    }

    private static func lose(_ encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      try value.encode("lost")
    }

    private func writeAll(_ list: inout any UnkeyedEncodingContainer) throws {
      let count = list.count
      try list.encodeNil()
      try list.encode("lost")
      try list.encode(Writes(Self.lose))
      var nested = list.nestedUnkeyedContainer()
      try nested.encode("lost")
      var object = list.nestedContainer(keyedBy: AnyKey.self)
      try object.encode("lost", forKey: AnyKey("lost"))
      try Self.lose(list.superEncoder())
      #expect(list.count == count + 6)
    }

    private func writeAll(_ object: inout KeyedEncodingContainer<AnyKey>, _ keys: AnyKey...) throws {
      for key in keys {
        try object.encode("lost", forKey: key)
        try object.encode(Writes(Self.lose), forKey: key)
        var nested = object.nestedUnkeyedContainer(forKey: key)
        try nested.encode("lost")
        try Self.lose(object.superEncoder(forKey: key))
      }
    }
  }

  @Test("of every kind, written to when the message is over")
  func over() throws {
    let kept = Kept()
    _ = try StowEncoder().encode(kept.collector)
    for _ in 0..<3 { try kept.write() }
  }

  @Test("of every kind, written to while the next message is encoded", arguments: [1, 3, 40])
  func nextMessage(count: Int) throws {
    let kept = Kept()
    for _ in 0..<count { _ = try StowEncoder().encode(kept.collector) }
    // The session of the last message may be that of the next.
    let disturbed = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      try kept.write()
      try container.encode([1, 2, 3].map { number in Writes { try number.encode(to: $0) } }, forKey: "b")
      try kept.write()
      try container.encode("last", forKey: "c")
    }
    try expectBytes(of: disturbed, like: ["a": 1, "b": [1, 2, 3], "c": "last"])
  }

  private func expectBytes(of value: Writes, like plain: JSONValue) throws {
    #expect(try transcode(value, to: JSONValue.self) == plain)
  }
}
