import Foundation
import Stow
import Testing

@Suite("A refused message")
struct RefusedMessageTests {
  @Test("leaves nothing behind for the next one")
  func nextMessage() {
    forEachCase(of: Self.refused) { (vector: Vector) in
      let records = ["first", "second", "third"].map { ["name": $0] }
      let message = try StowEncoder().encode(records)
      try #require(message.first == 0x1F, "the next message has to have a prelude")
      #expect(throws: DecodingError.self) {
        try vector.makeDecoder().decode(JSONValue.self, from: vector.bytes)
      }
      #expect(try StowDecoder().decode([[String: String]].self, from: message) == records)
    }
  }

  private static var refused: [Vector] {
    ((try? VectorFile.all.get()) ?? []).filter { $0.kind == .refused }
  }
}
