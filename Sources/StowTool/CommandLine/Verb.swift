/// One thing that the command does.
struct Verb: Sendable {
  let name: String
  /// What stands after the name, as help shows it.
  let operands: String
  /// How many files it takes.
  let files: ClosedRange<Int>
  /// A line about it.
  let summary: String
  /// What else there is to say.
  var details = ""
  var options: [Option] = []
  /// Whether the last file is standard input, if none is named and something is piped into the command.
  var readsInput = true
  let run: @Sendable (Arguments) async throws -> ExitCode
}
