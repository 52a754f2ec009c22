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
}
