import Foundation
import Stow
import StowNotation
import Testing

@Suite("Texts that are encoded while they are read")
struct NotationTextTests {
  private static func encode(_ text: String, meaning: NotationText.Meaning? = nil) throws -> Data {
    var text = text
    return try text.withUTF8 { try StowEncoder().encode(NotationText($0, meaning: meaning)) }
  }

  @Test("a text is encoded as the message of its value")
  func messages() throws {
    let records = (0..<40).map { index -> StowValue in
      ["name": "a name that comes again", "7": StowValue(index), "007": ["x": [[:], []]], "-1": 0.5]
    }
    for value: StowValue in [1, "a", [], [:], [[]], ["a": [:]], .array(records), ["list": .array(records)]] {
      #expect(try Self.encode(value.notation()) == value.encoded(), "\(value)")
    }
    forEachCase(of: 0..<8) { (seed: UInt64) throws in
      var random = SeededGenerator(seed: seed)
      for _ in 0..<300 {
        let value = StowValue.ofAnyKind(&random, depth: 4)
        #expect(try Self.encode(value.description) == value.encoded(), "\(value)")
      }
    }
  }

  @Test("a text is refused with the same error as its value")
  func errors() throws {
    // No message can be written that nests deeper, as values may that are read.
    #expect(throws: StowNotationError.self) { try Self.encode(String(repeating: "[", count: 513)) }
    for text in [
      "", "[1,]", "[1 2]", "{\"a\": 1, \"a\": 2}", "{\"a\": [{\"b\": [1, 2}]}", "[{}", "1 2", "[] ]",
    ] {
      #expect(throws: StowNotationError.self) { try StowValue(notation: text) }
      let expected = Result { try StowValue(notation: text).encoded() }
      let found = Result { try Self.encode(text) }
      #expect("\(found)" == "\(expected)")
    }
  }

  @Test("only objects that represent something else are read as a whole")
  func meaning() throws {
    let text = #"[{"a": {"$b": [{"$c": 1}], "d": 2}}, {"\u0024": {}}, {"e": 1, "$f": 2}, {}]"#
    var met: [StowValue] = []
    let message = try Self.encode(text) {
      met.append($0)
      return .string("met \(met.count)")
    }
    #expect(met == [["$b": [["$c": 1]], "d": 2], ["$": [:]]])
    let expected: StowValue = [["a": "met 1"], "met 2", ["e": 1, "$f": 2], [:]]
    #expect(try message == expected.encoded())
    #expect(throws: CancellationError.self) { try Self.encode(text) { _ in throw CancellationError() } }
  }
}
