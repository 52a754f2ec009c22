import Stow

/// `inspect`: the bytes of messages, and what they mean.
enum Inspect {
  static let verb = Verb(
    name: "inspect", operands: "[options] FILE …", files: 1...Int.max,
    summary: "writes the bytes of a message in hexadecimal, with their meaning beside them",
    details: """
      On each line: the offset, the bytes, indented by what they are inside of, and what they are. Broken messages are
      written up to where they break. Of a log that is a folder of segments, each follows the name of its file, with the
      offsets in it.
      """,
    options: [
      Option("--at", "OFFSET", "only the bytes at an offset, and what they are inside of"),
      Option("--full", nil, "all bytes of long strings and data, too"), Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let context = try Walks.context(arguments)
    let layout = Inspector.Layout(isFull: arguments.has("--full"), wanted: try arguments.number("--at"))
    return await arguments.forEachFile { path, _ in
      let input = try Input(path)
      if layout.wanted != nil, let segments = input.segments {
        throw Failure("\(path): an offset is one in a file; name a segment, such as \(segments[0].path)")
      }
      let isNamed = arguments.files.count > 1 || input.segments != nil
      var areWhole = true
      try input.forEachFile { areWhole = try isWhole($0, context, layout, isNamed: isNamed) && areWhole }
      return areWhole ? .fine : .differs
    }
  }

  /// Writes the bytes of a file, and returns whether it is valid.
  private static func isWhole(
    _ input: Input, _ context: StowContext?, _ layout: Inspector.Layout, isNamed: Bool
  ) throws -> Bool {
    if let wanted = layout.wanted, wanted >= input.data.count {
      throw Failure(
        "\(input.name): there is no offset \(wanted) among \(Words.count(input.data.count, "byte"))")
    }
    let broken = Walks.walk(input, context) { reader in
      var inspector = Inspector(reader, layout)
      if isNamed { inspector.output.line("\(input.name):") }
      return inspector
    } finish: {
      $0.output.flush()
    }
    if let broken {
      Output.complain("\(input.name): broken at offset \(broken.offset): \(input.fault(broken.reason))")
    }
    return broken == nil
  }
}
