import Foundation
import Stow
import Testing

/// Encoders and containers of values that threw, whose errors were swallowed: what is written to them later in the
/// same message is discarded, as the values were.
@Suite("Encoding containers kept from values that threw")
struct KeptFailureTests {
  private enum FixedKey: String, CodingKey { case a, b, c }
  private enum OtherKey: String, CodingKey { case x, y, z }

  /// What a value that threw has kept.
  private final class Kept {
    var encoders: [any Encoder] = []
    var keyed: [KeyedEncodingContainer<AnyKey>] = []
    var fixed: [KeyedEncodingContainer<FixedKey>] = []
    var unkeyed: [any UnkeyedEncodingContainer] = []

    /// Writes to all of it, in many ways.
    func write() throws {
      for encoder in encoders {
        #expect(encoder.codingPath.count < 9)
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode("lost", forKey: "lost")
      }
      for index in keyed.indices {
        #expect(keyed[index].codingPath.count < 9)
        try write(to: &keyed[index], keys: ["lost", "b"])
      }
      for index in fixed.indices {
        #expect(fixed[index].codingPath.count < 9)
        try write(to: &fixed[index], keys: [.a, .c, .b])
      }
      for index in unkeyed.indices {
        #expect(unkeyed[index].codingPath.count < 9)
        let count = unkeyed[index].count
        try unkeyed[index].encode("lost")
        #expect(unkeyed[index].count == count + 1)
        try unkeyed[index].encode(["lost": 1])
        var list = unkeyed[index].nestedUnkeyedContainer()
        try list.encode("lost")
        try unkeyed[index].superEncoder().writeSingle("lost")
      }
    }

    private func write<Key: CodingKey>(to container: inout KeyedEncodingContainer<Key>, keys: [Key]) throws {
      for key in keys {
        try container.encode("lost", forKey: key)
        try container.encodeIfPresent(nil as Int?, forKey: key)
        try container.encode(["lost": 1], forKey: key)
        var list = container.nestedUnkeyedContainer(forKey: key)
        try list.encode("lost")
        var object = container.nestedContainer(keyedBy: OtherKey.self, forKey: key)
        try object.encode("lost", forKey: .z)
        try container.superEncoder(forKey: key).writeSingle("lost")
      }
    }
  }

  /// Ways to record something, keep what can be kept, and throw.
  private static let failures: [@Sendable (any Encoder, Kept) throws -> Void] = [
    { encoder, kept in kept.encoders.append(encoder) },
    { encoder, kept in kept.keyed.append(encoder.container(keyedBy: AnyKey.self)) },
    { encoder, kept in kept.fixed.append(encoder.container(keyedBy: FixedKey.self)) },
    { encoder, kept in kept.unkeyed.append(encoder.unkeyedContainer()) },
    { encoder, kept in
      var container = encoder.container(keyedBy: FixedKey.self)
      try container.encode("text", forKey: .c)
      try container.encode(1, forKey: .a)
      kept.fixed.append(container)
    },
    { encoder, kept in
      var container = encoder.container(keyedBy: OtherKey.self)
      var list = container.nestedUnkeyedContainer(forKey: .y)
      try list.encode(1)
      kept.fixed.append(list.nestedContainer(keyedBy: FixedKey.self))
      try kept.fixed[0].encode("text", forKey: .b)
      kept.keyed.append(container.nestedContainer(keyedBy: AnyKey.self, forKey: .x))
      kept.unkeyed.append(list)
    },
    { encoder, kept in
      var list = encoder.unkeyedContainer()
      let super1 = list.superEncoder()
      kept.encoders.append(super1)
      kept.keyed.append(list.nestedContainer(keyedBy: AnyKey.self))
      try kept.keyed[0].encode("text", forKey: "k")
      kept.unkeyed.append(list)
    },
    { encoder, kept in
      try [["a": 1]].encode(to: encoder)
      kept.unkeyed.append(encoder.unkeyedContainer())
    },
  ]

  /// What is written after a value has failed, step by step, with `interrupt` called between the steps.
  private static let followers: [@Sendable (any Encoder, () throws -> Void) throws -> Void] = [
    { _, _ in },
    { encoder, interrupt in
      var list = encoder.unkeyedContainer()
      try list.encode("first")
      try interrupt()
      try list.encode("second")
      try interrupt()
    },
    { encoder, interrupt in
      var container = encoder.container(keyedBy: FixedKey.self)
      try interrupt()
      try container.encode("first", forKey: .b)
      try interrupt()
      try container.encode(["k": 1], forKey: .a)
    },
    { encoder, interrupt in
      var container = encoder.container(keyedBy: OtherKey.self)
      try container.encode("first", forKey: .x)
      try interrupt()
      try container.encode([1, 2], forKey: .y)
      try interrupt()
      var nested = container.nestedContainer(keyedBy: FixedKey.self, forKey: .z)
      try nested.encode(true, forKey: .a)
      try interrupt()
      try nested.encode(false, forKey: .c)
    },
    { encoder, interrupt in
      var container = encoder.singleValueContainer()
      try interrupt()
      try container.encode("only")
      try interrupt()
    },
  ]

  /// A value that throws when it has recorded something and kept what can be kept.
  private func failing(_ index: Int, _ kept: Kept) -> Writes {
    Writes { encoder in
      try Self.failures[index](encoder, kept)
      throw Refusal()
    }
  }

  private func following(_ index: Int, _ interrupt: @escaping () throws -> Void) -> Writes {
    Writes { try Self.followers[index]($0, interrupt) }
  }

  /// Checks that a message is the same whether a value fails in it and is written to later or not.
  private func check(
    _ index: Int, sourceLocation: SourceLocation = #_sourceLocation,
    _ write: @escaping (any Encoder, _ failure: Writes?, @escaping () throws -> Void) throws -> Void
  ) throws {
    let kept = Kept()
    let disturbed = try message { encoder in try write(encoder, failing(index, kept), kept.write) }
    let clean = try message { encoder in try write(encoder, nil) {} }
    let value = try StowDecoder().decode(JSONValue.self, from: disturbed)
    #expect(disturbed == clean, "\(value)", sourceLocation: sourceLocation)
  }

  @Test("writing to containers kept from failed values does not change an array")
  func inArray() {
    forEachCase(of: Self.failures.indices, Self.followers.indices) { (index: Int, next: Int) in
      try check(index) { encoder, failure, interrupt in
        var list = encoder.unkeyedContainer()
        try list.encode(0)
        for _ in 0..<3 {
          if let failure { try? list.encode(failure) }
          try list.encode(following(next, interrupt))
          try interrupt()
        }
      }
    }
  }

  @Test("writing at once to containers kept from failed values does not change an array")
  func atOnce() {
    forEachCase(of: Self.failures.indices) { (index: Int) in
      try check(index) { encoder, failure, interrupt in
        var list = encoder.unkeyedContainer()
        if let failure { try? list.encode(failure) }
        try interrupt()
        if let failure { try? list.encode([failure]) }
        try interrupt()
        try list.encode(["k": 1])
      }
    }
  }

  @Test("writing to containers kept from failed values does not change an object with fixed keys")
  func inObject() {
    forEachCase(of: Self.failures.indices, Self.followers.indices) { (index: Int, next: Int) in
      try check(index) { encoder, failure, interrupt in
        var container = encoder.container(keyedBy: FixedKey.self)
        try container.encode(0, forKey: .a)
        if let failure { try? container.encode(failure, forKey: .a) }
        try container.encode(following(next, interrupt), forKey: .b)
        if let failure { try? container.encode(Optional(failure), forKey: .c) }
        try interrupt()
        try container.encode(following(next, interrupt), forKey: .c)
        try interrupt()
      }
    }
  }

  @Test("writing to containers kept from failed values does not change an object with free keys")
  func inMap() {
    forEachCase(of: Self.failures.indices, Self.followers.indices) { (index: Int, next: Int) in
      try check(index) { encoder, failure, interrupt in
        var container = encoder.container(keyedBy: AnyKey.self)
        if let failure { try? container.encode(failure, forKey: "a") }
        try container.encode(following(next, interrupt), forKey: "b")
        if let failure { try? container.encode(["in": failure], forKey: "c") }
        try interrupt()
        try container.encode(following(next, interrupt), forKey: "d")
        try interrupt()
      }
    }
  }

  @Test("writing to containers kept from failed values does not change a value that throws itself")
  func inFailure() {
    forEachCase(of: Self.failures.indices, Self.followers.indices) { (index: Int, next: Int) in
      try check(index) { encoder, failure, interrupt in
        var list = encoder.unkeyedContainer()
        let outer = Writes { encoder in
          var own = encoder.container(keyedBy: OtherKey.self)
          if let failure { try? own.encode(failure, forKey: .x) }
          try interrupt()
          try own.encode(following(next, interrupt), forKey: .y)
          throw Refusal()
        }
        try? list.encode(outer)
        try list.encode(following(next, interrupt))
        try interrupt()
      }
    }
  }

  // The encoder of the first failure is that of the place, which it may amend.
  @Test("writing to containers kept from failed values does not change a single-value container")
  func inPlace() {
    forEachCase(of: Self.failures.indices.dropFirst(), Self.followers.indices) { (index: Int, next: Int) in
      try check(index) { encoder, failure, interrupt in
        let value = Writes { encoder in
          var container = encoder.singleValueContainer()
          if let failure { try? container.encode(failure) }
          try interrupt()
          try container.encode(following(next, interrupt))
          try interrupt()
        }
        var list = encoder.unkeyedContainer()
        for _ in 0..<2 { try list.encode(value) }
        try interrupt()
      }
    }
  }

  @Test("kept containers have the paths of what is written to them, not of earlier keys")
  func paths() throws {
    let kept = Kept()
    _ = try message { encoder in
      var list = encoder.unkeyedContainer()
      let value = Writes { encoder in
        var container = encoder.container(keyedBy: FixedKey.self)
        var first = container.nestedUnkeyedContainer(forKey: .a)
        _ = container.nestedUnkeyedContainer(forKey: .b)
        // Out of order, so that nothing is closed when the value throws.
        try first.encode(1)
        kept.fixed.append(container)
        throw Refusal()
      }
      try? list.encode(value)
      for key in [FixedKey.c, .b] {
        let inner = kept.fixed[0].nestedUnkeyedContainer(forKey: key)
        #expect(steps(inner.codingPath) == [0, .key(key.stringValue, nil)])
      }
    }
  }

  @Test("kept containers have the paths of keys used later, even after a single value threw")
  func pathsInPlace() throws {
    let kept = Kept()
    _ = try message { encoder in
      var list = encoder.unkeyedContainer()
      let value = Writes { encoder in
        var container = encoder.container(keyedBy: FixedKey.self)
        try container.encode(1, forKey: .a)
        kept.fixed.append(container)
        kept.keyed.append(encoder.container(keyedBy: AnyKey.self))
        throw Refusal()
      }
      try list.encode(
        Writes { encoder in
          var single = encoder.singleValueContainer()
          try? single.encode(value)
          var inner = kept.fixed[0].nestedUnkeyedContainer(forKey: .b)
          #expect(steps(inner.codingPath) == [0, .key("b", nil)])
          try inner.encode(1)
          #expect(kept.keyed[0].nestedUnkeyedContainer(forKey: "b").count == 1)
        })
    }
  }
}

/// Places that await their value again, because one threw.
@Suite("Failures in single-value containers")
struct ReopenedPlaceTests {
  private enum Key: String, CodingKey { case a, b, c, d }

  /// Values that throw at once, or when they have recorded something.
  private static var failures: [any Encodable] {
    let atOnce = Writes { _ in throw Refusal() }
    let late = Writes {
      var container = $0.container(keyedBy: Key.self)
      try container.encode(1, forKey: .d)
      try container.superEncoder().writeSingle(2)
      throw Refusal()
    }
    return [atOnce, Optional(atOnce), [atOnce], ["k": atOnce], Optional([atOnce])]
      + [late, Optional(late), [late], ["k": late], Optional(["k": late])]
  }

  /// Values that take the place.
  private static let followers: [(any Encodable & Sendable, JSONValue)] = [
    (3, 3), (Optional("x"), "x"), ([1, 2], [1, 2]), (["k": 1], ["k": 1]), (Optional([[4]]), [[4]]),
  ]

  /// Encodes what fails, and then the follower.
  private func value(_ failure: Int, _ follower: Int) -> Writes {
    Writes { encoder in
      var container = encoder.singleValueContainer()
      try? container.encode(Self.failures[failure])
      try container.encode(Self.followers[follower].0)
    }
  }

  @Test("another value can be encoded for the same key after one that threw")
  func sameKey() {
    forEachCase(of: 0..<10, Self.followers.indices) { (failure: Int, follower: Int) in
      let expected = Self.followers[follower].1
      try expectWritten(["a": 1, "b": 2, "c": expected, "d": [0, expected]]) { encoder in
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
        try container.encode(2, forKey: .b)
        try container.encode(value(failure, follower), forKey: .c)
        var list = container.nestedUnkeyedContainer(forKey: .d)
        try list.encode(0)
        try list.encode(value(failure, follower))
      }
    }
  }

  @Test("a value after one that threw has the same path")
  func path() {
    forEachCase(of: 0..<10) { (failure: Int) in
      let asked = Writes { encoder in
        var container = encoder.singleValueContainer()
        try? container.encode(Self.failures[failure])
        let path = Writes { encoder in
          try encoder.writeSingle(encoder.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue })
        }
        try container.encode(Optional(path))
      }
      try expectWritten(["a": 0, "b": ["b"], "c": [0, 1, ["c", "2"]]]) { encoder in
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(0, forKey: .a)
        try container.encode(asked, forKey: .b)
        var list = container.nestedUnkeyedContainer(forKey: .c)
        try list.encode(0)
        try list.encode(1)
        try list.encode(asked)
      }
    }
  }

  @Test("keys of a value that threw do not change the order of keys that remain")
  func keyOrder() {
    forEachCase(of: 0..<10) { (failure: Int) throws in
      func message(fails: Bool) throws -> Data {
        try StowEncoder().encode(
          Writes { encoder in
            var list = encoder.unkeyedContainer()
            let outer = Writes { encoder in
              var container = encoder.container(keyedBy: Key.self)
              for key in [Key.d, .c] { try container.encode(value(failure, 1), forKey: key) }
              throw Refusal()
            }
            if fails { try? list.encode(outer) }
            for number in 0..<3 {
              var container = list.nestedContainer(keyedBy: Key.self)
              for key in [Key.b, .c, .d] { try container.encode(number, forKey: key) }
            }
          })
      }
      #expect(try message(fails: true) == message(fails: false))
    }
  }

  @Test("keys used only by a value that threw are forgotten, even if it was written to again")
  func keysOfItsOwn() throws {
    func message(fails: Bool) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          var list = encoder.unkeyedContainer()
          let value = Writes { encoder in
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(0, forKey: .a)
            var inner = container.nestedUnkeyedContainer(forKey: .b)
            try container.encode(1, forKey: .c)
            try inner.encode(2)
            try container.encode(3, forKey: .d)
            throw Refusal()
          }
          let later = list.superEncoder()
          if fails { try? list.encode(value) }
          if fails { try? later.writeSingle(value) }
          for number in 0..<3 {
            var container = list.nestedContainer(keyedBy: Key.self)
            for key in [Key.b, .a] { try container.encode(number, forKey: key) }
          }
        })
    }
    #expect(try message(fails: true) == message(fails: false))
  }

  @Test("a key has the spelling of the value that remains")
  func spelling() throws {
    func message(fails: Bool) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: AnyKey.self)
          if fails { try? container.encode([Writes { _ in throw Refusal() }], forKey: "e\u{301}") }
          try container.encode(1, forKey: "\u{e9}")
        })
    }
    #expect(try message(fails: true) == message(fails: false))
  }
}
