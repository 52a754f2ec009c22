import Foundation
import Stow
import Testing

@Suite("Lent messages")
struct WithEncodedTests {
  private struct Failure: Error {}

  @Test("a lent message has the bytes that encode(_:) returns, whatever its size")
  func bytes() throws {
    let encoder = StowEncoder()
    for count in [0, 1, 10, 1_000, 100_000] {
      let value = (0..<count).map { "value \($0)" }
      let expected = try encoder.encode(value)
      #expect(try encoder.withEncoded(value) { Data($0) } == expected)
      #expect(try encoder.withEncoded(value) { try StowDecoder().decode([String].self, from: $0) } == value)
    }
    encoder.outputFormatting = .sortedKeys
    let map = ["b": 1, "a": 2, "c": 3]
    #expect(try encoder.withEncoded(map) { Data($0) } == encoder.encode(map))
  }

  @Test("withEncoded returns the result of the closure, which can be ignored")
  func result() throws {
    let encoder = StowEncoder()
    #expect(try encoder.withEncoded([1, 2, 3]) { $0.count } == encoder.encode([1, 2, 3]).count)
    var buffer: [UInt8] = [7]
    try encoder.withEncoded("text") { bytes in
      buffer += bytes
      return buffer.count
    }
    #expect(Data(buffer.dropFirst()) == (try encoder.encode("text")))
  }

  @Test("the closure can use the encoder, even for the same call again")
  func reentrancy() throws {
    let encoder = StowEncoder()
    let outer = (0..<1_000).map { ["name": "outer \($0)"] }
    let inner = ["inner": [1, 2, 3]]
    let both = try encoder.withEncoded(outer) { bytes in
      let before = Data(bytes)
      let lent = try encoder.withEncoded(inner) { Data($0) }
      let made = try encoder.encode(inner)
      #expect(lent == made)
      #expect(Data(bytes) == before)
      return before
    }
    #expect(try both == encoder.encode(outer))
  }

  @Test("the encoder can be used after the closure throws")
  func throwing() throws {
    let encoder = StowEncoder()
    #expect(throws: Failure.self) { try encoder.withEncoded([1]) { _ in throw Failure() } }
    #expect(throws: EncodingError.self) { try encoder.withEncoded(EmptyValue()) { $0.count } }
    #expect(try encoder.withEncoded([1]) { Array($0) } == [0xE1, 0x91])
  }

  /// A value that encodes nothing.
  private struct EmptyValue: Encodable {
    func encode(to encoder: any Encoder) {}
  }

  @Test("writing to a kept container does not change the lent message")
  func keptContainer() throws {
    final class Keeper: Encodable {
      nonisolated(unsafe) var container: KeyedEncodingContainer<AnyKey>?
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "a")
        self.container = container
      }
    }
    let keeper = Keeper()
    let expected = try StowEncoder().encode(["a": 1])
    let lent = try StowEncoder().withEncoded(keeper) { bytes in
      try keeper.container?.encode(2, forKey: "b")
      return Data(bytes)
    }
    #expect(lent == expected)
  }

  @Test("containers kept from a lent message write nothing, have no path, and can be released at once")
  func keptOfEveryKind() throws {
    final class Keeper: Encodable {
      nonisolated(unsafe) var keyed: KeyedEncodingContainer<AnyKey>?
      nonisolated(unsafe) var list: (any UnkeyedEncodingContainer)?
      nonisolated(unsafe) var single: (any SingleValueEncodingContainer)?
      nonisolated(unsafe) var encoder: (any Encoder)?

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        // Only the last of them is in the message, which is put in order.
        for index in 0..<20 { try container.encode([[index]], forKey: "a") }
        var list = container.nestedUnkeyedContainer(forKey: "list")
        try list.encode(1)
        keyed = list.nestedContainer(keyedBy: AnyKey.self)
        single = container.superEncoder(forKey: "b").singleValueContainer()
        self.encoder = container.superEncoder(forKey: "c")
        self.list = list
      }
    }
    for isLetGo in [false, true] {
      let keeper = Keeper()
      let lent = try StowEncoder().withEncoded(keeper) { bytes in
        #expect(keeper.keyed?.codingPath.isEmpty == true)
        try keeper.keyed?.superEncoder(forKey: "d").writeSingle(1)
        var inner = keeper.keyed?.nestedUnkeyedContainer(forKey: "e")
        try inner?.encode(["f": 1])
        #expect(keeper.list?.codingPath.isEmpty == true)
        #expect(keeper.list?.count == 2)
        try keeper.list?.encode(["late"])
        try keeper.single?.encode(1)
        #expect(keeper.encoder?.codingPath.isEmpty == true)
        var late = keeper.encoder?.container(keyedBy: AnyKey.self)
        try late?.encode(1, forKey: "late")
        if isLetGo { (keeper.keyed, keeper.list, keeper.single, keeper.encoder) = (nil, nil, nil, nil) }
        return Data(bytes)
      }
      #expect(try StowValue(from: lent) == ["a": [[19]], "list": [1, [:]], "b": [:], "c": [:]])
      #expect(try StowEncoder().encode(["a": 1]) == StowEncoder().withEncoded(["a": 1]) { Data($0) })
    }
  }
}
