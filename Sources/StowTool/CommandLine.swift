/// One thing that the command does.
struct Verb: Sendable {
  let name: String
  /// The words after the name, as help shows them.
  let operands: String
  /// How many files it takes.
  let files: ClosedRange<Int>
  /// The choices for the word before its files.
  var words: [String] = []
  /// A line that describes it.
  let summary: String
  /// Everything else that help says about it.
  var details = ""
  var options: [Option] = []
  /// Whether the last file is standard input, if that file is not named and something is piped into the command.
  var readsInput = true
  let run: @Sendable (Arguments) async throws -> ExitCode
}

/// An option of a verb: `--name`, or `--name VALUE`.
struct Option: Sendable {
  let name: String
  /// A letter with the same meaning.
  let short: String?
  /// The name of the value in help; nil for an option without one.
  let value: String?
  let help: String

  init(_ name: String, _ value: String?, _ help: String, short: String? = nil) {
    self.name = name
    self.value = value
    self.help = help
    self.short = short
  }
}

/// The words after a verb on the command line.
struct Arguments {
  /// The file name that means standard input, or standard output.
  static let standardFile = "-"

  private(set) var files: [String] = []
  private var values: [String: String] = [:]

  /// - Throws: `Failure` for an option that the verb does not have, or one without its value.
  init(_ words: some Sequence<String>, of verb: Verb) throws {
    var words = Array(words)[...]
    while let word = words.popFirst() {
      if word == "--" {
        files += words
        return
      }
      guard word.hasPrefix("-"), word != Self.standardFile else {
        files.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = verb.options.first(where: { $0.name == parts[0] || $0.short == parts[0] }) else {
        let other = Words.nearest(to: parts[0], among: verb.options.map(\.name))
        throw Failure(
          "\(verb.name) has no option \(parts[0]); "
            + (other.map { "did you mean \($0)?" } ?? "see: stowtool help \(verb.name)"))
      }
      if option.value == nil {
        guard parts.count == 1 else { throw Failure("\(option.name) takes no value") }
        values[option.name] = ""
      } else {
        guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
          throw Failure("\(option.name) needs a value")
        }
        values[option.name] = value
      }
    }
  }

  /// Reads standard input in place of the missing file.
  mutating func readInput(of verb: Verb) {
    if files.count + 1 == verb.files.lowerBound { files.append(Self.standardFile) }
  }

  /// The same without the first word, which is no file.
  var droppingFirst: Arguments {
    var rest = self
    rest.files.removeFirst()
    return rest
  }

  /// Calls `body` for each file. After a failure, which is reported, it goes on.
  ///
  /// - Returns: The worst code.
  func forEachFile(_ body: (String, Output) async throws -> ExitCode) async -> ExitCode {
    let output = Output()
    var code = ExitCode.fine
    for file in files {
      do {
        code = try await code.or(body(file, output))
        output.flush()
      } catch {
        output.flush()
        let failure = error as? Failure ?? Failure("\(error)")
        Output.complain(failure.reason)
        code = code.or(failure.code)
      }
    }
    return code
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  func value(_ option: String) -> String? { values[option] }

  /// Returns the value of an option that is a number, 0 or more, in decimal or, after `0x`, hexadecimal digits.
  func number(_ option: String) throws -> Int? {
    guard let text = values[option] else { return nil }
    let digits = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    guard let number = digits, number >= 0 else { throw Failure("\(option) needs a number, not \"\(text)\"") }
    return number
  }
}

/// The exit code of the command.
enum ExitCode: Int32 {
  case fine = 0
  /// Two files differ, or one is not valid.
  case differs = 1
  /// The command was called wrongly, or a file could not be read or written.
  case failed = 2

  /// Returns the worse of both.
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

  /// Returns the reason without the name of the file, with which that of a log begins.
  func reason(of name: String) -> String {
    // Not by characters: the last of the name may be one together with the colon.
    guard reason.utf8.starts(with: "\(name): ".utf8) else { return reason }
    return String(Substring(reason.utf8.dropFirst(name.utf8.count + 2)))
  }
}
