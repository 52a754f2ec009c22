import Foundation
import Stow
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("stowtool sizes")
struct SizesTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func number(_ line: String) -> Int? {
    line.split(separator: " ").first.flatMap { Int($0.replacing(",", with: "")) }
  }

  @Test("the sizes add up to all bytes, by kind and by path")
  func sums() throws {
    let rows = (0..<50).map { StowValue.object(["id": StowValue($0), "at": .double(Double($0) * 1.1)]) }
    let people = (0..<50).map { number -> StowValue in
      [
        "name": .string("person \(number)"), "tags": ["a", "b"], "<&>\"": .string("x\(number)"),
        "pages": [1, 2, 3],
      ]
    }
    let message = try StowValue.object(["rows": .array(rows), "people": .array(people)]).encoded()
    try folder.file("message", message)
    let run = try Tool.run("sizes", "--all", "--svg", folder.path("svg"), folder.path("message"))
    #expect(run.code == 0 && run.errors == "")
    let parts = run.text.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
    #expect(parts.count == 3)
    #expect(parts[1].compactMap(number).reduce(0, +) == message.count)
    let prelude = parts[1].filter { $0.contains("prelude") }.compactMap(number).reduce(0, +)
    #expect(parts[2].first.flatMap(number) == message.count - prelude)
    for path in ["people[].name", "people[].tags[]", "people[].pages[]", "rows[].id", "rows[].at"] {
      #expect(parts[2].contains { $0.hasSuffix(" \(path)") }, "\(path) in \(run.text)")
    }
    #expect(parts[2].contains { $0.contains("50 ×  people[].name") && number($0) == 50 * 9 + 40 })
    try checkDrawing(people: 50)
    let drawing = try Tool.run("sizes", "--svg", "-", folder.path("message"))
    #expect(try drawing.code == 0 && drawing.output == Data(contentsOf: folder.url.appending(path: "svg")))
  }

  private func checkDrawing(people: Int) throws {
    let svg = try Data(contentsOf: folder.url.appending(path: "svg"))
    let parser = XMLParser(data: svg)
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    let text = String(decoding: svg, as: UTF8.self)
    #expect(text.contains("<title>people[].name: 490 bytes") && text.contains("&lt;&amp;&gt;"))
    // Needs nothing beside it.
    #expect(!text.contains("href") && !text.contains("<script"))
  }

  @Test("sizes counts the values of each path, even those without bytes of their own")
  func counts() throws {
    let rows = (0..<50).map { StowValue.object(["id": StowValue($0), "kind": true, "far": StowValue(1000 + $0)]) }
    let value = StowValue.object([
      "rows": .array(rows), "same": .array(Array(repeating: 7, count: 40)),
      "matrix": .array((0..<50).map { [StowValue($0), 1, 2] }),
    ])
    let lines = try Tool.run("sizes", "--all", "-", input: value.encoded()).lines
    for path in [
      "50 ×  rows[]", "50 ×  rows[].id", "50 ×  rows[].kind", "50 ×  rows[].far", "40 ×  same[]",
      "50 ×  matrix[]",
      "150 ×  matrix[][]",
    ] {
      #expect(lines.contains { $0.hasSuffix(" \(path)") }, "\(path) in \(lines)")
    }
  }

  @Test("a key spelled like an element is counted apart from the elements")
  func keysLikeElements() throws {
    let value: StowValue = [["[]": "a"], ["b", "c"], ["[]": "d"]]
    let lines = try Tool.run("sizes", "--all", "-", input: value.encoded()).lines
    for path in ["[][\"[]\"]", "[][]"] {
      #expect(lines.contains { $0.hasSuffix(" 2 ×  \(path)") }, "\(path) in \(lines)")
    }
  }

  @Test("sizes refuses broken messages")
  func broken() throws {
    let run = try Tool.run("sizes", "-", input: Data([0xE2, 0x91]))
    #expect(run.code == 1 && run.errors.contains("broken at offset 0"))
  }
}
