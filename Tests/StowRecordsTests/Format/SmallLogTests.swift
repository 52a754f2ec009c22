import Foundation
import Stow
import Testing

@testable import StowRecords

/// The small logs of the conformance suite, which `Conformance/README.md` describes, give the records and losses that
/// it says.
@Suite struct SmallLogTests {
  private struct SmallLog: Equatable {
    var records: [String] = []
    var lost = ""
    /// Where the log ends; "refused" if it is refused.
    var end = "refused"
  }

  private static let file = URL(filePath: #filePath).appending(path: "../../../../Conformance/logs.txt")

  /// A log begins at the start of a line; what belongs to it is indented.
  private func logs() throws -> [(name: String, bytes: Data, wanted: SmallLog)] {
    var logs: [(name: String, bytes: Data, wanted: SmallLog)] = []
    let text = try String(contentsOf: Self.file.standardizedFileURL, encoding: .utf8)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.drop { $0 == " " }.split(separator: " ", maxSplits: 1)
      switch parts[0] {
      case "record": logs[logs.count - 1].wanted.records.append(String(parts[1]))
      case "lost": logs[logs.count - 1].wanted.lost = String(parts[1])
      case "end": logs[logs.count - 1].wanted.end = String(parts[1])
      case "bytes":
        for word in parts[1].split(separator: " ") { logs[logs.count - 1].bytes.append(try bytes(word)) }
      case "note": break
      default: logs.append((String(parts[1]), Data(), SmallLog()))
      }
    }
    return logs
  }

  /// Hexadecimal digits; `00*20` stands for twenty times 00.
  private func bytes(_ word: Substring) throws -> Data {
    let parts = word.split(separator: "*")
    let digits = Array(parts[0].utf8)
    let bytes = try stride(from: 0, to: digits.count, by: 2).map {
      try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16))
    }
    let count = parts.count == 2 ? try #require(Int(parts[1])) : 1
    // A test is not optimized, and most repetitions are of very many zeros.
    if bytes.count == 1 { return Data(repeating: bytes[0], count: count) }
    return Data(repeatElement(bytes, count: count).joined())
  }

  private func read(_ bytes: [UInt8]) throws -> SmallLog {
    let log: RecordLogReader
    do { log = try KnownLogs.reader(of: bytes) } catch is RecordLogError { return SmallLog() }
    let records = try log.records.map { record in
      do { return "\(record.number) \(try record.decode(StowValue.self))" } catch is DecodingError {
        return "\(record.number) error"
      }
    }
    let lost = log.damage.reduce(into: IndexSet()) { $0.insert(integersIn: $1.records) }.rangeView
      .map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound - 1)" }
    return SmallLog(records: records, lost: lost.joined(separator: " "), end: "\(log.recovery.bytes.lowerBound)")
  }

  @Test func everyLogGivesItsRecordsAndLosses() throws {
    let logs = try logs()
    #expect(logs.count > 300)
    var passed = 0
    for log in logs {
      let found = try read([UInt8](log.bytes))
      #expect(found == log.wanted, "\(log.name)")
      passed += found == log.wanted ? 1 : 0
    }
    print("Small logs that give their records and losses: \(passed) of \(logs.count)")
  }
}
