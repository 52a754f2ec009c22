import Foundation
import Stow
import Testing

@Suite("Coders used from within their own calls")
struct ReentrancyTests {
  private static let encoder = StowEncoder()
  private static let decoder = StowDecoder()

  /// Holds its content as a message of its own, made and read by the coders that are running.
  private struct Envelope<Content: Codable>: Codable {
    var content: Content

    enum CodingKeys: CodingKey { case before, message, after }

    init(_ content: Content) {
      self.content = content
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("shared text", forKey: .before)
      try container.encode(ReentrancyTests.encoder.encode(content), forKey: .message)
      try container.encode("shared text", forKey: .after)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      #expect(try container.decode(String.self, forKey: .after) == "shared text")
      let message = try container.decode(Data.self, forKey: .message)
      content = try ReentrancyTests.decoder.decode(Content.self, from: message)
      #expect(try container.decode(String.self, forKey: .before) == "shared text")
    }
  }

  private struct Record: Codable, Equatable {
    var name: String
    var values: [Int]
    var note: String?
  }

  private let records = (0..<20).map { i in
    Record(name: "shared text", values: [i, -i], note: i % 3 == 0 ? nil : "note")
  }

  @Test("a message can contain another message")
  func once() throws {
    let data = try Self.encoder.encode(Envelope(records))
    let copy = try Self.decoder.decode(Envelope<[Record]>.self, from: data)
    #expect(copy.content == records)
  }

  @Test("messages can contain arrays of messages three levels deep")
  func nested() throws {
    let value = [
      Envelope([Envelope(records), Envelope([])]), Envelope([Envelope(Array(records.prefix(2)))]),
    ]
    let data = try Self.encoder.encode(value)
    let copy = try Self.decoder.decode([Envelope<[Envelope<[Record]>]>].self, from: data)
    #expect(copy.map { $0.content.map(\.content) } == [[records, []], [Array(records.prefix(2))]])
  }

  @Test("an inner message has the same bytes as an outer one")
  func sameBytes() throws {
    let alone = try Self.encoder.encode(records)
    let outer = try Self.encoder.encode(Envelope(records))
    let inner = try Self.decoder.decode([String: JSONOrData].self, from: outer)["message"]
    #expect(inner?.data == alone)
  }

  @Test("an inner message that fails does not change the outer one")
  func innerFailure() throws {
    try expectWritten(["a": "x", "failed": true, "b": "x"]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode("x", forKey: "a")
      let inner = Writes { encoder in
        try encoder.writeSingle(["x": "x"])
        throw Refusal()
      }
      let failed = (try? Self.encoder.encode(inner)) == nil
      try container.encode(failed, forKey: "failed")
      try container.encode("x", forKey: "b")
    }
  }

  private struct JSONOrData: Decodable {
    var data: Data?
    init(from decoder: any Decoder) throws {
      data = try? decoder.singleValueContainer().decode(Data.self)
    }
  }
}
