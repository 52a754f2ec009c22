import Stow
import StowNotation

/// Colours of a terminal.
enum Colors {
  /// Returns whether they are wanted: `--color` says so, or standard output is a terminal and `NO_COLOR` is
  /// not set.
  static func areWanted(_ arguments: Arguments) throws -> Bool {
    switch arguments.value("--color") ?? "auto" {
    case "always": true
    case "never": false
    case "auto":
      System.isTerminal(.output) && (System.environment("NO_COLOR") ?? "").isEmpty
        && System.environment("TERM") != "dumb"
    case let other: throw Failure("--color needs always, never or auto, not \"\(other)\"")
    }
  }

  static let marks: NotationWriter.Marks = { part in
    let code =
      switch part {
      case .key: "34"
      case .string: "32"
      case .number: "36"
      case .word: "35"
      case .kind: "33"
      case .folded: "2"
      }
    return ("\u{1B}[\(code)m", "\u{1B}[0m")
  }
}
