/// `stowtool`: looks into messages, and into logs of them.
@main
struct Command {
  static func main() async {
    System.fillClosedDescriptors()
    System.ignoreBrokenPipes()
    System.end(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }

  private static func run(_ words: [String]) async -> ExitCode {
    do {
      return try await call(words)
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
    case "help", "--help", "-h":
      return try words.dropFirst().first.map { say(Help.text(of: try named($0))) } ?? say(Help.overview)
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
    guard let other = Words.nearest(to: name, among: Verbs.all.map(\.name)) else {
      throw Failure("there is no verb \"\(name)\"\n\n\(Help.overview)")
    }
    throw Failure("there is no verb \"\(name)\"; did you mean \(other)?")
  }

  private static func say(_ text: String) -> ExitCode {
    var output = Output()
    output.line(text)
    output.flush()
    return .fine
  }
}
