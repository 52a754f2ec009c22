import Foundation
import Testing

@testable import StowRecords

/// The examples of logs in Format/Logs.md: each is what is written, byte for byte.
@Suite("The examples of logs in Format/Logs.md")
struct LogExamplesTests {
  /// An example as it stands in the document.
  struct Example {
    var bytes: [UInt8] = []
    var explained: [UInt8] = []
    var records: [String] = []
  }

  private static func written(_ name: Substring) throws -> [UInt8]? {
    switch name {
    case "log-records":
      try KnownLogs.bytes { try KnownLogs.append(AnyValue(1), AnyValue("two"), AnyValue([3.5]), on: $0) }
    case "log-scopes":
      try KnownLogs.bytes {
        try KnownLogs.append("one", on: $0)
        try KnownLogs.append("two", on: $0)
      }
    case "log-blocks":
      try KnownLogs.bytes { try KnownLogs.append(Data(count: 65_000), Data(count: 1_000), on: $0) }
    case "log-parts":
      try KnownLogs.bytes { try KnownLogs.append(Data(count: 70_000), Data(count: 3), on: $0) }
    case "log-group":
      try KnownLogs.bytes { disk in
        let log = try RecordLog(at: KnownLogs.path, on: disk)
        try log.append(group: [Data(count: 33_000), Data(count: 33_000)])
        try log.close()
      }
    case "log-packed":
      try KnownLogs.bytes { disk in
        let log = try RecordLog(at: KnownLogs.path, on: disk, packing: .words)
        try log.append(Data(count: 4_076))
        for text in ["request", "many requests", "request 17"] { try log.append(text) }
        try log.close()
      }
    case "log-compacted":
      try KnownLogs.bytes { disk in
        try KnownLogs.append(1, 2, 3, 4, on: disk)
        // The new file gets an identity of its own.
        try RecordLog(at: KnownLogs.path, on: disk).compact(
          keeping: { $0.number % 3 == 0 }, identity: 0x1817_1615_1413_1211)
      }
    case "log-abandoned":
      try KnownLogs.bytes { disk in
        try KnownLogs.append(Data(count: 70_000), on: disk)
        // A crash has left the first of two parts.
        disk.setBytes(Array(try #require(disk.bytes(of: KnownLogs.path)).prefix(65_536)), of: KnownLogs.path)
        try KnownLogs.append("next", on: disk)
      }
    default: nil
    }
  }

  private static func load() throws -> [Substring: Example] {
    let file = URL(filePath: #filePath).appending(path: "../../../../Format/Logs.md").standardizedFileURL
    var examples: [Substring: Example] = [:]
    var name: Substring?
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("```") {
        name = line.hasPrefix("```stow-log ") ? line.dropFirst(12) : nil
      } else if let name {
        try examples[name, default: Example()].add(line)
      }
    }
    return examples
  }

  @Test("the examples of logs are what the library writes, and it reads their records")
  func bytes() throws {
    let examples = try Self.load()
    #expect(examples.count > 3)
    for (name, example) in examples {
      #expect(example.bytes == example.explained, "the explanation of \(name)")
      let written = try #require(try Self.written(name), "no entry for \(name)")
      #expect(written == example.bytes, "the bytes of \(name): \(Self.hex(written))")
      let records = Array(try KnownLogs.reader(of: example.bytes).records)
      let numbers = example.records.map { Int($0.dropFirst(7).prefix { $0 != ":" }) }
      #expect(records.map(\.number) == numbers, "the records of \(name)")
    }
  }

  /// Bytes in hexadecimal, as the document writes them.
  private static func hex(_ bytes: [UInt8]) -> String {
    var words: [String] = []
    var index = 0
    while index < bytes.count {
      let end = bytes[index...].firstIndex { $0 != bytes[index] } ?? bytes.count
      let digits = (bytes[index] < 16 ? "0" : "") + String(bytes[index], radix: 16, uppercase: true)
      words += end - index > 15 ? ["\(digits)*\(end - index)"] : Array(repeating: digits, count: end - index)
      index = end
    }
    return words.joined(separator: " ")
  }
}

extension LogExamplesTests.Example {
  fileprivate mutating func add(_ line: Substring) throws {
    if line.hasPrefix("record ") {
      records.append(String(line))
    } else if line.hasPrefix("bytes:") {
      bytes += try Self.bytes(line.dropFirst(6))
    } else {
      let line = line.drop { $0 == " " }
      explained += try Self.bytes(line.range(of: "  ").map { line[..<$0.lowerBound] } ?? line)
    }
  }

  /// Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00.
  private static func bytes(_ text: Substring) throws -> [UInt8] {
    try text.split(separator: " ").flatMap { word in
      let parts = word.split(separator: "*")
      let byte = try #require(UInt8(parts[0], radix: 16))
      return [UInt8](repeating: byte, count: try #require(parts.count == 2 ? Int(parts[1]) : 1))
    }
  }
}

/// A value of whatever type.
private struct AnyValue: Encodable {
  let encoding: @Sendable (any Encoder) throws -> Void

  init<Value: Encodable & Sendable>(_ value: Value) { encoding = { try value.encode(to: $0) } }

  func encode(to encoder: any Encoder) throws { try encoding(encoder) }
}
