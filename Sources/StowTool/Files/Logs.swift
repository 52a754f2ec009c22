import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Files of records, as their library opens them.
enum Logs {
  /// Opens a log for reading. What came through a pipe is put into a file for as long as `body` takes.
  static func reading<Result>(_ input: Input, _ body: (RecordLogReader) throws -> Result) throws -> Result {
    guard input.isPiped else { return try body(try open(URL(named: input.name), input)) }
    let copy = FileManager.default.temporaryDirectory.appending(path: "stowtool-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: copy) }
    do {
      try input.data.write(to: copy, options: .withoutOverwriting)
    } catch {
      throw Failure("\(input.name): there is no room for a copy of the log")
    }
    return try body(try open(copy, input))
  }

  private static func open(_ url: URL, _ input: Input) throws -> RecordLogReader {
    do {
      return try RecordLogReader(at: url)
    } catch let error as RecordLogError {
      if error.reason == .notALog, input.kind != .log { throw noLog(input) }
      throw failure(error)
    }
  }

  /// Returns what cannot be read in a log, in a sentence; nil if everything can.
  static func fault(in input: Input) throws -> String? {
    try reading(input) { log in
      for record in log.records {
        do {
          _ = try record.decode(StowValue.self)
        } catch let error as DecodingError {
          return "record \(record.number): \(Contents.reason(error))"
        }
      }
      if let damage = log.damage.first { return "\(damage)" }
      return log.recovery.bytes.isEmpty ? nil : "\(log.recovery)"
    }
  }

  /// Returns the failure of a verb that takes a log and got something else, with what that is.
  static func noLog(_ input: Input) -> Failure {
    Failure("\(input.name): \(noLogReason(input))", .differs)
  }

  private static func noLogReason(_ input: Input) -> String {
    if input.kind == .stream { return "this is a stream of records, and no log" }
    if input.data.isEmpty { return "this is an empty file, and no log" }
    let isRelying = input.data.starts(with: [0x7F, 0x01])
    if isRelying || Walks.fault(in: input, nil) == nil { return "this is a message, and no log" }
    return input.fault("this is no log")
  }

  /// Returns the failure of the command for an error of a log.
  static func failure(_ error: RecordLogError) -> Failure {
    switch error.reason {
    case .notALog, .unsupportedVersion, .damaged, .noSuchRecord, .removed: Failure("\(error)", .differs)
    default: Failure("\(error)")
    }
  }
}
