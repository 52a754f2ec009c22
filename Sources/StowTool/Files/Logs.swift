import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Files of records, as their library opens them.
enum Logs {
  /// Opens a log for reading.
  static func open(_ path: String) throws -> RecordLog {
    do {
      return try RecordLog(readingFrom: URL(filePath: path))
    } catch let error as RecordLogError {
      throw failure(error)
    }
  }

  /// What a log could not do, as the end of the command.
  static func failure(_ error: RecordLogError) -> Failure {
    switch error.reason {
    case .notALog, .laterVersion, .damaged, .noSuchRecord: Failure("\(error)", .differs)
    default: Failure("\(error)")
    }
  }
}
