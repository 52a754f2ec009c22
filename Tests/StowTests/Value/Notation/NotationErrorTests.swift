import Foundation
import Stow
import StowNotation
import Testing

@Suite("Texts that are not diagnostic notation")
struct NotationErrorTests {
  @Test("invalid texts are refused with the line and column of the error")
  func errors() {
    forEachCase(of: [
      ("", "1:1: the text ends before its value"), (" \n ", "2:2: the text ends before its value"),
      ("[", "1:2: the text ends before its value"), ("[1", "1:3: expected \",\" or \"]\""),
      ("[1,]", "1:4: expected a value"), ("{\"a\": 1,\n \"a\": 2}", "2:2: a key that the object has already"),
      ("{\"é\": 1, \"é\": 2}", "1:10: a key that the object has already"),
      ("{a: 1}", "1:2: expected a key in quotes"), ("{\"a\" 1}", "1:6: expected \":\""),
      ("1 2", "1:3: something after the value"), ("01", "1:1: a number that begins with 0"),
      ("-", "1:2: expected a digit"), ("1.", "1:3: expected a digit"), ("1e", "1:3: expected a digit"),
      ("-infinity", "1:1: expected a number"), ("1e999", "1:1: a number beyond the range of Double"),
      ("340282366920938463463374607431768211456", "1:1: an integer of more than 128 bits"),
      ("\"é\n\"", "1:3: a control character in a string"), ("\"abc", "1:5: a string without its end"),
      (#""\x""#, "1:2: an unknown escape"), (#""\ud800""#, "1:2: half of a surrogate pair"),
      (#""\ud800\u0041""#, "1:2: half of a surrogate pair"),
      (#""\u00""#, "1:4: expected four hexadecimal digits"),
      ("nil", "1:1: an unknown word"), ("null(256)", "1:1: no valid null"),
      ("null(1.0)", "1:1: no valid null"),
      ("nan(0x7ff0000000000000)", "1:1: no valid nan"), ("nan(1)", "1:5: expected \"0x\""),
      (#"data"A""#, "1:1: no valid data"), (#"data"====""#, "1:1: no valid data"),
      (#"data"AA=A""#, "1:1: no valid data"), (#"data"AAAA=""#, "1:1: no valid data"),
      (#"data"AAAA====""#, "1:1: no valid data"), (#"uuid"x""#, "1:1: no valid uuid"),
      ("url(1)", "1:4: expected \"\"\""),
      (#"date"2026-02-29T00:00:00Z""#, "1:1: no valid date"), (#"date"2026-01-01""#, "1:1: no valid date"),
      (#"date"2026-01-01T24:00:00Z""#, "1:1: no valid date"),
      (#"date"2026-01-01T00:00:00.Z""#, "1:1: no valid date"),
      (#"date("a")"#, "1:1: no valid date"), ("date(date(1))", "1:1: no valid date"),
      (#"decimal"1.2.3""#, "1:1: no valid decimal"), (#"decimal"1e200""#, "1:1: no valid decimal"),
      (#"decimal"1e-9223372036854775808""#, "1:1: no valid decimal"),
      (#"decimal"""#, "1:1: no valid decimal"),
      ("[… 12]", "1:2: expected a value"),
    ]) { (text: String, description: String) in
      #expect {
        try StowValue(notation: text)
      } throws: {
        #expect("\($0)" == description, "\(text)")
        return $0 is StowNotationError
      }
    }
  }

  @Test("texts nest at most as deep as messages")
  func depth() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    let deepest = try StowValue(notation: nested(512))
    #expect(try StowValue(from: deepest.encoded()) == deepest)
    #expect(throws: StowNotationError.self) { try StowValue(notation: nested(516)) }
    #expect(throws: StowNotationError.self) {
      try StowValue(notation: String(repeating: "{\"a\":[", count: 1_000_000))
    }
    #expect(throws: StowNotationError.self) {
      try StowValue(notation: String(repeating: "date(", count: 1_000_000))
    }
  }

  @Test("texts nest as deep as messages that end in a table or a matrix at the last level")
  func deepestMessages() throws {
    // Two columns. One is constant: an empty array or an empty map.
    for table: [UInt8] in [[0x7A, 6, 0, 0, 1, 0xE0, 7, 8], [0x7B, 6, 2, 0, 1, 0xC0, 7, 8]] {
      let nested = (0..<512).reduce(table) { inner, _ in Bomb.sized(0x70, inner) }
      let message = [0x1F, 0, 1, 2, 0x81, 0x61, 0x81, 0x62] + nested
      let value = try StowValue(from: message)
      let innermost = table[0] == 0x7A ? #"[{"a": [], "b": 7}, {"a": [], "b": 8}]"# : "[[{}, 7], [{}, 8]]"
      #expect(value.description.contains(innermost))
      for text in [value.description, value.notation()] { #expect(try StowValue(notation: text) == value) }
    }
  }

  @Test("texts are read in time in proportion to their length")
  func time() throws {
    func expectLinear(_ text: (Int) -> String) throws {
      let texts = [2_000: text(2_000), 32_000: text(32_000)]
      try StowTests.expectLinear(small: 2_000) { _ = try? StowValue(notation: texts[$0] ?? "") }
    }
    func digits(_ count: Int) -> String { String(repeating: "9", count: count) }
    #expect(throws: StowNotationError.self) { try StowValue(notation: digits(1_000_000)) }
    try expectLinear { digits($0) }
    try expectLinear { "0.\(digits($0))" }
    try expectLinear { "date\"2000-01-01T00:00:00.\(digits($0))Z\"" }
    try expectLinear { "decimal\"\(digits($0))\"" }
    try expectLinear { "null(\(digits($0)))" }
    try expectLinear { "nan(0x\(digits($0)))" }
    func object(_ count: Int) -> String {
      "{\((0..<count).map { "\"\($0)\":[[]]" }.joined(separator: ","))}"
    }
    #expect(try StowValue(notation: object(20_000)).object?.count == 20_000)
    try expectLinear { object($0 / 10) }
  }

  @Test("randomly changed texts never trap")
  func mutations() {
    forEachCase(of: 0..<8) { (seed: UInt64) throws in
      var random = SeededGenerator(seed: seed)
      let pieces = [
        "\"", "\\", "\\u", "[", "]", "{", "}", ",", ":", "(", ")", "-", "0", "9", ".", "e", "nan", "inf", "é",
      ]
      var count = 0
      for _ in 0..<1_500 {
        let value = StowValue.ofAnyKind(&random, depth: 3)
        var text = Array(
          (random.below(2) == 0 ? value.description : value.notation(width: 30)).unicodeScalars)
        for _ in 0...random.below(4) {
          let place = random.below(text.count + 1)
          switch random.below(4) {
          case 0 where place < text.count: text.remove(at: place)
          case 1: text.removeSubrange(place...)
          case 2: text.insert(contentsOf: pieces[random.below(pieces.count)].unicodeScalars, at: place)
          default:
            text.insert(contentsOf: text[..<place].suffix(random.below(8)), at: random.below(text.count + 1))
          }
        }
        let mutated = String(String.UnicodeScalarView(text))
        // What is read is a value like others.
        guard let read = try? StowValue(notation: mutated) else { continue }
        count += 1
        #expect(try StowValue(notation: read.description).isSame(as: read), "\(mutated)")
      }
      #expect(count > 50)
    }
  }
}
