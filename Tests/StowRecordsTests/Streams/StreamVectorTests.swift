import Foundation
import Stow
import StowRecords
import Testing

/// The streams of the conformance suite, which `Conformance/README.md` describes, are read or refused as it says.
@Suite struct StreamVectorTests {
  private struct StreamVector {
    let name: String
    let isRefused: Bool
    /// The records in diagnostic notation, or "error".
    var records: [String] = []
    var bytes: [UInt8] = []
  }

  private static let file = URL(filePath: #filePath).appending(path: "../../../../Conformance/streams.txt")

  /// A stream begins at the start of a line; what belongs to it is indented.
  private func streams() throws -> [StreamVector] {
    var streams: [StreamVector] = []
    let text = try String(contentsOf: Self.file.standardizedFileURL, encoding: .utf8)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.drop { $0 == " " }.split(separator: " ", maxSplits: 1)
      switch parts[0] {
      case "record": streams[streams.count - 1].records.append(String(parts[1]))
      case "bytes": streams[streams.count - 1].bytes += try parts[1].split(separator: " ").flatMap(bytes)
      case "note", "rule": break
      default: streams.append(StreamVector(name: String(parts[1]), isRefused: parts[0] == "refused"))
      }
    }
    return streams
  }

  /// Two hexadecimal digits; `00*20` stands for twenty times 00.
  private func bytes(_ word: Substring) throws -> [UInt8] {
    let parts = word.split(separator: "*")
    let byte = try #require(UInt8(parts[0], radix: 16))
    return Array(repeating: byte, count: parts.count == 2 ? try #require(Int(parts[1])) : 1)
  }

  /// What is found in a stream, and whether it is refused then.
  private func read(_ bytes: [UInt8]) throws -> (records: [String], isRefused: Bool) {
    let decoder = RecordStreamDecoder()
    decoder.feed(bytes)
    var records: [String] = []
    while true {
      do {
        guard let value = try decoder.next(StowValue.self) else { break }
        records.append(value.description)
      } catch is DecodingError {
        records.append("error")
      } catch is RecordStreamError {
        return (records, true)
      }
    }
    do { try decoder.finish() } catch is RecordStreamError { return (records, true) }
    return (records, false)
  }

  @Test func everyStreamHasItsRecordsOrIsRefused() throws {
    let streams = try streams()
    #expect(streams.count > 40)
    var passed = 0
    for stream in streams {
      let (records, isRefused) = try read(stream.bytes)
      let isRight = records == stream.records && isRefused == stream.isRefused
      #expect(isRight, "\(stream.name): \(records), \(isRefused ? "refused" : "read to its end")")
      passed += isRight ? 1 : 0
    }
    print("Streams that are read or refused: \(passed) of \(streams.count)")
  }
}
