import Foundation
import Stow
import Testing

@Suite("Files")
final class FileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "stow-\(UUID().uuidString)")
  private var file: URL { folder.appending(path: "people.stow") }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test("a file decodes to what was encoded into it, as a whole and in parts")
  func roundTrip() throws {
    let people = ["people": [["name": "Ada"], ["name": "Alan"]]]
    try StowEncoder().encode(people, to: file)
    #expect(try Data(contentsOf: file) == StowEncoder().encode(people))
    #expect(try StowDecoder().decode([String: [[String: String]]].self, from: file) == people)
    #expect(try StowDecoder().decode(String.self, from: file, at: ["people", 1, "name"]) == "Alan")
    #expect(try StowMessage(mapping: file).decode([String].self, at: ["people", .each, "name"]) == ["Ada", "Alan"])
  }

  @Test("a mapped file can be replaced")
  func replaced() throws {
    let long = Array(repeating: "a long text, so that the file has several pages", count: 10_000)
    try StowEncoder().encode(long.indices.map { "\($0) \(long[$0])" }, to: file)
    let message = try StowMessage(mapping: file)
    try StowEncoder().encode(["short"], to: file)
    #expect(try message.decode(String.self, at: [9_999]) == "9999 \(long[9_999])")
    #expect(try StowDecoder().decode([String].self, from: file) == ["short"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).count == 1)
  }

  @Test("a failed encoding leaves the file unchanged, and empty or missing files are errors")
  func failures() throws {
    try StowEncoder().encode(1, to: file)
    let encoder = StowEncoder()
    encoder.maximumDepth = 1
    #expect(throws: EncodingError.self) { try encoder.encode([[[1]]], to: file) }
    #expect(try StowDecoder().decode(Int.self, from: file) == 1)
    try Data().write(to: file)
    #expect(throws: DecodingError.self) { try StowDecoder().decode(Int.self, from: file) }
    #expect(throws: DecodingError.self) { try StowDecoder().decode(Int.self, from: file, at: ["a"]) }
    #expect(throws: DecodingError.self) { try StowMessage(mapping: file) }
    try FileManager.default.removeItem(at: file)
    #expect(throws: CocoaError.self) { try StowDecoder().decode(Int.self, from: file) }
    #expect(throws: CocoaError.self) { try StowMessage(mapping: file) }
  }
}
