import Stow

/// `verify`: whether messages are valid, and canonical.
enum Verify {
  static let verb = Verb(
    name: "verify", operands: "[options] FILE …", files: 1...Int.max,
    summary: "says whether messages, logs and streams are valid, and where they are not",
    details: """
      A file is mapped and walked over from end to end. That takes memory for the prelude and for the keys of the largest
      map, whatever the size of the file, and for the value of one record of a log.

      With --canonical, the value is also made and written again, which takes memory for all of it. A message of types whose
      keys are fixed, as those of structs are, may be canonical and still not what a value of unknown type writes; then it
      is said that this is not known.
      """,
    options: [
      Option("--canonical", nil, "say whether a canonical writer would have written the same bytes, too"),
      Option("--quiet", nil, "say nothing of files that are as they should be", short: "-q"),
      Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let context = try Walks.context(arguments)
    return await arguments.forEachFile { path, output in
      let input = try Input(path)
      let (text, isFine) = try verdict(input, context, arguments)
      if !isFine || !arguments.has("--quiet") {
        output.line("\(input.name): \(text)")
      }
      return isFine ? .fine : .differs
    }
  }

  private static func verdict(
    _ input: Input, _ context: StowContext?, _ arguments: Arguments
  ) throws -> (text: String, isFine: Bool) {
    // What is wrong with segments, and between them, the reader of the log finds.
    if input.segments == nil, let fault = Walks.fault(in: input, context) { return (fault, false) }
    // The walk neither puts together records of several blocks nor unpacks packed ones.
    if input.kind == .log, let fault = try Logs.fault(in: input) { return ("not valid: \(fault)", false) }
    guard arguments.has("--canonical"), input.kind == .message else { return ("valid", true) }
    switch try Canonicality.of(input, context, Contents.decoder(arguments)) {
    case .canonical: return ("valid and canonical", true)
    case .flawed(let reason): return ("valid, but not canonical at \(reason)", false)
    case .unknown(let offset):
      return ("valid; a value of unknown type would be written otherwise from offset \(offset) on", true)
    }
  }
}
