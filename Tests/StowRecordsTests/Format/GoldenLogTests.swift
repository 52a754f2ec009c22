import Foundation
import Stow
import Testing

@testable import StowRecords

/// The golden logs of the conformance suite are what is written, byte for byte, and hold what stands beside them.
struct GoldenLogTests {
  struct Sample: Codable {
    var id: Int
    var name: String
    var half: Double

    init(_ id: Int, size: Int = 3) {
      self.id = id
      name = String(repeating: Character(Unicode.Scalar(UInt8(97 + id % 26))), count: size)
      half = Double(id) + 0.5
    }

    init(_ id: Int, name: String) {
      self.init(id)
      self.name = name
    }
  }

  private static let folder = URL(filePath: #filePath).appending(path: "../../../../Conformance/logs")
    .standardizedFileURL

  private static let names = [
    "records", "scopes", "blocks", "compacted", "damaged", "torn", "packed", "groups", "holes", "edges",
  ]

  private func bytes(of name: String) throws -> [UInt8] {
    switch name {
    case "records":
      try KnownLogs.bytes { try KnownLogs.append(Sample(0), Sample(1), Sample(2), on: $0) }
    case "scopes":
      try KnownLogs.bytes { disk in
        for round in 0..<4 { try KnownLogs.append(Sample(round), Sample(10 + round), on: disk) }
      }
    case "compacted":
      try KnownLogs.bytes { disk in
        try KnownLogs.append(Sample(0), Sample(1), Sample(2), on: disk)
        let log = try RecordLog(at: KnownLogs.path, on: disk)
        try log.compact(keeping: { $0.number != 1 }, identity: 0x1817_1615_1413_1211)
        try log.append(Sample(3))
        try log.close()
      }
    case "packed":
      try KnownLogs.bytes { disk in
        for round in 0..<2 {
          let log = try RecordLog(at: KnownLogs.path, on: disk, packing: .words)
          for id in 0..<60 {
            try log.append(Sample(round * 60 + id, name: "request number \(id) of many, answered by server \(id % 7)"))
            if id % 10 == 9 { try log.flush() }
          }
          try log.close()
        }
      }
    case "groups":
      try KnownLogs.bytes { disk in
        let log = try RecordLog(at: KnownLogs.path, on: disk)
        for sizes in [[3, 3], [40_000, 3, 40_000], [3]] {
          let first = log.count
          try log.append(group: sizes.enumerated().map { Sample(first + $0, size: $1) })
        }
        try log.close()
      }
    case "holes":
      try KnownLogs.bytes { disk in
        let log = try RecordLog(at: KnownLogs.path, on: disk, packing: .words)
        try log.append(contentsOf: (0..<400).map { Sample($0, size: $0 % 50 == 7 ? 70_000 : 9) })
        try log.compact(
          keeping: { $0.number % 37 == 5 || $0.number / 90 == 3 || $0.number % 200 == 7 },
          identity: 0x1817_1615_1413_1211)
        try log.close()
      }
    case "edges": try edges()
    case "damaged": try blocks(longest: 66_000).enumerated().map { $0 == 1_000 ? $1 ^ 4 : $1 }
    case "torn": try Array(blocks(longest: 66_000).dropLast(5))
    default: try blocks(longest: 130_000)
    }
  }

  /// What no writer of this version writes: notes, parts without bytes, a head of another version.
  private func edges() throws -> [UInt8] {
    func record(_ id: Int) throws -> [UInt8] {
      let message = try StowEncoder().encode(Sample(id))
      return [UInt8(message.count)] + message
    }
    var file = MadeUpFile(
      (
        0,
        [
          (.note, 0, [1, 2]), (.records, 0, try record(0)), (.note, 1, []),
          MadeUpFile.firstOfGroup(1, count: 2, size: 9, []),
        ]
      ),
      (
        3,
        [
          (.records, 3, try record(3) + [0, 2] + record(6)), (.note, 7, []),
          (.freshRecords, 7, try record(7)),
        ]
      ),
      (8, [(.records, 8, try record(8))]), (9, [(.freshRecords, 9, try record(9)), (.note, 10, [0x7F])]))
    file.append((.freshRecords, 10, try record(10)))
    var bytes = file.bytes
    bytes[2 * BlockHead.blockSize + 2] = 2
    let head = BlockHead.checksum(of: Array(bytes[(2 * BlockHead.blockSize)...].prefix(BlockHead.size)))
    bytes.replaceLittleEndian(at: 2 * BlockHead.blockSize + 4, with: head)
    return bytes
  }

  /// Small records, one of several blocks, and small ones again.
  private func blocks(longest: Int) throws -> [UInt8] {
    try KnownLogs.bytes { disk in
      let log = try RecordLog(at: KnownLogs.path, on: disk)
      for id in 0..<20 {
        try log.append(Sample(id, size: id == 9 ? longest : 100))
        if id % 4 == 3 { try log.flush() }
      }
      try log.close()
    }
  }

  /// What the log holds, as it stands beside the file.
  private func text(of bytes: [UInt8]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let log = try KnownLogs.reader(of: bytes)
    var lines: [String] = []
    for record in log.records {
      let value = try record.decode(Sample.self)
      lines.append("record \(record.number) \(String(decoding: try encoder.encode(value), as: UTF8.self))")
    }
    lines += log.damage.flatMap { $0.records.map { "lost \($0)" } }
    lines.append("end \(log.recovery.bytes.lowerBound)")
    return lines.joined(separator: "\n") + "\n"
  }

  @Test(arguments: names)
  func everyLogIsWrittenAndRead(_ name: String) throws {
    let file = Self.folder.appending(path: "\(name).stowlog")
    let description = Self.folder.appending(path: "\(name).txt")
    let bytes = try bytes(of: name)
    if ProcessInfo.processInfo.environment["STOW_WRITE_LOGS"] != nil, (try? Data(contentsOf: file)) == nil {
      try Data(bytes).write(to: file)
      try text(of: bytes).write(to: description, atomically: true, encoding: .utf8)
    }
    #expect(try Data(contentsOf: file) == Data(bytes))
    #expect(try String(contentsOf: description, encoding: .utf8) == text(of: bytes))
  }

  @Test func everyFileIsTested() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(files.filter { $0.hasSuffix(".stowlog") }) == Set(Self.names.map { "\($0).stowlog" }))
  }
}
