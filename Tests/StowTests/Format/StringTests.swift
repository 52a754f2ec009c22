import Stow
import Testing

@Suite("Strings")
struct StringTests {
  private static func sameBytes(_ a: String, _ b: String) -> Bool { Array(a.utf8) == Array(b.utf8) }

  private static func sameBytes(_ a: [String], _ b: [String]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { sameBytes($0, $1) }
  }

  @Test("strings of every plane and with unusual characters keep their bytes")
  func kinds() {
    forEachCase(of: [
      "", " ", "a", "\0", "a\0b\0", "\u{1}\u{1F}\u{7F}", "\"\\/\n\r\t", "\r\n", "naïve café", "e\u{301}",
      "\u{FEFF}byte order mark", "\u{FFFD}", "\u{FFFF}", "日本語", "한국어", "עברית", "العربية", "😀", "👩‍👩‍👧‍👦",
      "🇪🇺🇯🇵", "\u{10FFFF}", "\u{10000}", "\u{2FA1D}", "\u{E0001}", "\u{F0000}", "\u{100000}",
      "a\u{300}\u{301}\u{302}\u{303}", "\u{1100}\u{1161}\u{11A8}", "\u{212B}", "ﬃ", "\u{D7FF}\u{E000}",
      "\u{80}\u{7FF}\u{800}",
    ]) { (text: String) in
      expectRoundTrip(text, comparing: Self.sameBytes)
      expectRoundTrip([text, text, text], comparing: Self.sameBytes)
      expectRoundTrip([text: text])
    }
  }

  @Test("strings of every length around the boundaries of headers are decoded unchanged")
  func lengths() throws {
    let lengths = Array(0...70) + [126, 127, 128, 129, 254, 255, 256, 257, 511, 512, 4095, 65535, 65536, 100_000]
    for length in lengths {
      let ascii = String(repeating: "x", count: length)
      let wide = String(repeating: "é", count: length / 2) + (length % 2 == 0 ? "" : "z")
      for text in [ascii, wide] {
        #expect(try roundTrip(text) == text)
        #expect(try roundTrip([text, "between", text, text]) == [text, "between", text, text])
        #expect(try roundTrip([text: text]) == [text: text])
      }
    }
  }

  @Test("strings of characters from all planes keep their bytes")
  func everyScalar() throws {
    var scalars = String.UnicodeScalarView()
    for value in stride(from: UInt32(0), through: 0x10FFFF, by: 37) {
      if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
    }
    let text = String(scalars)
    #expect(Self.sameBytes(try roundTrip(text), text))
    let characters = (0..<0x300).compactMap { Unicode.Scalar(UInt32($0)).map { String($0) } }
    #expect(Self.sameBytes(try roundTrip(characters), characters))
  }

  @Test("canonically equal strings with different bytes keep their bytes")
  func canonicallyEqual() {
    let pair = ["caf\u{e9}", "cafe\u{301}"]
    expectRoundTrip(pair + pair + pair.reversed() + pair, comparing: Self.sameBytes)
    expectRoundTrip(["\u{212B}", "\u{C5}", "A\u{30A}", "\u{212B}"], comparing: Self.sameBytes)
  }

  @Test("a string repeated 100 times takes less than ten times the bytes of one")
  func repeated() throws {
    let text = "a string that is long enough to be worth a reference"
    let once = try StowEncoder().encode([text]).count
    let often = try StowEncoder().encode([String](repeating: text, count: 100)).count
    #expect(often < once * 10)
    expectRoundTrip([String](repeating: text, count: 100))
  }

  @Test("up to 1,000 different strings that each occur several times are decoded unchanged")
  func manyRepeated() {
    forEachCase(of: [2, 31, 32, 33, 255, 256, 257, 1000]) { (count: Int) in
      let texts = (0..<count).map { "text number \($0)" }
      expectRoundTrip(texts + texts.reversed() + texts)
      expectRoundTrip(texts.map { ["name": $0, "again": $0] })
    }
  }

  @Test("strings that are both keys and values are decoded unchanged")
  func keysAndValues() {
    expectRoundTrip(["name": "value", "value": "name", "key": "key"])
    expectRoundTrip((0..<20).map { _ in ["name": "name", "other": "name"] })
  }

  @Test("strings that share a prefix or differ in one byte are decoded unchanged")
  func similar() {
    let texts = (0..<64).flatMap { length in
      ["x", "y"].map { String(repeating: "x", count: length) + $0 }
    }
    expectRoundTrip(texts + texts)
  }

  @Test("substrings and strings built piece by piece are decoded unchanged")
  func representations() throws {
    let whole = "some text, long enough not to be small: 0123456789"
    let part = String(whole.dropFirst(5).prefix(30))
    #expect(try transcode(part, to: String.self) == part)
    var built = ""
    for i in 0..<100 { built += "\(i)," }
    #expect(try roundTrip(built) == built)
    #expect(try roundTrip([Character]("añ😀").map { String($0) }) == ["a", "ñ", "😀"])
  }
}
