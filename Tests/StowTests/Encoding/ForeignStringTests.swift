import Foundation
import Stow
import StowNotation
import Testing

/// On Apple's platforms, a string that came from `NSString` may hold UTF-16, and then its UTF-8 is not contiguous.
/// Elsewhere it is as others are.
@Suite("Strings that hold UTF-16")
struct ForeignStringTests {
  private static func foreign(_ text: String) throws -> String {
    let string = Array(text.utf16).withUnsafeBytes { units in
      units.baseAddress.flatMap {
        NSString(bytes: $0, length: units.count, encoding: String.Encoding.utf16LittleEndian.rawValue)
      }
    }
    return try #require(string) as String
  }

  private static let texts = [
    "é", "größer", "naïve café", "日本語の文字列", "👩‍👩‍👧 a family", String(repeating: "long é ", count: 30),
  ]

  @Test("strings that hold UTF-16 are encoded as other strings are", arguments: texts)
  func values(_ text: String) throws {
    let foreign = try Self.foreign(text)
    let message = try StowEncoder().encode([text, "other", text, "other"])
    #expect(try StowEncoder().encode([foreign, "other", foreign, "other"]) == message)
    #expect(try StowDecoder().decode([String].self, from: message)[2] == foreign)
    let value = StowValue.array([.string(foreign), .string("other"), .string(text), .string("other")])
    #expect(try value.encoded() == message)
    #expect(try StowValue(notation: Self.foreign(value.notation())) == value)
  }

  @Test("strings that hold UTF-16 are keys as other strings are", arguments: texts)
  func keys(_ text: String) throws {
    let foreign = try Self.foreign(text)
    let rows = (0..<20).map { [text: $0] }
    let message = try StowEncoder().encode(rows)
    #expect(try StowEncoder().encode((0..<20).map { [foreign: $0] }) == message)
    #expect(try StowDecoder().decode(Int.self, from: message, at: [7, .key(foreign)]) == 7)
    #expect(try StowValue(from: message)[7]?[foreign]?.int == 7)
    let row = try transcode(rows[7], to: Keyed.self)
    #expect(row.container.contains(AnyKey(foreign)))
    #expect(try row.container.decode(Int.self, forKey: AnyKey(foreign)) == 7)
    let contexts = try [text, foreign].map { text in try StowContext(learningFrom: [[text: 1], [text: 2]]) }
    #expect(contexts[0].data == contexts[1].data)
  }

  private struct Keyed: Decodable {
    let container: KeyedDecodingContainer<AnyKey>

    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: AnyKey.self) }
  }
}
