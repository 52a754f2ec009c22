import Stow
import Testing

@Suite("Types that encode nothing")
struct EmptyEncodingTests {
  private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) throws {}
  }

  private struct Empty: Codable, Equatable {}

  @Test("a type that encodes nothing is an error at the top")
  func top() {
    #expect(failure { try StowEncoder().encode(Nothing()) } == .invalidValue())
    #expect(failure { try StowEncoder().encode(Nothing()) } == failure { try JSON.encode(Nothing()) })
  }

  @Test("the error for a value that encodes nothing at the top holds the value")
  func invalidValue() {
    do {
      _ = try StowEncoder().encode(Nothing())
      Issue.record("no error")
    } catch EncodingError.invalidValue(let value, _) {
      #expect(value is Nothing)
    } catch {
      Issue.record(error)
    }
  }

  @Test("a type that encodes nothing is an empty object inside a keyed container")
  func keyed() throws {
    try expectWritten(["a": [:], "b": 1]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Nothing(), forKey: "a")
      try container.encode(1, forKey: "b")
    }
  }

  @Test("a type that encodes nothing is an empty object inside an unkeyed container")
  func unkeyed() throws {
    try expectWritten([[:], 1, [:]]) { encoder in
      var container = encoder.unkeyedContainer()
      try container.encode(Nothing())
      try container.encode(1)
      try container.encode(Nothing())
    }
  }

  @Test("a type that encodes nothing is an empty object in arrays, dictionaries and single values")
  func standardContainers() throws {
    try expectWritten([[:], [:]]) { try $0.writeSingle([Nothing(), Nothing()]) }
    try expectWritten(["a": [:]]) { try $0.writeSingle(["a": Nothing()]) }
    try expectWritten(["1": [:]]) { try $0.writeSingle([1: Nothing()]) }
    try expectWritten([:]) { try $0.writeSingle(Nothing()) }
  }

  @Test("a type that encodes nothing is an empty object in an optional, even at the top, as in JSON")
  func optional() throws {
    #expect(try transcode(Nothing?.some(Nothing()), to: JSONValue.self) == [:])
    #expect(try transcode(Nothing??.some(Nothing()), to: JSONValue.self) == [:])
    try expectWritten([:]) { try $0.writeSingle(Nothing?.some(Nothing())) }
    try expectWritten(["a": [:]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.superEncoder(forKey: "a").writeSingle(Nothing?.some(Nothing()))
    }
  }

  @Test("an encoder can amend a type that encoded nothing as a single value")
  func amended() throws {
    try expectWritten([["k": 1]]) { encoder in
      let value = Writes { encoder in
        try encoder.writeSingle(Nothing())
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "k")
      }
      try encoder.writeSingle([value])
    }
  }

  @Test("a type that encodes nothing becomes what is written to its encoder later")
  func late() throws {
    final class Kept {
      var encoders: [any Encoder] = []
    }
    try expectWritten(["a": 1, "b": ["k": 2], "c": [3], "d": ["e": 4], "f": [:]]) { encoder in
      let kept = Kept()
      let nothing = Writes { kept.encoders.append($0) }
      var container = encoder.container(keyedBy: AnyKey.self)
      for key in ["a", "b", "c"] as [AnyKey] { try container.encode(nothing, forKey: key) }
      try container.superEncoder(forKey: "d").writeSingle(nothing)
      try container.encode(nothing, forKey: "f")
      try kept.encoders[0].writeSingle(1)
      var object = kept.encoders[1].container(keyedBy: AnyKey.self)
      try object.encode(2, forKey: "k")
      var list = kept.encoders[2].unkeyedContainer()
      try list.encode(3)
      var late = kept.encoders[3].container(keyedBy: AnyKey.self)
      try late.encode(4, forKey: "e")
    }
  }

  @Test("a type that encodes nothing replaces an earlier value of its key")
  func replacing() throws {
    let wrapped = Writes { try $0.writeSingle(Nothing()) }
    try expectWritten(["a": [:], "b": [:], "c": [:]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      try container.encode(Nothing(), forKey: "a")
      try container.encode(["k": 1], forKey: "b")
      try container.encode(wrapped, forKey: "b")
      try container.encode([1], forKey: "c")
      try container.encode(wrapped, forKey: "c")
    }
  }

  @Test("a type without fields is an empty object everywhere")
  func noFields() throws {
    #expect(try transcode(Empty(), to: JSONValue.self) == [:])
    #expect(try transcode([Empty(), Empty()], to: JSONValue.self) == [[:], [:]])
    expectRoundTrip(Empty())
    expectRoundTrip([Empty](repeating: Empty(), count: 40))
  }

  @Test("types that encode nothing are read back as objects without keys")
  func readBack() throws {
    #expect(try transcode(["a": Nothing()], to: [String: Empty].self) == ["a": Empty()])
    #expect(try transcode([Nothing()], to: [[String: Int]].self) == [[:]])
  }
}
