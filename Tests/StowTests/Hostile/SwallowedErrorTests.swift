import Foundation
import Stow
import Testing

/// Writes what `body` writes and then fails.
private func failing(_ body: @escaping (any Encoder) throws -> Void) -> Writes {
  Writes {
    try body($0)
    throw Refusal()
  }
}

/// Values that write a good deal, each in its own way, before they fail.
private var failures: [Writes] {
  [
    failing { _ in },
    failing { _ = $0.container(keyedBy: AnyKey.self) },
    failing { _ = $0.unkeyedContainer() },
    failing { try $0.writeSingle("scalar scalar scalar") },
    failing { try $0.writeSingle(["x": "repeated string", "y": "repeated string", "z": "repeated string"]) },
    failing { try $0.writeSingle([1, 2, 3]) },
    failing { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode("repeated string", forKey: "only here")
      try container.encode("repeated string", forKey: "after")
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: "nested")
      try nested.encode(["repeated string", "repeated string"], forKey: "before")
      var list = nested.nestedUnkeyedContainer(forKey: "list")
      try list.encode([1.5, 2.5])
      try container.superEncoder().writeSingle(["repeated string": 1])
      _ = container.superEncoder(forKey: "unfilled")
    },
    failing { encoder in
      var container = encoder.unkeyedContainer()
      try container.encode(contentsOf: ["repeated string", "repeated string"])
      try container.encodeNil()
      _ = container.superEncoder()
    },
    Writes { try $0.writeSingle(["a": failing { try $0.writeSingle(1) }]) },
    Writes { try $0.writeSingle([failing { try $0.writeSingle([1]) }]) },
    Writes {
      try $0.writeSingle([Pair(first: 1, second: nil), Pair(first: nil, second: 2)])
      throw Refusal()
    },
  ]
}

private struct Pair: Codable {
  var first: Int?
  var second: Int?
}

@Suite("Swallowed errors")
struct SwallowedErrorTests {
  /// Records an issue unless both bodies write the same bytes.
  private func expectSame(
    _ body: @escaping (any Encoder) throws -> Void, as clean: @escaping (any Encoder) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = try message(body)
    #expect(bytes == (try message(clean)), sourceLocation: sourceLocation)
  }

  @Test("swallowed errors leave no trace in a keyed container")
  func keyed() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectSame { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode("repeated string", forKey: "before")
        try? container.encode(failures[index], forKey: "failing")
        try container.encode("repeated string", forKey: "after")
      } as: { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode("repeated string", forKey: "before")
        try container.encode("repeated string", forKey: "after")
      }
    }
  }

  @Test("swallowed errors leave no trace in an unkeyed container")
  func unkeyed() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectSame { encoder in
        var container = encoder.unkeyedContainer()
        try? container.encode(failures[index])
        #expect(container.count == 0)
        try container.encode("repeated string")
        try? container.encode(failures[index])
        // The same of a failure that passes through a single-value container.
        try? container.encode(failing { try $0.writeSingle(failures[index]) })
        #expect(container.count == 1)
        try container.encode(Pair(first: 1, second: 2))
      } as: { encoder in
        var container = encoder.unkeyedContainer()
        try container.encode("repeated string")
        try container.encode(Pair(first: 1, second: 2))
      }
    }
  }

  @Test("swallowed errors leave no trace deep inside other values")
  func deep() {
    forEachCase(of: failures.indices) { (index: Int) in
      func value(failing: Bool) -> Writes {
        Writes { encoder in
          var container = encoder.container(keyedBy: AnyKey.self)
          var list = container.nestedUnkeyedContainer(forKey: "list")
          for number in 0..<3 {
            let element = Writes { encoder in
              var own = encoder.container(keyedBy: AnyKey.self)
              if failing { try? own.encode(failures[index], forKey: "first") }
              try own.encode(number, forKey: "number")
              var nested = own.nestedContainer(keyedBy: AnyKey.self, forKey: "nested")
              if failing { try? nested.encode(failures[index], forKey: "second") }
              try nested.encode("text", forKey: "text")
            }
            try list.encode(element)
            if failing { try? list.encode(failures[index]) }
          }
        }
      }
      try expectSame(value(failing: true).body, as: value(failing: false).body)
    }
  }

  @Test("an earlier value of the key stays if a later one fails")
  func earlierValue() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten(["a": 1, "b": ["k": "v"], "c": [1, 2]]) { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "a")
        try container.encode(["k": "v"], forKey: "b")
        try container.encode([1, 2], forKey: "c")
        for key in ["a", "b", "c"] as [AnyKey] { try? container.encode(failures[index], forKey: key) }
      }
    }
  }

  @Test("the key of a failed value can be used for another value")
  func laterValue() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten(["a": 1, "b": ["k": 2], "c": [3], "d": [:]]) { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for key in ["a", "b", "c", "d", "e"] as [AnyKey] { try? container.encode(failures[index], forKey: key) }
        try container.encode(1, forKey: "a")
        var object = container.nestedContainer(keyedBy: AnyKey.self, forKey: "b")
        try object.encode(2, forKey: "k")
        var list = container.nestedUnkeyedContainer(forKey: "c")
        try list.encode(3)
        _ = container.superEncoder(forKey: "d")
      }
    }
  }

  @Test("keys met first in a failing value do not change the order or shape of later records")
  func keyOrder() throws {
    struct Record: Encodable {
      var fails = false
      enum CodingKeys: CodingKey { case a, b, c }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if fails {
          try container.encode("c", forKey: .c)
          try container.encode("b", forKey: .b)
          throw Refusal()
        }
        try container.encode("a", forKey: .a)
        try container.encode("b", forKey: .b)
      }
    }
    try expectSame { encoder in
      var list = encoder.unkeyedContainer()
      for _ in 0..<20 {
        try? list.encode(Record(fails: true))
        try list.encode(Record())
      }
    } as: { encoder in
      var list = encoder.unkeyedContainer()
      for _ in 0..<20 { try list.encode(Record()) }
    }
  }

  @Test("a failing value inside a failing value leaves no trace")
  func nestedFailures() throws {
    try expectWritten(["ok": 1]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let outer = failing { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode("x", forKey: "x")
        for value in failures { try? own.encode(value, forKey: "y") }
        try own.encode("z", forKey: "z")
      }
      try? container.encode(outer, forKey: "outer")
      try container.encode(1, forKey: "ok")
    }
  }

  @Test("what a failing value wrote to a container that is not its own stays")
  func foreignWrites() throws {
    try expectWritten(["log": ["entered"], "written": true]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let kept = container
      let log = container.nestedUnkeyedContainer(forKey: "log")
      let value = failing { encoder in
        var own = encoder.container(keyedBy: AnyKey.self)
        try own.encode("lost", forKey: "lost")
        var (log, outer) = (log, kept)
        try log.encode("entered")
        try outer.encode(true, forKey: "written")
      }
      try? container.encode(value, forKey: "value")
    }
  }

  @Test("an encoder encodes the next message after a failed one")
  func nextMessage() {
    forEachCase(of: failures.indices) { (index: Int) in
      let encoder = StowEncoder()
      let value = [Pair(first: 1, second: nil), Pair(first: 2, second: 3)]
      let expected = try StowEncoder().encode(value)
      #expect(throws: Refusal.self) { try encoder.encode(failures[index]) }
      #expect(try encoder.encode(value) == expected)
    }
  }

  @Test("an error that is not swallowed is thrown unchanged")
  func comesOut() {
    let value = ["a": [Writes { _ in throw Refusal() }]]
    #expect(throws: Refusal()) { try StowEncoder().encode(value) }
  }
}

@Suite("Errors swallowed in a single-value container")
struct SwallowedSingleValueErrorTests {
  @Test("another value can be encoded after a swallowed error")
  func another() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten(["list": ["good"], "top": ["k": 1]]) { encoder in
        let value = Writes { encoder in
          var container = encoder.singleValueContainer()
          try? container.encode(failures[index])
          try container.encode("good")
        }
        let object = Writes { encoder in
          var container = encoder.singleValueContainer()
          try? container.encode(failures[index])
          var keyed = encoder.container(keyedBy: AnyKey.self)
          try keyed.encode(1, forKey: "k")
        }
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode([value], forKey: "list")
        try container.encode(object, forKey: "top")
      }
    }
  }

  @Test("another value can be encoded after a swallowed error in nested containers")
  func nested() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten(["optional": [["k": 1]], "list": [["k": 1]], "last": [1, ["k": 2]]]) { encoder in
        // Encodes to a place that has been left, and so do what is written after it.
        let disturbing = Writes { encoder in
          var container = encoder.container(keyedBy: AnyKey.self)
          _ = container.superEncoder(forKey: "late")
          throw Refusal()
        }
        let failing = Writes { encoder in
          var container = encoder.singleValueContainer()
          try? container.encode(disturbing)
          try? container.encode(failures[index])
          throw Refusal()
        }
        func value(after failures: any Encodable...) -> Writes {
          Writes { encoder in
            var container = encoder.singleValueContainer()
            for failure in failures { try? container.encode(failure) }
            try container.encode([["k": 1]])
          }
        }
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(value(after: Optional(failing), Optional(failing)), forKey: "optional")
        try container.encode(value(after: [failing], Optional(failing)), forKey: "list")
        var list = container.nestedUnkeyedContainer(forKey: "last")
        try list.encode(1)
        var last = list.superEncoder().singleValueContainer()
        try? last.encode(Optional(failing))
        try last.encode(["k": 2])
      }
    }
  }

  @Test("swallowed errors leave an empty object in a super encoder, which counts as an element")
  func inSuperEncoder() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten([[:], 1, [:]]) { encoder in
        var list = encoder.unkeyedContainer()
        var container = list.superEncoder().singleValueContainer()
        try? container.encode(failures[index])
        #expect(list.count == 1)
        try list.encode(1)
        try? container.encode(failures[index])
        #expect(list.count == 2)
        var last = list.superEncoder().singleValueContainer()
        try? last.encode(failures[index])
      }
    }
  }

  @Test("a type whose only value failed has encoded nothing")
  func nothingElse() {
    forEachCase(of: failures.indices) { (index: Int) throws in
      let value = Writes { encoder in
        var container = encoder.singleValueContainer()
        try? container.encode(failures[index])
      }
      #expect(failure { try StowEncoder().encode(value) } == .invalidValue())
      #expect(try transcode(["a": value], to: JSONValue.self) == ["a": [:]])
      // As the single value of another it is one.
      let outer = Writes { try $0.writeSingle(value) }
      #expect(try transcode(outer, to: JSONValue.self) == [:])
      #expect(try transcode(["a": outer], to: JSONValue.self) == ["a": [:]])
    }
  }

  @Test("a value whose only value failed can be completed by its encoder")
  func amended() {
    forEachCase(of: failures.indices) { (index: Int) in
      try expectWritten(["k": 1]) { encoder in
        let value = Writes { encoder in
          var container = encoder.singleValueContainer()
          try? container.encode(failures[index])
        }
        try encoder.writeSingle(value)
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "k")
      }
    }
  }
}
