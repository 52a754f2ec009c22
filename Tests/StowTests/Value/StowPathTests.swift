import Stow
import Testing

@Suite("Paths")
struct StowPathTests {
  private static let texts: [(StowPath, String)] = [
    ([], ""),
    (["name"], "name"),
    (["people", 3, "name"], "people[3].name"),
    (["people", .each, "name"], "people[].name"),
    ([3], "[3]"),
    ([.each, .each], "[][]"),
    ([-1], "[-1]"),
    (["a", "b", "_c", "d-1"], "a.b._c.d-1"),
    (["people", "a b"], "people[\"a b\"]"),
    (["a b", "c"], "[\"a b\"].c"),
    (["3"], "[\"3\"]"),
    (["3d", ""], "[\"3d\"][\"\"]"),
    (["a.b", "c[0]", "-"], "[\"a.b\"][\"c[0]\"][\"-\"]"),
    (["\u{202E}a\u{2066}\u{FEFF}"], "[\"\\u{202E}a\\u{2066}\\u{FEFF}\"]"),
    (["\"\\\n\r\t\u{0}\u{7F}"], "[\"\\\"\\\\\\n\\r\\t\\u{0}\\u{7F}\"]"),
    (["größe", "名前"], "größe.名前"),
    // A combining character does not swallow what stands before it.
    (["\u{301}", "e\u{301}"], "[\"\u{301}\"].e\u{301}"),
    (["🚲"], "[\"🚲\"]"),
    (["\r\n"], "[\"\\r\\n\"]"),
    ([.index(.max), .index(.min)], "[9223372036854775807][-9223372036854775808]"),
  ]

  @Test("paths are written as text and read from it")
  func text() {
    forEachCase(of: Self.texts) { (path: StowPath, text: String) in
      #expect(path.description == text)
      #expect(StowPath(text) == path)
    }
  }

  @Test("text that is not a path is refused")
  func refused() {
    forEachCase(of: [
      ".", ".a", "a.", "a..b", "a b", "a[", "a]", "a[3", "a[x]", "a[\"b]", "a[\"b\"", "a[\"\\x\"]", "3",
      "a.3", "-a",
      "[+3]", "[-]", "[-0]", "[007]", "[1-2]", "[ 3]", "[3]a", "[\"a\"]b", "[9223372036854775808]",
      "[\"\\u{D800}\"]", "[\"\\u{}\"]",
      "[\"\\u{110000}\"]", "[\"\\u41\"]", "[\"\\u{000000041}\"]", "\"a\"", "a[\"\\\"]",
    ]) { (text: String) in #expect(StowPath(text) == nil) }
  }

  @Test("any path is the same after its text is read")
  func anyPath() {
    var random = SeededGenerator(seed: 71)
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "_", "-", "3", ".", "[", "]", "\"", "\\", " ", "\n", "\u{301}", "é", "\u{85}",
    ]
    for _ in 0..<5_000 {
      let steps: [StowPath.Step] = (0..<random.below(6)).map { _ in
        switch random.below(4) {
        case 0: .each
        case 1: .index(Int(truncatingIfNeeded: random.next()) >> random.below(64))
        case 2: .key(random.text())
        default:
          .key(
            String(
              String.UnicodeScalarView(
                (0..<random.below(5)).map { _ in scalars[random.below(scalars.count)] })))
        }
      }
      let path = StowPath(steps)
      #expect(StowPath(path.description) == path)
      #expect(StowPath(path.description)?.description == path.description)
    }
  }

  @Test("any text is refused or is a path that stays the same when written")
  func anyText() {
    var random = SeededGenerator(seed: 72)
    let scalars: [Unicode.Scalar] = [
      "a", "b", "3", "-", ".", "[", "]", "\"", "\\", "n", "u", "{", "}", "\u{301}",
    ]
    var count = 0
    for _ in 0..<20_000 {
      let text = String(
        String.UnicodeScalarView((0..<random.below(9)).map { _ in scalars[random.below(scalars.count)] }))
      guard let path = StowPath(text) else { continue }
      count += 1
      #expect(StowPath(path.description) == path)
    }
    #expect(count > 500)
  }

  @Test("paths are made of steps and literals")
  func steps() {
    var path: StowPath = ["a", 3]
    path.steps.append(.each)
    #expect(path == StowPath([.key("a"), .index(3), .each]))
    #expect(path.appending(["b"]) == ["a", 3, .each, "b"])
    #expect(StowPath() == [])
    #expect(Set([path, ["a", 3, .each]]).count == 1)
    #expect(path != ["a", "3", .each])
  }
}
