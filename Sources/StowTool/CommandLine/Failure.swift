/// The exit code of the command.
enum ExitCode: Int32 {
  case fine = 0
  /// Two files differ, or one is not valid.
  case differs = 1
  /// The command was called wrongly, or a file could not be read or written.
  case failed = 2

  /// What is said where both came of different files.
  func or(_ other: ExitCode) -> ExitCode { rawValue < other.rawValue ? other : self }
}

/// The reason why a verb failed: a line on standard error.
struct Failure: Error {
  let reason: String
  let code: ExitCode

  init(_ reason: String, _ code: ExitCode = .failed) {
    self.reason = reason
    self.code = code
  }
}
