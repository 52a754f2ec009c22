import Foundation
import StowRecords
import Testing

/// The example of a stream in Format/Logs.md is what is sent, and its explanation has the same bytes.
@Suite struct StreamDocumentTests {
  private static let document = URL(filePath: #filePath).appending(path: "../../../../Format/Logs.md")

  private func example() throws -> (bytes: [UInt8], explained: [UInt8]) {
    let text = try String(contentsOf: Self.document.standardizedFileURL, encoding: .utf8)
    let block = try #require(text.components(separatedBy: "```stow-stream stream\n").last)
    let lines = block.prefix(upTo: try #require(block.range(of: "```")).lowerBound).split(separator: "\n")
    let bytes = lines.filter { $0.hasPrefix("bytes:") }.flatMap { hex($0.dropFirst(6)) }
    let explained = lines.filter { !$0.hasPrefix("bytes:") && !$0.hasPrefix("record") }.flatMap { line in
      hex(line.drop { $0 == " " }.components(separatedBy: "  ")[0][...])
    }
    return (bytes, explained)
  }

  private func hex(_ text: Substring) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }

  @Test func theExampleIsWhatIsSent() throws {
    let records = [["Ada", "Grace"], ["Grace", "Ada"], ["Grace", "Ada"]]
    let encoder = RecordStreamEncoder()
    let sent = try records.flatMap { try encoder.encode($0) }
    let (bytes, explained) = try example()
    #expect(bytes == sent, "\(sent.map { String(format: "%02X", $0) }.joined(separator: " "))")
    #expect(explained == sent)
    let decoder = RecordStreamDecoder()
    decoder.feed(bytes)
    for record in records { #expect(try decoder.next([String].self) == record) }
    try decoder.finish()
  }
}
