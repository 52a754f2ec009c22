import Stow
import Testing

@Suite("Reading arrays element by element")
struct UnkeyedDecodingTests {
  private struct Point: Codable, Equatable {
    var x: Int
    var y: Int
  }

  @Test("count, currentIndex and isAtEnd follow each element")
  func progress() throws {
    try read([1, nil, "s", [2], ["k": 3], 4] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(list.count == 6)
      #expect(list.currentIndex == 0)
      #expect(!list.isAtEnd)
      #expect(try list.decode(Int.self) == 1)
      #expect(list.currentIndex == 1)
      #expect(try list.decodeNil())
      #expect(list.currentIndex == 2)
      #expect(try list.decode(String.self) == "s")
      #expect(list.currentIndex == 3)
      var inner = try list.nestedUnkeyedContainer()
      #expect(list.currentIndex == 4)
      let object = try list.nestedContainer(keyedBy: AnyKey.self)
      #expect(list.currentIndex == 5)
      #expect(try list.superDecoder().readSingle(Int.self) == 4)
      #expect(list.currentIndex == 6)
      #expect(list.isAtEnd)
      #expect(list.count == 6)
      #expect(try inner.decode(Int.self) == 2)
      #expect(try object.decode(Int.self, forKey: "k") == 3)
    }
  }

  @Test("an empty array is at its end at once")
  func empty() throws {
    try read([Int]()) { decoder in
      let list = try decoder.unkeyedContainer()
      #expect(list.count == 0)
      #expect(list.isAtEnd)
    }
  }

  @Test("currentIndex moves only on success")
  func failuresDoNotMove() throws {
    try read([["x": 1], 2] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      for _ in 0..<2 {
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(throws: DecodingError.self) { try list.decode(String.self) }
        #expect(throws: DecodingError.self) { try list.decode(Bool.self) }
        #expect(throws: DecodingError.self) { try list.decode(Point.self) }
        #expect(throws: DecodingError.self) { try list.decode([Int].self) }
        #expect(throws: DecodingError.self) { try list.decodeIfPresent(Int.self) }
        #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
        #expect(list.currentIndex == 0)
      }
      #expect(try list.decode([String: Int].self) == ["x": 1])
      #expect(list.currentIndex == 1)
      #expect(throws: DecodingError.self) { try list.nestedContainer(keyedBy: AnyKey.self) }
      #expect(list.currentIndex == 1)
      #expect(try list.decode(Int.self) == 2)
    }
  }

  @Test("decodeNil moves only on nil")
  func decodeNil() throws {
    try read([1, nil, 2] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(try !list.decodeNil())
      #expect(try !list.decodeNil())
      #expect(list.currentIndex == 0)
      #expect(try list.decode(Int.self) == 1)
      #expect(try list.decodeNil())
      #expect(list.currentIndex == 2)
      #expect(try !list.decodeNil())
      #expect(try list.decode(Int.self) == 2)
      #expect(list.isAtEnd)
    }
  }

  @Test("a nil element decoded as a value throws valueNotFound and does not move")
  func nilElements() throws {
    try read([nil, nil, 1] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(failure { try list.decode(Int.self) } == .valueNotFound(0))
      #expect(failure { try list.decode(Point.self) } == .valueNotFound(0))
      #expect(failure { try list.nestedContainer(keyedBy: AnyKey.self) } == .valueNotFound(0))
      #expect(failure { try list.nestedUnkeyedContainer() } == .valueNotFound(0))
      #expect(list.currentIndex == 0)
      #expect(try list.decode(Int?.self) == nil)
      #expect(list.currentIndex == 1)
      #expect(failure { try list.decode(String.self) } == .valueNotFound(1))
      #expect(try list.decodeIfPresent(Int.self) == nil)
      #expect(try list.decodeIfPresent(Int.self) == 1)
    }
  }

  @Test("decoding past the end always throws valueNotFound")
  func pastTheEnd() throws {
    for values in [[], [1], [1, 2, 3]] {
      try read(values) { decoder in
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd { _ = try list.decode(Int.self) }
        let end = Failure.valueNotFound(Step(integerLiteral: values.count))
        for _ in 0..<2 {
          #expect(failure { try list.decode(Int.self) } == end)
          #expect(failure { try list.decode(Int?.self) } == end)
          #expect(failure { try list.decode(String.self) } == end)
          #expect(failure { try list.decode(Point.self) } == end)
          #expect(failure { try list.decodeNil() } == end)
          #expect(failure { try list.nestedContainer(keyedBy: AnyKey.self) } == end)
          #expect(failure { try list.nestedUnkeyedContainer() } == end)
          #expect(failure { try list.superDecoder() } == end)
          #expect(list.currentIndex == values.count)
          #expect(list.isAtEnd)
        }
      }
    }
  }

  @Test("a copy of an unkeyed container reads independently")
  func copies() throws {
    try read([1, 2, 3]) { decoder in
      var list = try decoder.unkeyedContainer()
      _ = try list.decode(Int.self)
      var copy = list
      #expect(try copy.decode(Int.self) == 2)
      #expect(try copy.decode(Int.self) == 3)
      #expect(list.currentIndex == 1)
      #expect(try list.decode(Int.self) == 2)
      var again = try decoder.unkeyedContainer()
      #expect(again.currentIndex == 0)
      #expect(try again.decode(Int.self) == 1)
    }
  }

  @Test("every packed kind of array is read element by element", arguments: 0..<6)
  func packed(kind: Int) throws {
    let value: JSONValue =
      switch kind {
      case 0: [1, 2, 3, 4]
      case 1: [1.5, 2.5, -0.25, 1e300]
      case 2: [true, false, true, true]
      case 3: [70000, -1, 5_000_000_000, 0]
      case 4: [["x": 1], ["x": 2], ["x": 3], ["x": 4]]
      default: ["a", "a", "a", "b"]
      }
    guard case .array(let elements) = value else { return }
    try read(value) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(list.count == 4)
      for index in 0..<4 {
        #expect(list.currentIndex == index)
        #expect(try !list.decodeNil())
        #expect(throws: DecodingError.self) { try list.decode([Int].self) }
        #expect(throws: DecodingError.self) { try list.decode(Point.self) }
        var copy = list
        #expect(steps(try copy.superDecoder().codingPath) == [Step(integerLiteral: index)])
        #expect(try list.decode(JSONValue.self) == elements[index])
      }
      #expect(list.isAtEnd)
      #expect(failure { try list.decode(JSONValue.self) } == .valueNotFound(4))
    }
  }

  @Test("an element skipped by superDecoder or a nested container is skipped whole")
  func skipping() throws {
    try read([["a": [1, 2, 3]], [[4], [5]], "end"] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      _ = try list.superDecoder()
      _ = try list.nestedUnkeyedContainer()
      #expect(try list.decode(String.self) == "end")
    }
  }
}

@Suite("Reading past the end of an array")
struct PastTheEndTests {
  @Test("decodeIfPresent returns nil past the end and does not move")
  func decodeIfPresent() throws {
    try read([1]) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(try list.decodeIfPresent(Int.self) == 1)
      for _ in 0..<2 {
        #expect(try list.decodeIfPresent(Int.self) == nil)
        #expect(try list.decodeIfPresent(String.self) == nil)
        #expect(try list.decodeIfPresent([String: Int].self) == nil)
        #expect(list.currentIndex == 1)
        #expect(list.isAtEnd)
      }
    }
  }

  @Test("an error among the first strings names its own element")
  func earlyError() throws {
    let message: [UInt8] = [0xE5, 0x31, 0x61, 0x31, 0x62, 0x7D]
    #expect {
      _ = try StowDecoder().decode([String].self, from: message)
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return steps(context.codingPath) == [2]
    }
  }
}
