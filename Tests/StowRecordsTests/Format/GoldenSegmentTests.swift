import Foundation
import Testing

@testable import StowRecords

/// The golden folders of segments are what is written, byte for byte with known identities, and hold the values beside
/// them.
struct GoldenSegmentTests {
  private typealias Sample = GoldenLogTests.Sample

  private static let suite = URL(filePath: #filePath).appending(path: "../../../../Conformance/segments")
    .standardizedFileURL
  private static let identity: UInt64 = 0x0807_0605_0403_0201
  private static let names = ["removed", "lost"]

  /// The bytes of the segments, by their names.
  private func files(of name: String) throws -> [String: [UInt8]] { name == "removed" ? try removed() : try lost() }

  /// The first segment was removed, records of the others were left out, and a group was appended.
  private func removed() throws -> [String: [UInt8]] {
    try segments { log in
      for id in 0..<18 { try log.append(Sample(id, size: 13_000)) }
      try log.removeRecords(before: 6)
      try log.compact { $0.number % 5 != 3 }
      try log.append(group: (18..<21).map { Sample($0, size: 30_000) })
    }
  }

  /// A file is missing, one has a bit that changed, one is of another log, and the last is torn.
  private func lost() throws -> [String: [UInt8]] {
    func append(_ log: RecordLog) throws { for id in 0..<28 { try log.append(Sample(id, size: 13_000)) } }
    var files = try segments(append)
    let names = files.keys.sorted()
    files[names[0]]?[1_000] ^= 4
    files[names[1]] = nil
    files[names[2]] = try segments(identity: 0x1817_1615_1413_1211, append)[names[2]]
    files[names[names.count - 1]]?.removeLast(5)
    return files
  }

  private func segments(identity: UInt64 = identity, _ steps: (RecordLog) throws -> Void) throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let log = try Segmented.log(on: disk)
    try steps(log)
    try log.close()
    let segments = Segmented.segments(on: disk)
    return Dictionary(
      uniqueKeysWithValues: segments.enumerated().map { index, segment in
        let bytes = disk.bytes(of: segment.path) ?? []
        let name = String(segment.path.dropFirst(Segmented.folder.count + 1))
        return (name, identified(bytes, as: identity + UInt64(index), of: identity))
      })
  }

  /// A segment as it would be with another identity, of a log with another one.
  private func identified(_ segment: [UInt8], as identity: UInt64, of log: UInt64) -> [UInt8] {
    var bytes = segment
    for start in stride(from: 0, to: bytes.count, by: BlockHead.blockSize) {
      let block = Array(bytes[start..<min(start + BlockHead.blockSize, bytes.count)])
      guard let head = BlockHead(block) else { continue }
      let newHead = BlockHead(
        identity: identity, firstRecord: head.firstRecord, index: head.index,
        synchronizedBlocks: head.synchronizedBlocks)
      bytes.replaceSubrange(start..<(start + BlockHead.size), with: newHead.bytes)
      var offset = BlockHead.size
      while let frame = Frame(in: block, at: offset, blockStart: start, identity: head.identity) {
        let end = frame.payload.upperBound
        var sealed = Array(block[offset..<end])
        if frame.kind == .origin { sealed.replaceLittleEndian(at: Frame.headSize, with: log) }
        Frame.seal(&sealed, from: 0, frame.kind, at: start + offset, identity: identity)
        bytes.replaceSubrange((start + offset)..<(start + end), with: sealed)
        offset = end
      }
    }
    return bytes
  }

  /// What the log holds, as it stands beside the folder.
  private func text(of files: [String: [UInt8]]) throws -> String {
    let disk = SimulatedDisk()
    try disk.makeFolder(Segmented.folder)
    for (name, bytes) in files { disk.setBytes(bytes, of: "\(Segmented.folder)/\(name)") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let log = try RecordLogReader(at: Segmented.folder, on: disk)
    var lines = ["first \(log.firstNumber)"]
    for record in log.records {
      let value = try encoder.encode(record.decode(Sample.self))
      lines.append("record \(record.number) \(String(decoding: value, as: UTF8.self))")
    }
    lines += log.damage.flatMap { $0.records.map { "lost \($0)" } }
    lines.append("end \(log.recovery.bytes.lowerBound)")
    return lines.joined(separator: "\n") + "\n"
  }

  @Test(arguments: names)
  func everyFolderIsWrittenAndRead(_ name: String) throws {
    let folder = Self.suite.appending(path: name)
    let description = Self.suite.appending(path: "\(name).txt")
    let files = try files(of: name)
    if ProcessInfo.processInfo.environment["STOW_WRITE_LOGS"] != nil,
      !FileManager.default.fileExists(atPath: folder.path)
    {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
      try text(of: files).write(to: description, atomically: true, encoding: .utf8)
    }
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(files.keys))
    for (name, bytes) in files {
      #expect(try Data(contentsOf: folder.appending(path: name)) == Data(bytes), "\(name)")
    }
    #expect(try String(contentsOf: description, encoding: .utf8) == text(of: files))
  }

  @Test func everyFolderIsTested() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.suite.path)
    #expect(Set(files) == Set(Self.names.flatMap { [$0, "\($0).txt"] }))
  }
}
