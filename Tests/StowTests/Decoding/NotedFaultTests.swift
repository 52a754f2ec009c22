import Foundation
import Stow
import Testing

/// `allKeys`, `contains` and `count` cannot throw.
@Suite("Faults that calls cannot throw")
struct NotedFaultTests {
  /// A type that reads what `allKeys` names.
  private struct Walker: Decodable {
    var values: [String: Int] = [:]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      for key in container.allKeys { values[key.stringValue] = try container.decode(Int.self, forKey: key) }
    }
  }

  /// The same, and does not mind what fails.
  private struct Careless: Decodable {
    init(from decoder: any Decoder) throws {
      let container = try? decoder.container(keyedBy: AnyKey.self)
      _ = container?.allKeys
      _ = try? container?.decode(Int.self, forKey: "a")
    }
  }

  private static let faulty: [[UInt8]] = [
    // A table whose key is not UTF-8, alone and beside a valid one.
    [0x1F, 0, 1, 1, 0x81, 0xFF, 0x7A, 4, 0, 1, 5, 6],
    [0x1F, 0, 1, 2, 0x81, 0x61, 0x81, 0xFF, 0x7A, 7, 0, 1, 1, 5, 6, 7, 8],
    // In an array: a map of a symbol that does not exist, of a key that is cut off, and of keys that are not valid.
    [0xE3, 0xC2, 0xC0, 0x91],
    [0xE3, 0xC2, 0x81, 0x61],
    [0xE4, 0xC3, 0x81, 0xFF, 0x91],
    [0xE4, 0xC3, 0x01, 0x00, 0x91],
    [0xE7, 0xC6, 0x81, 0x61, 0x91, 0x81, 0x61, 0x92],
    // A value that has no end.
    [0xE7, 0xC6, 0x81, 0x31, 0x91, 0x81, 0x32, 0x7D],
  ]

  @Test("a fault in the keys of maps, records and tables fails the whole decoding")
  func keys() {
    forEachCase(of: Self.faulty) { (message: [UInt8]) in
      expectCorrupted([Walker].self, message)
      expectCorrupted([Careless].self, message)
      expectCorrupted([[String: Int]].self, message)
      expectCorrupted([[Int: Int]].self, message)
      expectCorrupted([JSONValue].self, message)
    }
  }

  @Test(
    "a fault at the top fails the whole decoding",
    arguments: [[0xC2, 0xC0, 0x91], [0xC6, 0x81, 0x31, 0x91, 0x81, 0x32, 0x7D]] as [[UInt8]])
  func top(message: [UInt8]) {
    expectCorrupted(Walker.self, message)
    expectCorrupted(Careless.self, message)
    expectCorrupted([Int: Int].self, message)
    expectCorrupted([String: Int].self, message)
  }

  @Test("a fault met by contains fails the whole decoding")
  func contains() {
    struct Asking: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        #expect(!container.contains("absent"))
      }
    }
    expectCorrupted(Asking.self, [0xC6, 0x81, 0x31, 0x91, 0x81, 0x32, 0x7D])
  }

  @Test("a key that occurs twice fails the decoding if an entry with it is skipped")
  func passedOver() throws {
    struct Pair: Decodable, Equatable {
      var a: Int
      var b: Int?
    }
    // Keys c, a, c and a: of the first a, whoever passes over c cannot know that it is the only one.
    let message: [UInt8] = [0xCC, 0x81, 0x63, 0x91, 0x81, 0x61, 0x92, 0x81, 0x63, 0x93, 0x81, 0x61, 0x94]
    expectCorrupted(Pair.self, message)
    // Keys a, c and c: nothing after a is read.
    let taken: [UInt8] = [0xC9, 0x81, 0x61, 0x92, 0x81, 0x63, 0x91, 0x81, 0x63, 0x93]
    #expect(try StowDecoder().decode(Pair.self, from: taken) == Pair(a: 2, b: nil))
    expectCorrupted([String: Int].self, taken)
  }

  @Test("a key that occurs twice fails the decoding if it is requested again")
  func askedForAgain() {
    /// Tries a key as one type, and then as another.
    struct Trying<Key: CodingKey>: Decodable {
      init(from decoder: any Decoder) throws {
        guard let key = Key(stringValue: "a") else { throw Refusal() }
        let container = try decoder.container(keyedBy: Key.self)
        if (try? container.decode([String].self, forKey: key)) != nil { return }
        #expect(throws: DecodingError.self) { try container.decode([Int].self, forKey: key) }
        _ = try container.decode([Int].self, forKey: key)
      }
    }
    enum Byte: CodingKey { case a }
    // {"a": [nil], "a": [1]}, with keys as texts, and the first as a symbol.
    let entries: [UInt8] = [0xE1, 0, 0x81, 0x61, 0xE1, 0x91]
    for message in [[0xC8, 0x81, 0x61] + entries, [0x1F, 1, 0x81, 0x61, 0, 0xC7, 0xC0] + entries] {
      expectCorrupted(Trying<Byte>.self, message)
      expectCorrupted(Trying<AnyKey>.self, message)
    }
  }

  @Test("a fault met by counting elements fails the whole decoding")
  func count() {
    struct Counting: Decodable {
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        for _ in 0..<(container.count ?? 0) { _ = try container.decode(Int.self) }
      }
    }
    expectCorrupted(Counting.self, [0xE2, 0x91, 0x7D])
    expectCorrupted(Counting.self, [0xE2, 0x91, 0x32])
  }

  @Test("the error has the path of the object, and the first fault of several")
  func path() {
    let message: [UInt8] = [0xE6, 0xC2, 0xC0, 0x91, 0xC2, 0xC1, 0x92]
    #expect {
      try StowDecoder().decode([Careless].self, from: message)
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return context.codingPath.map(\.intValue) == [0] && context.debugDescription.contains("offset 2")
    }
  }

  @Test("a fault does not affect the next message")
  func next() throws {
    let decoder = StowDecoder()
    for _ in 0..<3 {
      #expect(throws: DecodingError.self) { try decoder.decode(Walker.self, from: [0xC2, 0xC0, 0x91] as [UInt8]) }
      #expect(try decoder.decode(Walker.self, from: StowEncoder().encode(["a": 1])).values == ["a": 1])
    }
  }

  private func expectCorrupted<Value: Decodable>(
    _ type: Value.Type, _ message: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: sourceLocation) {
      try StowDecoder().decode(type, from: message)
    } throws: { error in
      if case DecodingError.dataCorrupted = error { true } else { false }
    }
  }
}
