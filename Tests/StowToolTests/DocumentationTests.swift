import Foundation
import Stow
import StowNotation
import Testing

@Suite("What the documents say of stowtool")
struct DocumentationTests {
  @Test("its version is that of CHANGELOG.md, and so are those of the readers")
  func version() throws {
    let heading = try #require(
      Vectors.document("CHANGELOG.md").split(separator: "\n").first {
        $0.wholeMatch(of: /## \[[0-9].*/) != nil
      })
    let version = try #require(heading.firstMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/)).output
    #expect(try Tool.run("--version").text.hasPrefix("stowtool \(version),"))
    #expect(try Vectors.document("Readers/javascript/package.json").contains("\"version\": \"\(version)\""))
    #expect(try Vectors.document("Readers/python/pyproject.toml").contains("version = \"\(version)\""))
  }

  @Test("what README.md shows is what it says")
  func readme() throws {
    let document = try Vectors.document("README.md")
    let block = try #require(
      document.components(separatedBy: "```").first { $0.contains("stowtool print Examples/station.stow") })
    // The text after each command, up to the next.
    let parts = block.components(separatedBy: "$ swift run stowtool ").dropFirst().map { part in
      part.split(separator: "\n").map(String.init)
    }
    let file = "Examples/station.stow"
    #expect(parts.map { $0[0] } == ["print", "inspect", "sizes"].map { "\($0) \(file)" })
    let text = parts[0].dropFirst().joined(separator: "\n")
    let path = Vectors.path(of: file)
    #expect(try Data(contentsOf: URL(filePath: path)) == StowValue(notation: text).encoded())
    for part in parts {
      let run = try Tool.run(part[0].split(separator: " ")[0].description, path)
      #expect(run.code == 0)
      for line in part.dropFirst() where line != "…" { #expect(run.lines.contains(line), "\(line)") }
    }
  }
}
