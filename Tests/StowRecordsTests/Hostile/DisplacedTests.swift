import Foundation
import Testing

@testable import StowRecords

/// Files in which bytes are missing, or are too many, as after a broken copy.
@Suite("Bytes that are not in their place")
struct DisplacedTests {
  private static let count = 60

  /// Some eight blocks, with long records that are written in parts.
  private func log(_ segmentSize: Int?) throws -> (disk: SimulatedDisk, path: String, bytes: [UInt8]) {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    for id in 0..<Self.count {
      try log.append(Event(id, size: id % 20 == 19 ? 90_000 : 3_000))
      if id % 3 == 0 { try log.flush() }
    }
    try log.close()
    let path = segmentSize == nil ? "/log" : Segment(from: 0, in: "/log").path
    return (disk, path, try #require(disk.bytes(of: path)))
  }

  /// What is done to the bytes at a place.
  private static func steps(at place: Int) -> [(inout [UInt8]) -> Void] {
    [
      { $0.remove(at: place) }, { $0.insert(7, at: place) }, { $0.removeSubrange(place..<(place + 512)) },
      { $0.removeSubrange(place..<(place + BlockHead.blockSize)) },
    ]
  }

  private func expectRightIds(_ log: RecordLogReader, _ what: String) throws -> [Int] {
    try log.records.map { record in
      let id = try record.decode(Event.self).id
      #expect(id == record.number, "\(what)")
      return id
    }
  }

  @Test(
    "displaced bytes are damage, are never cut off, and their record numbers are not reused",
    arguments: [nil, 1 << 20])
  func displaced(_ segmentSize: Int?) throws {
    let (whole, path, bytes) = try log(segmentSize)
    for place in [40, 65_530, 100_000] {
      for (index, step) in Self.steps(at: place).enumerated() {
        let what = "step \(index) at \(place)"
        let disk = whole.copy()
        var broken = bytes
        step(&broken)
        disk.setBytes(broken, of: path)
        // A reader.
        let reader = try RecordLogReader(at: "/log", on: disk)
        let ids = try expectRightIds(reader, what)
        #expect(reader.recovery.isDamage && !reader.recovery.bytes.isEmpty, "\(what)")
        let damage = try #require(try reader.verify().last, "\(what)")
        #expect(damage.reason == .displaced && damage.bytes.upperBound == broken.count, "\(what)")
        #expect(reader.damage.contains(damage))
        // A writer goes on after all of it.
        var log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
        #expect(log.recovery.isDamage && log.recovery.bytes.upperBound == broken.count, "\(what)")
        #expect(disk.bytes(of: path) == broken, "\(what)")
        #expect(try log.append(Event(Self.count)) == Self.count, "\(what)")
        #expect(try expectRightIds(log, what) == ids + [Self.count], "\(what)")
        try log.close()
        // And so does the next one.
        log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
        #expect(log.recovery.bytes.isEmpty && !log.recovery.isDamage, "\(what)")
        #expect(try log.append(Event(Self.count + 1)) == Self.count + 1, "\(what)")
        try log.close()
        let after = try #require(disk.bytes(of: path))
        #expect(Array(after.prefix(broken.count)) == broken, "\(what)")
        let again = try RecordLogReader(at: "/log", on: disk)
        #expect(try expectRightIds(again, what) == ids + [Self.count, Self.count + 1], "\(what)")
        let lost = Set(try again.verify().flatMap(\.records))
        #expect(lost == Set(0..<Self.count).subtracting(ids), "\(what)")
      }
    }
  }

  @Test("a torn end of at most one block and zeros of any length are cut off")
  func tornEnd() throws {
    let (disk, path, bytes) = try log(nil)
    let torn = [UInt8](repeating: 7, count: BlockHead.blockSize)
    for end in [
      [7], torn, [UInt8](repeating: 0, count: 300_000), torn + [UInt8](repeating: 0, count: 300_000),
    ] {
      disk.setBytes(bytes + end, of: path)
      let reader = try RecordLogReader(at: "/log", on: disk)
      #expect(try reader.verify().isEmpty && !reader.recovery.isDamage && !reader.recovery.bytes.isEmpty)
      let log = try RecordLog(at: "/log", on: disk)
      #expect(!log.recovery.isDamage && log.recovery.bytes == reader.recovery.bytes)
      #expect(disk.bytes(of: path) == bytes)
      try log.close()
    }
    disk.setBytes(bytes + torn + [7], of: path)
    #expect(try RecordLogReader(at: "/log", on: disk).verify().map(\.reason) == [.displaced])
  }

  @Test("bytes after damage at the end of a log survive disk failures and killed processes")
  func failures() throws {
    let (whole, path, bytes) = try log(nil)
    var broken = bytes
    broken.remove(at: 5_000)
    whole.setBytes(broken, of: path)
    for call in stride(from: 0, to: 40, by: 3) {
      let disk = whole.copy()
      disk.failing = call..<(call + 1)
      do {
        let log = try RecordLog(at: "/log", on: disk)
        try log.append(Event(Self.count))
        try log.synchronize()
      } catch is RecordLogError {}
      disk.faults = SimulatedDisk.Faults()
      disk.stop()
      let log = try RecordLog(at: "/log", on: disk)
      #expect(log.count >= Self.count && disk.bytes(of: path)?.starts(with: broken) == true, "\(call)")
      try log.append(Event(log.count))
      try log.close()
      _ = try expectRightIds(log, "\(call)")
    }
  }

  @Test("a file with no room for another block is not opened for appending and stays unchanged")
  func hugeFile() throws {
    let folder = try TemporaryFolder()
    try RecordLog(at: folder.log).close()
    let bytes = try Data(contentsOf: folder.log)
    // Where no file system has such files, there is nothing to see.
    let url = URL(filePath: "/dev/shm/\(UUID().uuidString)")
    guard (try? bytes.write(to: url)) != nil else { return }
    defer { try? FileManager.default.removeItem(at: url) }
    let file = try FileHandle(forWritingTo: url)
    let size = UInt64(BlockHead.blockSize) << 32
    guard (try? file.truncate(atOffset: size)) != nil else { return }
    try file.seekToEnd()
    try file.write(contentsOf: Data("garbage".utf8))
    #expect(try RecordLogReader(at: url).verify().map(\.reason) == [.displaced])
    let error = try #require(throws: RecordLogError.self) { try RecordLog(at: url) }
    guard case .damaged = error.reason else { throw error }
    #expect(try file.seekToEnd() == size + 7)
  }
}
