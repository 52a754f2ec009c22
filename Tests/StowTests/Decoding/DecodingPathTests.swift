import Stow
import Testing

@Suite("Coding paths while decoding")
struct DecodingPathTests {
  /// A value that notes the path its decoder has.
  private struct Probe: Decodable {
    var path: [Step]

    init(from decoder: any Decoder) throws {
      path = steps(decoder.codingPath)
      #expect(steps(try decoder.singleValueContainer().codingPath) == path)
    }
  }

  private static let value: JSONValue = ["list": [1, ["a": 2, "b": [3]], [4]], "o": ["k": 5], "z": 6]

  @Test("the coding path is empty at the top")
  func top() throws {
    #expect(try transcode(1, to: Probe.self).path == [])
    #expect(try read(Self.value) { steps(try $0.container(keyedBy: AnyKey.self).codingPath) } == [])
    #expect(try read([1]) { steps(try $0.unkeyedContainer().codingPath) } == [])
  }

  @Test("the coding path in a keyed container ends with the key")
  func keyed() throws {
    try read(Self.value) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(try container.decode(Probe.self, forKey: "o").path == ["o"])
      #expect(try container.decode(Probe.self, forKey: AnyKey("z", 26)).path == [.key("z", 26)])
    }
  }

  @Test("the coding path in an unkeyed container ends with the index")
  func unkeyed() throws {
    #expect(try transcode([1, 2, 3], to: [Probe].self).map(\.path) == [[0], [1], [2]])
    #expect(try transcode([[1], [], [2, 3]], to: [[Probe]].self)[2].map(\.path) == [[2, 0], [2, 1]])
  }

  @Test("coding paths lead through arrays and dictionaries")
  func standardContainers() throws {
    let probes = try transcode([["a": [1, 2]]], to: [[String: [Probe]]].self)
    #expect(probes[0]["a"]?.map(\.path) == [[0, "a", 0], [0, "a", 1]])
    #expect(try transcode([7: 1], to: [Int: Probe].self)[7]?.path == [.key("7", 7)])
  }

  @Test("the coding path has a dictionary key that looks like a number as in JSON")
  func numericStringKey() throws {
    expectFailsAsInJSON([String: Int].self, from: ["007": "x"])
    expectFailsAsInJSON([String: [Int]].self, from: ["7": ["x"]])
    expectFailsAsInJSON([[Int: Int]].self, from: [["7": "x"]])
  }

  @Test("nested containers have their coding paths")
  func nestedContainers() throws {
    try read(Self.value) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(steps(try container.nestedContainer(keyedBy: AnyKey.self, forKey: "o").codingPath) == ["o"])
      var list = try container.nestedUnkeyedContainer(forKey: "list")
      #expect(steps(list.codingPath) == ["list"])
      #expect(try list.decode(Probe.self).path == ["list", 0])
      let object = try list.nestedContainer(keyedBy: AnyKey.self)
      #expect(steps(object.codingPath) == ["list", 1])
      #expect(try object.decode(Probe.self, forKey: "a").path == ["list", 1, "a"])
      #expect(steps(try object.nestedUnkeyedContainer(forKey: "b").codingPath) == ["list", 1, "b"])
      var last = try list.nestedUnkeyedContainer()
      #expect(steps(last.codingPath) == ["list", 2])
      #expect(try last.decode(Probe.self).path == ["list", 2, 0])
      #expect(steps(list.codingPath) == ["list"])
    }
  }

  @Test("keys in coding paths keep the integers that they were requested with")
  func integers() throws {
    try read(["7": ["x"], "-4": ["y"]]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      let keys = [AnyKey(intValue: 7), AnyKey(intValue: -4), AnyKey("7"), AnyKey("-4", 9)]
      for key in keys + keys.reversed() {
        #expect(try container.decode([Probe].self, forKey: key)[0].path == [Step(key), 0])
        #expect(steps(try container.nestedUnkeyedContainer(forKey: key).codingPath) == [Step(key)])
      }
    }
  }

  @Test("super decoders have their coding paths")
  func superDecoders() throws {
    try read(Self.value) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(steps(try container.superDecoder().codingPath) == ["super"])
      let named = try container.superDecoder(forKey: "list")
      #expect(steps(named.codingPath) == ["list"])
      var list = try named.unkeyedContainer()
      #expect(steps(list.codingPath) == ["list"])
      #expect(try list.decode(Probe.self).path == ["list", 0])
      let element = try list.superDecoder()
      #expect(steps(element.codingPath) == ["list", 1])
      let object = try element.container(keyedBy: AnyKey.self)
      #expect(try object.decode(Probe.self, forKey: "b").path == ["list", 1, "b"])
      #expect(steps(try container.superDecoder(forKey: "missing").codingPath) == ["missing"])
    }
  }

  @Test("single-value containers add nothing to the coding path")
  func singleValues() throws {
    struct Wrapper: Decodable {
      var probe: Probe
      init(from decoder: any Decoder) throws { probe = try decoder.readSingle(Probe.self) }
    }
    #expect(try transcode([["k": 1]], to: [[String: Wrapper]].self)[0]["k"]?.probe.path == [0, "k"])
  }

  @Test("the coding path is right after a failed attempt")
  func afterFailure() throws {
    try read([["a": ["x"]], ["a": ["y"]]]) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(throws: DecodingError.self) { try list.decode([String: [Int]].self) }
      #expect(try list.decode([String: [Probe]].self)["a"]?[0].path == [0, "a", 0])
      #expect(try list.decode([String: [Probe]].self)["a"]?[0].path == [1, "a", 0])
    }
  }

  @Test("a key in a path has the integer of its name, unless the name has too many leading zeros")
  func integersOfNames() throws {
    let long = String(repeating: "0", count: 50) + "7"
    for (name, integer) in [("7", 7), ("007", 7), (long, nil)] as [(String, Int?)] {
      let message = try StowEncoder().encode([name: "text"])
      do {
        _ = try StowDecoder().decode([String: Int].self, from: message)
        Issue.record("A text is no integer.")
      } catch DecodingError.typeMismatch(_, let context) {
        #expect(context.codingPath.map(\.stringValue) == [name])
        #expect(context.codingPath.map(\.intValue) == [integer])
      }
    }
  }
}
