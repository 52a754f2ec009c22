import Foundation
import Testing

@testable import StowRecords

/// Logs whose records are packed are logs like all others, only smaller.
struct PackedLogTests {
  struct Line: Codable, Hashable {
    var id: Int
    var text: String
    var url: String?
  }

  private func lines(_ numbers: Range<Int>) -> [Line] {
    let words = [
      "request", "answered", "server", "timeout", "connection", "refused", "user", "session", "cache",
    ]
    return numbers.map { id in
      let text = (0..<6).map { words[(id &* 7 &+ $0 &* $0 &* (id % 5 + 1)) % words.count] }.joined(separator: " ")
      return Line(
        id: id, text: "\(text) \(id)", url: id % 3 == 0 ? "https://api.example.com/items/\(id)" : nil)
    }
  }

  private func log(_ disk: SimulatedDisk, _ packing: RecordLog.Packing) throws -> RecordLog {
    try RecordLog(at: KnownLogs.path, on: disk, packing: packing)
  }

  private func size(of disk: SimulatedDisk) -> Int { disk.bytes(of: KnownLogs.path)?.count ?? 0 }

  private func read(_ log: RecordLogReader) throws -> [Line] { try log.records.map { try $0.decode(Line.self) } }

  @Test func recordsComeBackAndTakeFewerBytes() throws {
    let lines = lines(0..<2_000)
    let (plain, packed) = (SimulatedDisk(), SimulatedDisk())
    for (disk, packing) in [(plain, RecordLog.Packing.none), (packed, .words)] {
      let log = try log(disk, packing)
      for line in lines { try log.append(line) }
      #expect(try read(log) == lines)
      for number in stride(from: 0, to: lines.count, by: 37) {
        #expect(try log.decode(Line.self, at: number) == lines[number])
      }
      #expect(try log.verify().isEmpty)
      try log.close()
    }
    #expect(size(of: packed) * 10 < size(of: plain) * 7)
    let bytes = try #require(packed.bytes(of: KnownLogs.path))
    let reader = try KnownLogs.reader(of: bytes)
    #expect(try read(reader) == lines)
    // Sizes are those of the encoded records, packed or not.
    let unpacked = try KnownLogs.reader(of: try #require(plain.bytes(of: KnownLogs.path)))
    #expect(reader.records.prefix(500).map(\.size) == unpacked.records.prefix(500).map(\.size))
  }

  @Test func aLogIsGoneOnWithInEitherWay() throws {
    let lines = lines(0..<900)
    let disk = SimulatedDisk()
    for (round, packing) in [RecordLog.Packing.words, .none, .words, .words, .none, .words].enumerated() {
      let log = try log(disk, packing)
      let part = lines[(round * 150)..<(round * 150 + 150)]
      if round % 2 == 0 {
        for line in part { try log.append(line) }
      } else {
        try log.append(contentsOf: part)
      }
      if round == 3 { try log.flush() }
      try log.close()
    }
    #expect(try read(log(disk, .none)) == lines)
  }

  @Test func everyAppendCanBeAFrameOfItsOwn() throws {
    let lines = lines(0..<600)
    let disk = SimulatedDisk()
    let log = try log(disk, .words)
    for line in lines {
      try log.append(line)
      try log.flush()
    }
    #expect(try read(log) == lines)
    let plain = SimulatedDisk()
    let other = try self.log(plain, .none)
    for line in lines {
      try other.append(line)
      try other.flush()
    }
    #expect(size(of: disk) < size(of: plain) * 8 / 10)
  }

  @Test func recordsOfEveryLengthFitTheBlocks() throws {
    let disk = SimulatedDisk()
    let log = try log(disk, .words)
    var texts: [String] = []
    for size in Array(65_460..<65_500) + Array(stride(from: 100, to: 140_000, by: 7_919)) {
      texts.append(String(repeating: "word ", count: size / 5) + "\(size)")
      texts.append(String(repeating: "x", count: size))
      texts.append("request \(size)")
    }
    for text in texts { try log.append(text) }
    try log.close()
    let reader = try self.log(disk, .none)
    #expect(try reader.records.map { try $0.decode(String.self) } == texts)
    #expect(try reader.verify().isEmpty)
  }

  @Test func compactionKeepsRecordsAndPacksThem() throws {
    let lines = lines(0..<3_000)
    let disk = SimulatedDisk()
    let first = try log(disk, .words)
    try first.append(contentsOf: lines)
    try first.compact(keeping: { $0.number % 3 != 1 })
    try first.append(contentsOf: lines.prefix(10))
    let kept = lines.filter { $0.id % 3 != 1 } + lines.prefix(10)
    #expect(try read(first) == kept)
    let packedSize = size(of: disk)
    try first.close()
    let second = try log(disk, .none)
    try second.compact(keeping: { _ in true })
    #expect(try read(second) == kept)
    #expect(size(of: disk) > packedSize * 12 / 10)
  }

  @Test func changedBytesAreFound() throws {
    // The first leaves so little room in the window that others are packed.
    var lines = lines(0..<60)
    lines[0].text = String(self.lines(0..<100).map(\.text).joined(separator: " and ").prefix(3_700))
    let disk = SimulatedDisk()
    let log = try log(disk, .words)
    for (place, line) in lines.enumerated() {
      try log.append(line)
      if place % 20 == 0 { try log.flush() }
    }
    try log.close()
    let bytes = try #require(disk.bytes(of: KnownLogs.path))
    // Of every eleventh byte, so that each bit has its turn.
    for place in stride(from: BlockHead.size, to: bytes.count, by: 11) {
      var changed = bytes
      changed[place] ^= 1 << UInt8(place % 8)
      let reader = try KnownLogs.reader(of: changed)
      let read = reader.records.map { ($0.number, try? $0.decode(Line.self)) }
      let isReported = !reader.damage.isEmpty || !reader.recovery.bytes.isEmpty
      #expect(isReported && read.allSatisfy { lines[$0.0] == $0.1 }, "byte \(place)")
    }
    for count in stride(from: BlockHead.size, to: bytes.count, by: 41) {
      let reader = try KnownLogs.reader(of: Array(bytes.prefix(count)))
      #expect(try read(reader) == Array(lines.prefix(reader.count)))
    }
  }
}
