import Stow
import Testing

@Suite("Unusual keys")
struct UnusualKeysTests {
  private static let texts = [
    "", " ", "\0", "a\0b", "é", "日本語", "😀", "👩‍👩‍👧‍👦", "key with spaces", "UPPER", "camelCase", "snake_case",
    "kebab-case",
    "dotted.name", "$dollar", "@at", "#hash", "a/b", "a\\b", "\"quoted\"", "line\nbreak", "tab\t", "\u{7F}",
    "0", "1", "-1", "007", "1.5", "true", "null", "super", "_", "-", ".", "__proto__", "\u{FEFF}",
    "\u{10FFFF}",
    "ALLUPPERCASE", "aBcDeFgHiJ", "ABCdef", "x9", "9x", "a1b2c3", "______", "a-", "-a", "z.z", "Z.Z",
    "Ünïcödé",
  ]

  @Test("texts of every kind can each be the key of a dictionary")
  func single() {
    forEachCase(of: Self.texts) { (text: String) in
      expectRoundTrip([text: 1])
      expectRoundTrip([[text: text], [text: ""]])
    }
  }

  @Test("texts of every kind can be keys of one dictionary")
  func together() {
    let dictionary = Dictionary(uniqueKeysWithValues: Self.texts.enumerated().map { ($1, $0) })
    expectRoundTrip(dictionary)
    expectRoundTrip([dictionary, dictionary])
  }

  @Test("every character can be a key, alone and among letters")
  func everyCharacter() throws {
    for value in UInt32(0)..<0x250 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for key in ["\(scalar)", "a\(scalar)", "\(scalar)a", "ab\(scalar)cd", "\(scalar)\(scalar)\(scalar)"] {
        #expect(try roundTrip([key: 1]) == [key: 1])
      }
    }
  }

  @Test("keys of letters, digits, upper case and other characters can have every length")
  func everyLength() throws {
    for length in Array(0...70) + [127, 128, 255, 256, 257, 1000, 70000] {
      for piece in ["a", "Ab", "a1", "A", "a.b-", "é", "x y"] {
        let key = String(String(repeating: piece, count: length).prefix(length))
        #expect(try roundTrip([key: 1]) == [key: 1])
        #expect(try roundTrip([[key: 1], [key: 2]]) == [[key: 1], [key: 2]])
      }
    }
  }

  @Test("random texts of the characters of names can be keys")
  func randomNames() throws {
    var random = SeededGenerator(seed: 1)
    let alphabets = [
      "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz_-.$", "ABCdef", "abcXYZ019_-", "abc$.é 😀",
    ].map { Array($0) }
    for _ in 0..<600 {
      let alphabet = alphabets.randomElement(using: &random)!
      let key = String(
        (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
      #expect(try roundTrip([key: 1]) == [key: 1])
      #expect(try roundTrip([[key: "a", "x": "b"], [key: "c", "x": "d"]])[1][key] == (key == "x" ? "d" : "c"))
    }
  }

  @Test("fields of structs can have unusual names")
  func fields() {
    struct Odd: Codable, Equatable {
      var empty = 1
      var space = "two"
      var unicode = 3.5
      var nul: Int?
      var long = true

      enum CodingKeys: String, CodingKey {
        case empty = ""
        case space = "a key with spaces"
        case unicode = "schlüssel 🔑"
        case nul = "\0"
        case long = "a key that is so long that no one would ever think of using it, in any message whatsoever"
      }
    }
    expectRoundTrip(Odd())
    expectRoundTrip((0..<20).map { Odd(empty: $0, nul: $0 % 2 == 0 ? nil : 4) })
  }

  @Test("fields can have backquoted and very similar names")
  func similarNames() {
    struct Similar: Codable, Equatable {
      var `default` = 1
      var value = 2
      var upper = 3
      var trailing = 4
      var leading = 5
      var shorter = 6
      var longer = 7

      enum CodingKeys: String, CodingKey {
        case `default`, value
        case upper = "Value"
        case trailing = "value_"
        case leading = "_value"
        case shorter = "valu"
        case longer = "valuee"
      }
    }
    expectRoundTrip(Similar())
    expectRoundTrip([Similar(), Similar(value: 8)])
  }
}
