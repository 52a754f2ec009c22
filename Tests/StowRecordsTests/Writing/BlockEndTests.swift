import Foundation
import Testing

@testable import StowRecords

/// Frames that end at the end of a block, or so near to it that no other has room after them.
struct BlockEndTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fileSize() throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: folder.log.path)[.size] as? Int)
  }

  /// Begins a log with two events and so many bytes of data.
  private func log(fillerSize: Int) throws -> RecordLog {
    try? FileManager.default.removeItem(at: folder.log)
    let log = try RecordLog(at: folder.log, durability: .manual)
    try log.append(contentsOf: [Event(0), Event(1)])
    try log.append(Data(count: fillerSize))
    try log.flush()
    return log
  }

  @Test func whatFollowsInTheNextBlockIsReadWithoutThisOne() throws {
    for rest in 0...12 { try checkWhatFollows(rest: rest) }
  }

  private func checkWhatFollows(rest: Int) throws {
    let size = try withExtendedLifetime(self.log(fillerSize: 60_000)) { try fileSize() }
    let log = try self.log(fillerSize: 60_000 + BlockHead.blockSize - rest - size)
    #expect(try fileSize() == BlockHead.blockSize - rest)
    for id in 2..<6 {
      try log.append(Event(id))
      try log.flush()
    }
    try log.close()
    let read = try RecordLogReader(at: folder.log)
    #expect(read.count == 7 && read.damage.isEmpty, "\(rest) bytes left")
    #expect(try read.decode(Event.self, at: 0) == Event(0), "\(rest) bytes left")
    for id in 2..<6 { #expect(try read.decode(Event.self, at: id + 1) == Event(id), "\(rest) bytes left") }
  }

  /// Records that just fit into their block, that fit only without their length, and that do not fit.
  @Test(arguments: [0, 30_000, 61_000])
  func aRecordMayBeAsLongAsTheRoomThatIsLeft(fillerSize: Int) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: KnownLogs.path, on: disk)
    try log.append(Data(count: fillerSize))
    try log.close()
    let bytes = try #require(disk.bytes(of: KnownLogs.path))
    let room = BlockHead.blockSize - bytes.count - Frame.headSize
    // Of a record, its length takes up to three bytes, and the head of its data as many or one more.
    for size in (room - 12)...(room + 3) { try checkRecord(ofSize: size, after: bytes) }
  }

  /// A record that repeats strings of an earlier one is shorter where that one does not count: it may have room then.
  @Test(arguments: [RecordLog.Packing.none, .words])
  func aRecordThatIsShorterInANewScopeIsOneOfThisBlock(packing: RecordLog.Packing) throws {
    let strings = (0..<400).map { "string \($0 * 1_001)" }
    for fillerSize in stride(from: 52_000, to: 56_000, by: 100) {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: KnownLogs.path, on: disk, packing: packing)
      try log.append(strings)
      try log.append(Data(count: fillerSize))
      for _ in 0..<2 { try log.append(strings) }
      try log.close()
      let read = try KnownLogs.reader(of: try #require(disk.bytes(of: KnownLogs.path)))
      #expect(try read.verify().isEmpty && read.recovery.bytes.isEmpty && read.count == 4, "\(fillerSize)")
      for number in [0, 2, 3] { #expect(try read.decode([String].self, at: number) == strings) }
    }
  }

  /// Records of all sizes that are near to what is left of a block, with strings that came before and with others.
  @Test func recordsNearTheEndOfABlockComeBack() throws {
    for seed in 0..<8 as Range<UInt64> { try checkRecordsNearTheEnd(seed: seed) }
  }

  private func checkRecordsNearTheEnd(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let packing: RecordLog.Packing = seed % 2 == 0 ? .none : .words
    let known = (0..<600).map { "string \($0 * 1_001)" }
    for _ in 0..<3 {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: KnownLogs.path, on: disk, packing: packing)
      var records: [[String]] = []
      for _ in 0..<14 {
        let size = disk.bytes(of: KnownLogs.path)?.count ?? 0
        let room = BlockHead.blockSize - size % BlockHead.blockSize + (Bool.random(using: &random) ? 0 : 65_497)
        var record = Array(known.prefix(Int.random(in: 0...600, using: &random)))
        if Bool.random(using: &random) { record.shuffle(using: &random) }
        let taken = record.reduce(0) { $0 + $1.utf8.count + 1 }
        let rest = room - taken - Int.random(in: 0...40, using: &random)
        if rest > 0 { record.append(String(repeating: "x", count: rest)) }
        records.append(record)
        try log.append(record)
        if Int.random(in: 0..<3, using: &random) > 0 { try log.flush() }
      }
      try log.close()
      let read = try KnownLogs.reader(of: try #require(disk.bytes(of: KnownLogs.path)))
      #expect(try read.verify().isEmpty && read.recovery.bytes.isEmpty, "seed \(seed)")
      #expect(try read.records.map { try $0.decode([String].self) } == records, "seed \(seed)")
    }
  }

  private func checkRecord(ofSize size: Int, after bytes: [UInt8]) throws {
    let disk = SimulatedDisk()
    disk.setBytes(bytes, of: KnownLogs.path)
    let log = try RecordLog(at: KnownLogs.path, on: disk)
    let first = log.count
    for value in [Data(count: size), Data([2])] { try log.append(value) }
    try log.close()
    let read = try KnownLogs.reader(of: try #require(disk.bytes(of: KnownLogs.path)))
    #expect(read.count == first + 2 && read.recovery.bytes.isEmpty)
    #expect(try read.verify().isEmpty)
    #expect(try read.decode(Data.self, at: first) == Data(count: size), "a record of \(size) bytes")
    #expect(try read.decode(Data.self, at: first + 1) == Data([2]))
  }
}
