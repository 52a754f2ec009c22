import Foundation
import Stow
import Testing

/// What nests too deeply is refused before anything of it is recorded; swallowing that leaves nothing behind.
@Suite("Swallowed errors of depth")
struct SwallowedDepthTests {
  private enum Keys: String, CodingKey {
    case number, deep, deeper
  }

  private static func encoder(depth: Int) -> StowEncoder {
    let encoder = StowEncoder()
    encoder.maximumDepth = depth
    return encoder
  }

  @Test("a refused dictionary is not counted as a map of the message")
  func dictionary() throws {
    let value = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try? container.encode(["k": 1], forKey: "deep")
    }
    #expect(try Self.encoder(depth: 1).encode(value) == Data([0xC0]))
  }

  @Test("refused dictionaries at the end of an object do not change other objects")
  func dictionaries() throws {
    struct Holder: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(1, forKey: .number)
        try? container.encode(["k": 1], forKey: .deep)
        try? container.encode(["k": 1], forKey: .deeper)
      }
    }
    let data = try Self.encoder(depth: 2).encode([Holder(), Holder()])
    #expect(try StowDecoder().decode([[String: Int]].self, from: data) == [["number": 1], ["number": 1]])
  }

  @Test("a fixed key whose value was refused everywhere is not part of the shape")
  func fixedKeys() throws {
    func rows(tries: Bool) -> [Writes] {
      (0..<4).map { _ in
        Writes { encoder in
          var container = encoder.container(keyedBy: Keys.self)
          try container.encode(1, forKey: .number)
          if tries { try? container.encode([1], forKey: .deep) }
        }
      }
    }
    let encoder = Self.encoder(depth: 2)
    #expect(try encoder.encode(rows(tries: true)) == encoder.encode(rows(tries: false)))
  }

  @Test("any depth may be allowed", arguments: [Int.max, Int.max / 2 + 1, Int.max / 2, 1 << 40])
  func anyDepth(depth: Int) throws {
    struct Nest: Codable, Equatable {
      var inner: [Nest]
    }
    let value = Nest(inner: [Nest(inner: [])])
    let decoder = StowDecoder()
    decoder.maximumDepth = depth
    let single = Writes { encoder in
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
    let encoder = Self.encoder(depth: depth)
    #expect(try decoder.decode(Nest.self, from: encoder.encode(value)) == value)
    #expect(try decoder.decode(Nest.self, from: encoder.encode(single)) == value)
  }
}
