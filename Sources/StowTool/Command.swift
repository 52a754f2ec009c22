/// `stowtool`: inspects and converts messages, logs and streams.
@main
struct Command {
  static func main() async {
    System.fillClosedDescriptors()
    System.ignoreBrokenPipes()
    System.explainShortenedFiles()
    System.end(await run().rawValue)
  }

  private static func run() async -> ExitCode {
    do {
      return try await call(System.words())
    } catch let failure as Failure {
      Output.complain(failure.reason)
      return failure.code
    } catch {
      Output.complain("\(error)")
      return .failed
    }
  }

  private static func call(_ words: [String]) async throws -> ExitCode {
    guard let first = words.first else { throw Failure("no verb\n\n\(Help.overview)") }
    switch first {
    case "--version": return say(Help.version)
    case let word where Help.words.contains(word):
      guard let name = words.dropFirst().first, !Help.words.contains(name) else { return say(Help.overview) }
      return say(Help.text(of: try named(name)))
    default: break
    }
    let verb = try named(first)
    let rest = words.dropFirst()
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      return say(Help.text(of: verb))
    }
    var arguments = try Arguments(rest, of: verb)
    if verb.readsInput, !System.isTerminal(.input) { arguments.readInput(of: verb) }
    guard verb.files.contains(arguments.files.count) else {
      throw Failure("usage: stowtool \(verb.name) \(verb.operands)")
    }
    return try await verb.run(arguments)
  }

  private static func named(_ name: String) throws -> Verb {
    if let verb = Verbs.named(name) { return verb }
    let other = Verbs.synonyms[name] ?? Words.nearest(to: name, among: Verbs.all.map(\.name))
    let hint = other.map { "did you mean \($0)?" } ?? "see: stowtool help"
    throw Failure("there is no verb \"\(name)\"; \(hint)")
  }

  static func say(_ text: String) -> ExitCode {
    let output = Output()
    output.line(text)
    output.flush()
    return .fine
  }
}

/// What the command says about itself.
enum Help {
  static let version = "stowtool 0.1.0 (unreleased), Stow format 1"
  /// The words that ask for it.
  static let words = ["help", "--help", "-h"]

  static var overview: String {
    let verbs = Verbs.all.map { "  \(Words.padded($0.name, 12))\($0.summary)" }.joined(separator: "\n")
    return """
      Inspects and converts Stow messages, logs and streams.

      stowtool VERB … FILE

      \(verbs)
        \(Words.padded("help", 12))explain a verb: stowtool help print
        \(Words.padded("--version", 12))print the version

      \(files)
      Exit status: \(exitCodes)
      """
  }

  static let files = """
    "-" is standard input or output. Piped input replaces a missing last file. A log may be a folder of segments.
    """
  static let exitCodes = "0 for success, 1 if something differs or is invalid, 2 for other errors."

  static func text(of verb: Verb) -> String {
    var text = "\(verb.summary)\n\nstowtool \(verb.name) \(verb.operands)"
    if !verb.options.isEmpty {
      text += "\n"
      for option in verb.options {
        let name = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
        text +=
          "\n  \(Words.padded([name, option.value].compactMap { $0 }.joined(separator: " "), 24))\(option.help)"
      }
    }
    if !verb.details.isEmpty { text += "\n\n\(verb.details)" }
    return text
  }
}

/// All that the command does.
enum Verbs {
  static let all = [
    Print.verb, View.verb, Info.verb, JSONVerbs.toJSON, JSONVerbs.fromJSON, Parse.verb, Inspect.verb,
    Sizes.verb, Diff.verb, Verify.verb, Extract.verb, Extract.context, Types.verb, LogVerbs.log,
    LogVerbs.recover, LogVerbs.compact,
    Completions.verb,
    ManualPage.verb,
  ]

  /// Verbs by the names of the same in other tools.
  static let synonyms = [
    "cat": "print", "decode": "print", "show": "print", "tail": "print", "encode": "parse", "dump": "inspect",
    "hex": "inspect", "check": "verify", "validate": "verify", "compare": "diff", "repair": "recover",
    "open": "view", "stat": "info", "file": "info",
  ]

  static func named(_ name: String) -> Verb? { all.first { $0.name == name } }
}
