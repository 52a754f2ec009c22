import Foundation

/// Standard error: where progress and complaints go, so that standard output holds the report alone.
enum StandardError {
  /// Writes one line.
  static func print(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
