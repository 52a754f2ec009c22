import Foundation
import Stow
import Testing

/// Time and memory grow with the size of the value and of the message, not faster.
@Suite("Scaling")
struct ScalingTests {
  private struct TakingTurns: Encodable {
    let count: Int

    enum CodingKeys: CodingKey { case first, second }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var first = container.nestedUnkeyedContainer(forKey: .first)
      var second = container.nestedUnkeyedContainer(forKey: .second)
      for index in 0..<count / 2 {
        try first.encode(index)
        try second.encode("\(index)")
      }
    }
  }

  @Test("50,000 interleaved writes to two nested containers are linear")
  func interleaved() throws {
    let data = try StowEncoder().encode(TakingTurns(count: 50_000))
    struct Both: Decodable {
      let first: [Int]
      let second: [String]
    }
    let both = try StowDecoder().decode(Both.self, from: data)
    #expect(both.first == Array(0..<25_000))
    #expect(both.second == (0..<25_000).map(String.init))
    try expectLinear(small: 3_125) { _ = try StowEncoder().encode(TakingTurns(count: $0)) }
  }

  private struct Reversed: Decodable {
    let sum: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      sum = try container.allKeys.reversed().reduce(0) { try $0 + container.decode(Int.self, forKey: $1) }
    }
  }

  @Test("reading an object backwards is linear")
  func backwards() throws {
    try expectLinear(small: 1_000) { count in
      let value = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key\($0)", $0) })
      let sum = try StowDecoder().decode(Reversed.self, from: StowEncoder().encode(value)).sum
      #expect(sum == count * (count - 1) / 2)
    }
  }

  @Test("keys beyond the 65,533rd of an object are found repeatedly")
  func manyKeys() throws {
    struct Two: Decodable, Equatable {
      let first: Int
      let last: Int

      enum CodingKeys: String, CodingKey {
        case first = "k00000"
        case last = "k65533"
      }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        last = try container.decode(Int.self, forKey: .last)
        first = try container.decode(Int.self, forKey: .first)
        #expect(try container.decode(Int.self, forKey: .last) == last)
      }
    }
    let names = (0..<65_536).map { "k" + String("0000\($0)".suffix(5)) }
    let object = Dictionary(uniqueKeysWithValues: zip(names, 0...))
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let objects = try StowDecoder().decode([Two].self, from: encoder.encode([object, object]))
    #expect(objects.map(\.first) == [0, 0])
    #expect(objects.map(\.last) == [65_533, 65_533])
  }

  @Test("objects of very many shapes are read, and in linear time")
  func manyShapes() throws {
    struct Common: Decodable, Equatable {
      let common: Int
      let missing: Int?
    }
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    func message(_ count: Int) throws -> Data {
      // Each set of keys twice, so that it becomes a shape.
      try encoder.encode((0..<2 * count).map { ["common": $0, "of its own \($0 / 2)": 1] })
    }
    let objects = try StowDecoder().decode([Common].self, from: message(200))
    #expect(objects == (0..<400).map { Common(common: $0, missing: nil) })
    let data = try [200: message(200), 3_200: message(3_200)]
    try expectLinear(small: 200) { count in
      _ = try StowDecoder().decode([Common].self, from: data[count] ?? Data())
    }
  }

  /// A matrix with columns of a byte, and constant ones: 200 rows of fives after ones.
  private func matrix(constants: Int, bytes: Int) -> [UInt8] {
    let types = [UInt8](repeating: 0x00, count: constants) + [UInt8](repeating: 0x01, count: bytes)
    let values = [UInt8](repeating: 0x91, count: constants)
    let body = [UInt8(constants + bytes)] + types + values + [UInt8](repeating: 0x05, count: 200 * bytes)
    return [0x7B] + Bomb.shortNumber(body.count) + body
  }

  @Test("a table may have as many constant columns as its rows have bytes, but not more")
  func constants() throws {
    for bytes in [1, 3, 16] {
      let row = [Int](repeating: 1, count: bytes) + [Int](repeating: 5, count: bytes)
      #expect(
        try StowDecoder().decode([[Int]].self, from: matrix(constants: bytes, bytes: bytes))
          == Array(repeating: row, count: 200))
      #expect(throws: DecodingError.self) {
        try StowDecoder().decode([[Int]].self, from: matrix(constants: bytes + 1, bytes: bytes))
      }
    }
  }
}
