import Foundation
import Stow
import Testing

@Suite("Containers kept beyond init(from:)")
struct KeptDecodingTests {
  /// Keeps its container and reads from it when asked.
  private final class Lazy: Decodable {
    let container: KeyedDecodingContainer<AnyKey>

    init(from decoder: any Decoder) throws {
      container = try decoder.container(keyedBy: AnyKey.self)
    }
  }

  private final class LazyList: Decodable {
    var container: any UnkeyedDecodingContainer

    init(from decoder: any Decoder) throws {
      container = try decoder.unkeyedContainer()
    }
  }

  private struct Record: Codable, Equatable {
    var name: String
    var values: [Double]
    var nested: [String: [Int]]
  }

  private static let records = (0..<10).map { i in
    Record(name: "repeated name", values: [Double(i) / 2, 0.1], nested: ["k": [i], "l": []])
  }

  private static func expectRecord(_ record: Record, in container: KeyedDecodingContainer<AnyKey>) throws {
    #expect(try container.decode(String.self, forKey: "name") == record.name)
    #expect(try container.decode([Double].self, forKey: "values") == record.values)
    let nested = try container.nestedContainer(keyedBy: AnyKey.self, forKey: "nested")
    #expect(try nested.decode([Int].self, forKey: "k") == record.nested["k"])
    #expect(failure { try container.decode(Int.self, forKey: "missing") }?.kind == .keyNotFound)
  }

  @Test("a keyed container is read after decode returned")
  func keyed() throws {
    let lazy = try transcode(Self.records, to: [Lazy].self)
    for (record, lazy) in zip(Self.records, lazy).reversed() {
      try Self.expectRecord(record, in: lazy.container)
    }
  }

  @Test("an unkeyed container is read after decode returned")
  func unkeyed() throws {
    let lazy = try transcode(["list": [1, 2, 3]], to: [String: LazyList].self)
    let list = try #require(lazy["list"])
    #expect(list.container.count == 3)
    #expect(try (0..<3).map { _ in try list.container.decode(Int.self) } == [1, 2, 3])
    #expect(list.container.isAtEnd)
  }

  @Test("containers are read after the decoder read other messages")
  func afterOthers() throws {
    let decoder = StowDecoder()
    let lazy = try decoder.decode([Lazy].self, from: StowEncoder().encode(Self.records))
    for i in 0..<20 {
      let other = [["other \(i)": "text text"], ["other \(i)": "text text"]]
      #expect(try decoder.decode([[String: String]].self, from: StowEncoder().encode(other)) == other)
    }
    for (record, lazy) in zip(Self.records, lazy) { try Self.expectRecord(record, in: lazy.container) }
  }

  @Test("containers are read after the buffer they came from is gone")
  func afterTheBuffer() throws {
    var bytes = [UInt8](try StowEncoder().encode(Self.records))
    let lazy = try bytes.withUnsafeBufferPointer { buffer in
      try StowDecoder().decode([Lazy].self, from: buffer)
    }
    for i in bytes.indices { bytes[i] = 0xFF }
    for (record, lazy) in zip(Self.records, lazy) { try Self.expectRecord(record, in: lazy.container) }
  }
}

@Suite("Decoders kept beyond init(from:)")
struct KeptDecoderTests {
  private final class Lazy: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
    }
  }

  @Test("a decoder, a super decoder and a single-value container are read after decode returned")
  func kept() throws {
    let lazy = try transcode([["a": [1]], ["a": [2]]], to: [Lazy].self)
    #expect(try lazy[1].decoder.readSingle([String: [Int]].self) == ["a": [2]])
    let container = try lazy[0].decoder.container(keyedBy: AnyKey.self)
    #expect(try container.superDecoder(forKey: "a").readSingle([Int].self) == [1])
    let single = try lazy[0].decoder.singleValueContainer()
    #expect(try single.decode([String: [Int]].self) == ["a": [1]])
    #expect(steps(lazy[1].decoder.codingPath) == [1])
  }

  @Test("a container kept by a value whose decoding failed")
  func afterFailure() throws {
    let record: JSONValue = ["name": "n", "values": [1, 2]]
    final class Shelf: @unchecked Sendable {
      var container: KeyedDecodingContainer<AnyKey>?
    }
    let shelf = Shelf()
    #expect(throws: Refusal.self) {
      try read(record) { decoder in
        shelf.container = try decoder.container(keyedBy: AnyKey.self)
        throw Refusal()
      }
    }
    let container = try #require(shelf.container)
    #expect(try container.decode(String.self, forKey: "name") == "n")
    #expect(try container.decode([Int].self, forKey: "values") == [1, 2])
  }
}
