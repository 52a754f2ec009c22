import Stow
import Testing

/// Containers that outlive the call that made them: what is written to them is discarded, and harms nothing.
@Suite("Encoding containers kept beyond their message")
struct KeptEncoderTests {
  @Test("kept containers can be written to if the keys of their message were put in order")
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

  @Test("containers kept beyond a large message have an empty path", arguments: [10, 600_000])
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

  @Test("kept encoders have an empty path, and no user information")
  func emptied() throws {
    final class Shelf: Encodable {
      var kept: (any Encoder)?
      func encode(to encoder: any Encoder) throws {
        kept = encoder
        #expect(encoder.codingPath.count == 1 && !encoder.userInfo.isEmpty)
        try encoder.writeSingle(1)
      }
    }
    let (shelf, encoder) = (Shelf(), StowEncoder())
    encoder.userInfo[CodingUserInfoKey(rawValue: "key")!] = 1
    _ = try encoder.encode(["a": shelf])
    #expect(shelf.kept?.codingPath.isEmpty == true && shelf.kept?.userInfo.isEmpty == true)
  }

  /// An object that contains itself.
  private final class Cycle: Encodable {
    private enum Key: String, CodingKey { case itself }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(self, forKey: .itself)
    }
  }

  @Test("kept encoders refuse an object that contains itself")
  func cycle() throws {
    var kept: (any Encoder)?
    var container: KeyedEncodingContainer<AnyKey>?
    _ = try StowEncoder().encode(
      Writes { encoder in
        kept = encoder
        container = encoder.container(keyedBy: AnyKey.self)
        try container?.encode(1, forKey: "k")
      })
    #expect(throws: EncodingError.self) { try Cycle().encode(to: #require(kept)) }
    #expect(throws: EncodingError.self) { try container?.encode(Cycle(), forKey: "cycle") }
    container = kept?.container(keyedBy: AnyKey.self)
    #expect(throws: EncodingError.self) { try container?.encode(Cycle(), forKey: "cycle") }
  }

  @Test("kept encoders accept structs within structs", arguments: [false, true])
  func structs(keepsContainer: Bool) throws {
    struct Outer: Encodable {
      var inner = ["key": [Inner()]]
      var last: Inner? = Inner()
    }
    struct Inner: Encodable { var numbers = [1: [1, 2]] }
    var encoder: (any Encoder)?
    var container: KeyedEncodingContainer<AnyKey>?
    _ = try StowEncoder().encode(
      Writes {
        encoder = $0
        container = $0.container(keyedBy: AnyKey.self)
      })
    if !keepsContainer { container = encoder?.container(keyedBy: AnyKey.self) }
    try container?.encode(Outer(), forKey: "outer")
    try container?.encode([[Outer()]], forKey: "list")
    try Outer().encode(to: #require(encoder))
    var nested = container?.nestedUnkeyedContainer(forKey: "nested")
    try nested?.encode(Outer())
  }

  /// Whatever a value can keep of the encoder that it was handed.
  private final class Kept {
    /// Keyed containers keep their session too, so that no other message gets it.
    let keepsKeyed: Bool
    var encoders: [any Encoder] = []
    var keyed: [KeyedEncodingContainer<AnyKey>] = []
    var fixed: [KeyedEncodingContainer<FixedKey>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []
    var single: [any SingleValueEncodingContainer] = []

    enum FixedKey: String, CodingKey { case a, b }

    init(keepsKeyed: Bool) { self.keepsKeyed = keepsKeyed }

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
            let object = list.nestedContainer(keyedBy: AnyKey.self)
            if self.keepsKeyed { self.keyed.append(object) }
          }, forKey: .a)
        encoders.append(container.superEncoder(forKey: .b))
        if keepsKeyed { fixed.append(container) }
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

  @Test("kept containers of every kind can be written to when their message is complete", arguments: [false, true])
  func over(keepsKeyed: Bool) throws {
    let kept = Kept(keepsKeyed: keepsKeyed)
    _ = try StowEncoder().encode(kept.collector)
    for _ in 0..<3 { try kept.write() }
  }

  @Test(
    "writing to kept containers of every kind does not change the next message", arguments: [false, true],
    [1, 3, 40])
  func nextMessage(keepsKeyed: Bool, count: Int) throws {
    let kept = Kept(keepsKeyed: keepsKeyed)
    for _ in 0..<count { _ = try StowEncoder().encode(kept.collector) }
    // The session of the last message may be that of the next.
    let disturbed = try StowEncoder().encode(value(interrupt: kept.write))
    #expect(try disturbed == StowEncoder().encode(value(interrupt: {})))
  }

  /// A value that calls `interrupt` in the middle of its encoding.
  private func value(interrupt: @escaping () throws -> Void) -> Writes {
    Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      try interrupt()
      let numbers = [1, 2, 3].map { number in
        Writes {
          try number.encode(to: $0)
          try interrupt()
        }
      }
      try container.encode(numbers, forKey: "b")
      try interrupt()
      try container.encode("last", forKey: "c")
    }
  }
}
