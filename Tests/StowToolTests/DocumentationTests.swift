import Foundation
import Stow
import StowNotation
import Testing

@Suite("What README.md shows of stowtool")
struct DocumentationTests {
  @Test("is what it says")
  func readme() throws {
    let document = try Vectors.document("README.md")
    let block = try #require(
      document.components(separatedBy: "```").first { $0.contains("stowtool print station.stow") })
    // The text behind each command, up to the next.
    let parts = block.components(separatedBy: "$ swift run stowtool ").dropFirst().map { part in
      part.split(separator: "\n").map(String.init)
    }
    #expect(parts.map { $0[0] } == ["print station.stow", "inspect station.stow", "sizes station.stow"])
    let text = parts[0].dropFirst().joined(separator: "\n")
    let folder = try Folder()
    try folder.file("station.stow", StowValue(notation: text).encoded())
    for part in parts {
      let run = try Tool.run(part[0].split(separator: " ")[0].description, folder.path("station.stow"))
      #expect(run.code == 0)
      for line in part.dropFirst() where line != "…" { #expect(run.lines.contains(line), "\(line)") }
    }
  }
}
