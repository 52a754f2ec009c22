import Foundation
import Stow
import StowNotation
import Testing

@Suite("stowtool in the documentation")
struct DocumentationTests {
  @Test("stowtool and the readers have the version of CHANGELOG.md, released or not")
  func version() throws {
    let heading = try #require(
      Vectors.document("CHANGELOG.md").split(separator: "\n").first {
        $0.wholeMatch(of: /## \[[0-9].*/) != nil
      })
    let version = try #require(heading.firstMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/)).output
    let state = heading.hasSuffix("] (unreleased)") ? " (unreleased)" : ""
    #expect(try Tool.run("--version").text.hasPrefix("stowtool \(version)\(state),"))
    #expect(try Vectors.document("Readers/javascript/package.json").contains("\"version\": \"\(version)\""))
    #expect(try Vectors.document("Readers/python/pyproject.toml").contains("version = \"\(version)\""))
  }

  @Test(
    "the documents show what stowtool prints for the files of Examples",
    arguments: [(Self.examples, 4), (Self.looking, 2)])
  func shown(name: String, count: Int) throws {
    let blocks = try Vectors.document(name).components(separatedBy: "```").filter { $0.contains(" Examples/") }
    // The text after each command, up to the next.
    let parts: [String] = blocks.flatMap { block -> [String] in
      Array(block.components(separatedBy: "$ swift run stowtool ").dropFirst())
    }
    #expect(parts.count == count)
    for part in parts.map({ $0.split(separator: "\n").map(String.init) }) {
      let run = try Tool.run(part[0].split(separator: " ").map(String.init), in: Self.package)
      #expect(run.code == 0 && run.errors == "")
      for line in part.dropFirst() where line != "…" { #expect(run.lines.contains(line), "\(line)") }
    }
  }

  private static let examples = "Examples/README.md"
  private static let looking = "Sources/Stow/Stow.docc/Looking.md"
  private static let package = URL(filePath: Vectors.path(of: ""))

  @Test("the files of Examples can be made again")
  func exampleFiles() throws {
    let file = "Examples/station.stow"
    let shown = try #require(
      Vectors.document(Self.examples).components(separatedBy: "$ swift run stowtool ").first {
        $0.hasPrefix("print \(file)")
      })
    let station = try Tool.run("parse", input: Data(shown.split(separator: "\n").dropFirst().joined().utf8))
    #expect(try station.output == Data(contentsOf: URL(filePath: Vectors.path(of: file))))

    let folder = try Folder()
    let lines = Vectors.path(of: "Examples/levels.jsonl")
    let made = try Tool.run("from-json", "--typed", "--log", folder.path("levels.stowlog"), lines)
    #expect(made.code == 0 && made.errors == "")
    let log = Vectors.path(of: "Examples/levels.stowlog")
    let same = try Tool.run("diff", folder.path("levels.stowlog"), log)
    #expect(same.code == 0 && same.output.isEmpty)
    #expect(try Tool.run("json", "--typed", "--lines", log).output == Data(contentsOf: URL(filePath: lines)))
  }
}
