import Foundation
import Stow
import Testing

@Suite("Coding paths while encoding")
struct EncodingPathTests {
  /// A value that notes the path its encoder has.
  private final class Probe: Encodable {
    var path: [Step]?

    func encode(to encoder: any Encoder) throws {
      path = steps(encoder.codingPath)
      var container = encoder.singleValueContainer()
      #expect(steps(container.codingPath) == path)
      try container.encode(0)
    }
  }

  @Test("the coding path is empty at the top")
  func top() throws {
    let probe = Probe()
    _ = try StowEncoder().encode(probe)
    #expect(probe.path == [])
    _ = try message { encoder in
      #expect(steps(encoder.container(keyedBy: AnyKey.self).codingPath) == [])
    }
    _ = try message { encoder in
      #expect(steps(encoder.unkeyedContainer().codingPath) == [])
    }
  }

  @Test("the coding path in a keyed container ends with the key")
  func keyed() throws {
    let (plain, integer) = (Probe(), Probe())
    _ = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(plain, forKey: "plain")
      try container.encode(integer, forKey: AnyKey("seven", 7))
      #expect(steps(container.codingPath) == [])
    }
    #expect(plain.path == ["plain"])
    #expect(integer.path == [.key("seven", 7)])
  }

  @Test("the coding path in an unkeyed container ends with the index")
  func unkeyed() throws {
    let probes = [Probe(), Probe()]
    _ = try message { encoder in
      var container = encoder.unkeyedContainer()
      try container.encode(probes[0])
      try container.encode("between")
      try container.encode(probes[1])
      #expect(steps(container.codingPath) == [])
    }
    #expect(probes.map(\.path) == [[0], [2]])
  }

  @Test("the coding path has the index in an unkeyed container of very many elements")
  func veryManyElements() throws {
    let (probe, count) = (Probe(), 1 << 24 + 1)
    _ = try message { encoder in
      var container = encoder.unkeyedContainer()
      for _ in 0..<count { try container.encodeNil() }
      try container.encode(["key": probe])
      #expect(steps(container.nestedUnkeyedContainer().codingPath) == [.init(integerLiteral: count + 1)])
    }
    #expect(probe.path == [.init(integerLiteral: count), "key"])
  }

  @Test("coding paths lead through arrays and dictionaries")
  func standardContainers() throws {
    let probes = (0..<5).map { _ in Probe() }
    let value = ["list": [probes[0], probes[1]], "one": [probes[2]]]
    _ = try StowEncoder().encode([value])
    #expect(probes[0].path == [0, "list", 0])
    #expect(probes[1].path == [0, "list", 1])
    #expect(probes[2].path == [0, "one", 0])
    _ = try StowEncoder().encode([7: [probes[3]], 8: [probes[4]]])
    #expect(probes[3].path == [.key("7", 7), 0])
    #expect(probes[4].path == [.key("8", 8), 0])
  }

  @Test("the coding path has a dictionary key that looks like a number as in JSON")
  func numericStringKey() throws {
    let (probe, json) = (Probe(), Probe())
    _ = try StowEncoder().encode(["x": ["007": probe]])
    _ = try JSONEncoder().encode(["x": ["007": json]])
    #expect(probe.path == json.path)
  }

  @Test("nested containers have their coding paths")
  func nestedContainers() throws {
    let probes = (0..<4).map { _ in Probe() }
    _ = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      #expect(steps(list.codingPath) == ["list"])
      try list.encode(probes[0])
      var object = list.nestedContainer(keyedBy: AnyKey.self)
      #expect(steps(object.codingPath) == ["list", 1])
      try object.encode(probes[1], forKey: "a")
      let inner = object.nestedContainer(keyedBy: AnyKey.self, forKey: "b")
      #expect(steps(inner.codingPath) == ["list", 1, "b"])
      var last = list.nestedUnkeyedContainer()
      #expect(steps(last.codingPath) == ["list", 2])
      try last.encode(probes[2])
      try list.encode([probes[3]])
    }
    #expect(probes[0].path == ["list", 0])
    #expect(probes[1].path == ["list", 1, "a"])
    #expect(probes[2].path == ["list", 2, 0])
    #expect(probes[3].path == ["list", 3, 0])
  }

  @Test("super encoders have their coding paths")
  func superEncoders() throws {
    let (probe, other) = (Probe(), Probe())
    _ = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      let parent = container.superEncoder()
      #expect(steps(parent.codingPath) == ["super"])
      #expect(steps(parent.container(keyedBy: AnyKey.self).codingPath) == ["super"])
      let named = container.superEncoder(forKey: "named")
      #expect(steps(named.codingPath) == ["named"])
      try named.writeSingle(probe)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      try list.encode(0)
      let element = list.superEncoder()
      #expect(steps(element.codingPath) == ["list", 1])
      var own = element.container(keyedBy: AnyKey.self)
      try own.encode(other, forKey: "k")
    }
    #expect(probe.path == ["named"])
    #expect(other.path == ["list", 1, "k"])
  }

  @Test("containers written in turns have their coding paths")
  func interleaved() throws {
    let probes = (0..<4).map { _ in Probe() }
    _ = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var first = container.nestedUnkeyedContainer(forKey: "first")
      var second = container.nestedContainer(keyedBy: AnyKey.self, forKey: "second")
      try first.encode(probes[0])
      try second.encode(probes[1], forKey: "k")
      try first.encode(probes[2])
      try container.encode(probes[3], forKey: "third")
      #expect(steps(first.codingPath) == ["first"])
      #expect(steps(second.codingPath) == ["second"])
    }
    #expect(probes.map(\.path) == [["first", 0], ["second", "k"], ["first", 1], ["third"]])
  }

  @Test("single-value containers add nothing to the coding path")
  func singleValues() throws {
    let probe = Probe()
    let wrapped = Writes { try $0.writeSingle(Writes { try $0.writeSingle(probe) }) }
    _ = try StowEncoder().encode([["k": wrapped]])
    #expect(probe.path == [0, "k"])
  }

  @Test("the coding path is right after an ignored error")
  func afterError() throws {
    let probe = Probe()
    _ = try message { encoder in
      var container = encoder.unkeyedContainer()
      try? container.encode(["k": [Writes { _ in throw Refusal() }]])
      try container.encode(["k": [probe]])
    }
    #expect(probe.path == [0, "k", 0])
  }

  @Test("containers kept by a value that threw have the same coding paths as in JSON")
  func keptFromFailure() throws {
    enum Key: String, CodingKey { case a, b, c, d }
    func paths(_ encode: (Writes) throws -> Data, inPlace: Bool) throws -> [[Step]] {
      var paths: [() -> [any CodingKey]] = []
      let failing = Writes { encoder in
        var container = encoder.container(keyedBy: Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .b)
        let element = list.nestedContainer(keyedBy: AnyKey.self)
        let object = container.nestedContainer(keyedBy: Key.self, forKey: .c)
        let inner = container.superEncoder(forKey: .d)
        paths += [{ list.codingPath }, { element.codingPath }, { object.codingPath }, { inner.codingPath }]
        throw Refusal()
      }
      let array = Writes { encoder in
        var list = encoder.unkeyedContainer()
        try list.encode(0)
        let object = list.nestedContainer(keyedBy: Key.self)
        paths.append { object.codingPath }
        throw Refusal()
      }
      var found: [[Step]] = []
      _ = try encode(
        Writes { encoder in
          var list = encoder.unkeyedContainer()
          for _ in 0..<2 {
            for value in [failing, array] {
              if inPlace {
                try list.encode(
                  Writes { encoder in
                    var container = encoder.singleValueContainer()
                    try? container.encode(value)
                    try container.encode(0)
                  })
              } else {
                try? list.encode(value)
              }
            }
            var other = list.nestedContainer(keyedBy: Key.self)
            for key in [Key.c, .d, .a] { try other.encode(1, forKey: key) }
            found += paths.map { steps($0()) }
          }
        })
      return found
    }
    for inPlace in [false, true] {
      let own = try paths({ try StowEncoder().encode($0) }, inPlace: inPlace)
      #expect(try own == paths({ try JSONEncoder().encode($0) }, inPlace: inPlace))
    }
  }

  @Test("errors that a type throws have its coding path")
  func ownErrors() {
    struct Picky: Encodable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "never"))
      }
    }
    let value = ["a": [[String: Picky]](), "b": [["c": Picky()]]]
    #expect(failure { try StowEncoder().encode(value) } == .invalidValue("b", 0, "c"))
  }
}
