#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Standard output, standard error, and files that are written.
struct Output {
  private var pending: [UInt8] = []

  /// The number of pending bytes at which they are written.
  private static let most = 1 << 16

  mutating func line(_ text: String) { self.text(text + "\n") }

  mutating func text(_ text: String) {
    pending += text.utf8
    if pending.count >= Self.most { flush() }
  }

  /// Writes what is pending. Ends the command if nobody reads it.
  mutating func flush() {
    Self.write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  private static func write(_ bytes: [UInt8]) {
    switch System.write(bytes, to: .output) {
    case .all: break
    case .nobodyReads: System.end(ExitCode.fine.rawValue)
    case .failed:
      complain("standard output cannot be written")
      System.end(ExitCode.failed.rawValue)
    }
  }

  /// Writes a line to standard error.
  static func complain(_ text: String) { _ = System.write(Array("stowtool: \(text)\n".utf8), to: .error) }

  /// Writes a message to the file that `-o` names, or to standard output if that is not a terminal.
  static func write(message: Data, _ arguments: Arguments) throws {
    if let path = arguments.value("--output") {
      do {
        try message.write(to: URL(named: path))
      } catch {
        throw Failure("\(path): cannot be written")
      }
    } else if System.isTerminal(.output), !arguments.has("--force") {
      throw Failure(
        "a message is no text for a terminal: name a file with -o, or write it anyway with --force")
    } else {
      write([UInt8](message))
    }
  }

  /// The options of `write(message:_:)`.
  static let options = [
    Option("--output", "FILE", "write to this file instead of standard output", short: "-o"),
    Option("--force", nil, "write the message to a terminal, too"),
  ]
}
