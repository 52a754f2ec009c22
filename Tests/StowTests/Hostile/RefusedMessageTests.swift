import Foundation
import Stow
import Testing

@Suite("Refused messages")
struct RefusedMessageTests {
  @Test("a refused message does not affect the next one")
  func nextMessage() {
    forEachCase(of: Self.refused) { (vector: Vector) in
      let records = ["first", "second", "third"].map { ["name": $0] }
      let message = try StowEncoder().encode(records)
      try #require(message.first == 0x1F, "the next message has to have a prelude")
      #expect(throws: DecodingError.self) { try vector.makeDecoder().decode(JSONValue.self, from: vector.bytes) }
      #expect(try StowDecoder().decode([[String: String]].self, from: message) == records)
    }
  }

  /// A map in an array, which a search for an absent key walks over.
  @Test("a map whose last value continues after its end is refused", arguments: [0, 1, 2])
  func lastValueOfAMap(length added: UInt8) throws {
    let value: StowValue = [["x": 1, "text": "value"], "what stands after the map"]
    var message = try StowEncoder().encode(value)
    let text = try #require(message.firstRange(of: Data("value".utf8)))
    message[text.lowerBound - 1] += added
    enum Key: CodingKey { case absent }
    struct Asking: Decodable {
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        let map = try elements.nestedContainer(keyedBy: Key.self)
        #expect(try map.decodeIfPresent(Int.self, forKey: .absent) == nil)
      }
    }
    let decode = { try StowDecoder().decode(Asking.self, from: message) }
    if added == 0 { _ = try decode() } else { #expect(throws: DecodingError.self) { try decode() } }
  }

  @Test("a record with bytes after a nil as its last value is refused", arguments: [[], [0x91], [0]])
  func nilAtTheEndOfARecord(more: [UInt8]) throws {
    struct Record: Decodable {
      let first: Int
      let last: Int?

      enum CodingKeys: String, CodingKey {
        case first = "#aaaaa"
        case last = "#aaaab"
      }
    }
    let message = Data(Bomb.prelude(keys: 2) + Bomb.sized(0xF0, [0x91, 0] + more))
    if more.isEmpty {
      let record = try StowDecoder().decode(Record.self, from: message)
      #expect(record.first == 1 && record.last == nil)
    } else {
      #expect(throws: DecodingError.self) { try StowDecoder().decode(Record.self, from: message) }
    }
  }

  private static var refused: [Vector] { ((try? VectorFile.all.get()) ?? []).filter { $0.kind == .refused } }
}
