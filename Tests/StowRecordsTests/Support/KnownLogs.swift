import Foundation

@testable import StowRecords

/// Logs whose every byte is known: their identity is always the same.
enum KnownLogs {
  static let path = "/log"

  /// The bytes of a log that `steps` have written.
  static func bytes(
    identity: UInt64 = 0x0807_0605_0403_0201, _ steps: (SimulatedDisk) throws -> Void
  ) throws -> [UInt8] {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: path, on: disk, identity: identity)
    // Whoever made it is killed, so that the log has nothing but its head.
    withExtendedLifetime(log) { disk.stop() }
    try steps(disk)
    return disk.bytes(of: path) ?? []
  }

  /// Opens the log, appends some records at once, and closes it.
  static func append<Value: Encodable>(_ values: Value..., on disk: SimulatedDisk) throws {
    let log = try RecordLog(at: path, on: disk)
    try log.append(contentsOf: values)
    try log.close()
  }

  static func reader(of bytes: [UInt8]) throws -> RecordLogReader {
    let disk = SimulatedDisk()
    disk.setBytes(bytes, of: path)
    return try RecordLogReader(at: path, on: disk)
  }
}
