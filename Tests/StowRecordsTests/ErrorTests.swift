import Foundation
import Stow
import Testing

@testable import StowRecords

/// What errors and reports say: which file, where, and why.
struct ErrorTests {
  @Test func errorsNameTheFileAndTheReason() throws {
    let folder = try TemporaryFolder()
    let missing = folder.url.appending(path: "missing/log")
    let error = try #require(throws: RecordLogError.self) { try RecordLog(at: missing) }
    #expect(error.file.hasSuffix("missing/log"))
    #expect("\(error)".contains("missing/log: could not open: "))
    #expect(throws: error) { try RecordLogReader(at: missing) }
    #expect("\(RecordLogError(file: "a", offset: 5, .diskFull))" == "a at offset 5: there is no room on the disk")
    #expect(error.localizedDescription == error.description)
    #expect("\(RecordLogError(file: "a", .noSuchRecord(7, count: 3)))" == "a: there is no record 7 among 3")
  }

  @Test func whatIsHandedToTheWrongReaderIsNamed() throws {
    let folder = try TemporaryFolder()
    try StowEncoder().encode(["a": 1]).write(to: folder.log)
    let error = try #require(throws: RecordLogError.self) { try RecordLogReader(at: folder.log) }
    #expect(error.reason == .notALog && error.localizedDescription.contains("no log of records"))
    let other = folder.url.appending(path: "other.stowlog")
    let log = try RecordLog(at: other)
    try log.append(1)
    try log.close()
    for (data, name) in [
      (try Data(contentsOf: other), "log of records, which RecordLogReader"),
      (try RecordStreamEncoder().encode(1), "stream of records, which RecordStreamDecoder"),
    ] {
      let error = try #require(throws: DecodingError.self) { try StowDecoder().decode(Int.self, from: data) }
      guard case .dataCorrupted(let context) = error else { throw error }
      #expect(context.debugDescription.contains(name))
    }
    let locked = RecordLogError(file: "a", offset: nil, SystemError(operation: "lock", code: 37))
    #expect("\(locked)".contains("its file system may have no locks"))
  }

  @Test func reportsNameRecordsAndBytes() {
    let damage = RecordLog.Damage(file: "a", records: 3..<5, bytes: 100..<200, reason: .frame)
    #expect("\(damage)" == "records 3 to 4 lost in bytes 100 to 200: a frame is damaged")
    let name = Segment(from: 3, in: "b").path
    let other = RecordLog.Damage(file: name, records: 3..<5, bytes: 100..<200, reason: .frame)
    #expect("\(other)".contains("bytes 100 to 200 of 00000000000000000003.stowlog: "))
    let recoveries = [(7..<7, 1..<1), (7..<9, 1..<1), (7..<9, 4..<5), (9..<9, 4..<5), (7..<10, 1..<1)]
    #expect(
      recoveries.map { "\(RecordLog.Recovery(bytes: $0, records: $1, isDamage: $0.count > 2))" } == [
        "nothing after the last whole record", "2 bytes from offset 7 on that are not whole",
        "2 bytes from offset 7 on that are not whole, and record 4, which is not finished",
        "record 4, which is not finished",
        "3 bytes from offset 7 on that are not whole, which is more than a crash leaves",
      ])
  }

  @Test func aCompactedFileKeepsItsPermissions() throws {
    let folder = try TemporaryFolder()
    let log = try RecordLog(at: folder.log)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.log.path)
    try log.append(1)
    try log.compact { _ in true }
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.log.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["test.stowlog"])
  }

  @Test func aCompactionThatFailsLeavesTheLogAsItWas() throws {
    let folder = try TemporaryFolder()
    let log = try RecordLog(at: folder.log)
    try log.append(contentsOf: 0..<10)
    #expect(throws: CancellationError.self) {
      try log.compact { if $0.number == 5 { throw CancellationError() } else { true } }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["test.stowlog"])
    try log.append(10)
    #expect(try log.records.map { try $0.decode(Int.self) } == Array(0...10))
  }
}
