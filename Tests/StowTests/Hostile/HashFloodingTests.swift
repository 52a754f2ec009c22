import Foundation
import Stow
import Testing

/// Keys and strings that are made up to have one hash, where tables rely on hashes of their own.
@Suite("Hash flooding", .enabled(if: !isSanitized))
struct HashFloodingTests {
  /// A text of 47 characters of 6 bits, whose first eight bytes are these little-endian, with a number after them.
  ///
  /// A hash that multiplies words, of which one is known to make a product zero, forgets the number.
  private static func key(_ number: Int, beginningWith word: UInt64) -> [UInt8] {
    let digit = 52
    let start = (0..<10).map { (place: Int) -> Int in Int(word >> UInt64(8 + 6 * place) & 63) }
    let digits = (0..<9).map { (place: Int) -> Int in digit + number >> (3 * place) & 7 }
    let codes = start + digits + [Int](repeating: digit, count: 28)
    var text = [UInt8](repeating: 0, count: 37)
    text[0] = UInt8(codes.count)
    for (index, code) in codes.enumerated() {
      for bit in 0..<6 where code >> bit & 1 == 1 {
        let place = 6 * index + bit
        text[1 + place / 8] |= 1 << UInt8(place % 8)
      }
    }
    return text
  }

  /// A map of so many keys.
  private static func map(_ count: Int, beginningWith word: UInt64) -> [UInt8] {
    Bomb.sized(0x71, (0..<count).flatMap { key($0, beginningWith: word) + [0x91] })
  }

  private struct Backwards: Decodable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: AnyKey.self)
      for key in container.allKeys.reversed() { _ = try container.decode(Int.self, forKey: key) }
    }
  }

  /// Words that a hash of products has had, or may have, among its constants.
  private static let words: [UInt64] = [
    0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB,
  ].map { $0 & ~0xFF | 47 }

  @Test("made-up keys do not collide in the index of a map")
  func maps() throws {
    for type in [Backwards.self, [String: Int].self, JSONValue.self] as [any Decodable.Type] { try checkMaps(type) }
  }

  private func checkMaps(_ type: any Decodable.Type) throws {
    let count = 1_500
    let harmless = Self.map(count, beginningWith: 0x2F)
    #expect(try StowDecoder().decode([String: Int].self, from: harmless).count == count)
    for word in Self.words {
      let colliding = Self.map(count, beginningWith: word)
      #expect(try StowDecoder().decode([String: Int].self, from: colliding).count == count)
      try expect(
        { _ = try StowDecoder().decode(type, from: colliding) }, takesLessThan: 3,
        times: { _ = try StowDecoder().decode(type, from: harmless) })
    }
  }

  @Test("made-up strings and keys do not collide in an encoder")
  func strings() throws {
    func object(_ word: UInt64) throws -> [JSONValue] {
      let map = try StowDecoder().decode([String: JSONValue].self, from: Self.map(1_500, beginningWith: word))
      return [.object(map), .array(map.keys.map { .string($0) })]
    }
    let harmless = try object(0x2F)
    for word in Self.words {
      let colliding = try object(word)
      try expect(
        { _ = try StowEncoder().encode(colliding) }, takesLessThan: 3,
        times: { _ = try StowEncoder().encode(harmless) })
    }
  }

  /// Twice four different strings, by their numbers: whichever of the two stand in each place of a list of keys,
  /// a hash that multiplies the keys one after the other by a known number comes to the same.
  private static let stages: [([Int], [Int])] = [
    ([2671, 14755, 7112, 1], [12971, 6091, 4575, 5760]),
    ([12878, 14780, 4239, 2], [14897, 4482, 8316, 2961]),
    ([4114, 8441, 2770, 3], [13873, 3882, 2820, 14584]),
    ([10526, 6278, 11409, 4], [9187, 5075, 6510, 7813]),
    ([16108, 6153, 10699, 5], [5134, 15441, 10232, 2388]),
    ([15664, 30, 7921, 6], [2061, 10048, 15034, 2875]),
    ([8822, 2909, 15882, 7], [947, 1314, 2187, 4555]),
    ([1032, 5925, 4301, 8], [9059, 1007, 9712, 6334]),
    ([11046, 9723, 6422, 9], [3826, 5017, 15049, 3228]),
    ([14621, 1476, 4209, 10], [12365, 5743, 5052, 9686]),
    ([12960, 4894, 6319, 11], [675, 16064, 15310, 13951]),
  ]

  /// A message that has the numbered strings first, and then an object for each way to choose.
  private static func lists(_ stages: [([Int], [Int])]) -> some Encodable {
    Writes { encoder in
      let keys = (0..<1 << 14).map { AnyKey("k\($0)") }
      var list = encoder.unkeyedContainer()
      try list.encode(keys.map(\.stringValue))
      for choice in 0..<1 << stages.count {
        var object = list.nestedContainer(keyedBy: AnyKey.self)
        for (number, stage) in stages.enumerated() {
          for key in choice >> number & 1 == 0 ? stage.0 : stage.1 { try object.encode(0, forKey: keys[key]) }
        }
      }
    }
  }

  @Test("made-up lists of keys do not collide in an encoder")
  func lists() throws {
    // In another order the first keys come to something else, and so do all that follow them.
    let harmless = [(Array(Self.stages[0].0.reversed()), Array(Self.stages[0].1.reversed()))] + Self.stages.dropFirst()
    try expect(
      { _ = try StowEncoder().encode(Self.lists(Self.stages)) }, takesLessThan: 3,
      times: { _ = try StowEncoder().encode(Self.lists(harmless)) })
  }
}
