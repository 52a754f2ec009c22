/// One thing that the command does.
struct Verb: Sendable {
  let name: String
  /// The words after the name, as help shows them.
  let operands: String
  /// How many files it takes.
  let files: ClosedRange<Int>
  /// The words of which one stands before its files, if any.
  var words: [String] = []
  /// A line that describes it.
  let summary: String
  /// Everything else that help says about it.
  var details = ""
  var options: [Option] = []
  /// Whether the last file is standard input, if that file is not named and something is piped into the
  /// command.
  var readsInput = true
  let run: @Sendable (Arguments) async throws -> ExitCode
}
