import Foundation
import Testing

@testable import StowRecords

/// Frames that end at the end of a block, or so near to it that no other has room behind them.
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

  @Test(arguments: 0...12)
  func whatFollowsInTheNextBlockIsReadWithoutThisOne(rest: Int) throws {
    try log(fillerSize: 60_000).close()
    let log = try log(fillerSize: 60_000 + BlockHead.blockSize - rest - fileSize())
    #expect(try fileSize() == BlockHead.blockSize - rest)
    for id in 2..<6 {
      try log.append(Event(id))
      try log.flush()
    }
    try log.close()
    let read = try RecordLog(readingFrom: folder.log)
    #expect(read.count == 7 && read.damage.isEmpty)
    #expect(try read.decode(Event.self, at: 0) == Event(0))
    for id in 2..<6 { #expect(try read.decode(Event.self, at: id + 1) == Event(id)) }
  }

  /// Records that just fit into their block, that fit but for their length, and that do not fit.
  @Test(arguments: [0, 30_000, 61_000])
  func aRecordMayBeAsLongAsTheRoomThatIsLeft(fillerSize: Int) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: KnownLogs.path, on: disk)
    try log.append(Data(count: fillerSize))
    try log.close()
    let bytes = try #require(disk.bytes(of: KnownLogs.path))
    let room = BlockHead.blockSize - bytes.count - Frame.headSize
    // Of a record, its length takes up to three bytes, and the head of its data as many or one more.
    for size in (room - 12)...(room + 3) { try checkRecord(ofSize: size, behind: bytes) }
  }

  private func checkRecord(ofSize size: Int, behind bytes: [UInt8]) throws {
    let disk = SimulatedDisk()
    _ = try disk.open(KnownLogs.path, .appending)
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
