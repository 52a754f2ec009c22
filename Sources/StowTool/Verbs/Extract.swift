import Stow

/// `extract` and `context`: messages made from what files hold.
enum Extract {
  static let verb = Verb(
    name: "extract", operands: "[options] FILE", files: 1...1,
    summary: "make a message from a part of another, or from a record",
    details: """
      The new message holds only the keys and strings that the part needs: stowtool extract --path people[3] -o ada.stow
      people.stow. Its objects have free keys, like those of stowtool parse.
      """,
    options: Contents.options + Output.options
  ) { arguments in
    let value = try Contents.value(in: arguments.files[0], arguments)
    try Output.write(message: value.encoded(), arguments)
    return .fine
  }

  static let context = Verb(
    name: "context", operands: "learn|print [options] FILE …", files: 2...Int.max, words: ["learn", "print"],
    summary: "learn a context from samples, or print one",
    details: """
      learn makes a context from samples: messages, and the records of logs and streams. It contains lists of keys and strings
      that occur in two samples. For structs, a context learned in a program makes messages a little smaller.

      print shows the id of a context, its lists of keys and its strings.
      """,
    options: Contents.options + Output.options
  ) { arguments in
    let files = arguments.files.dropFirst()
    switch arguments.files[0] {
    case "learn":
      var samples: [StowValue] = []
      var isWhole = true
      for file in files {
        isWhole = try Contents.forEach(in: file, arguments) { value, _ in samples.append(value) } && isWhole
      }
      try Output.write(message: StowContext(learningFrom: samples).data, arguments)
      return isWhole ? .fine : .differs
    case "print":
      return await arguments.droppingFirst.forEachFile { file, output in
        let context = try Walks.context(in: file)
        output.line("\(context)")
        for keys in context.shapes {
          output.line("  {\(keys.map { Words.quoted($0, 40) }.joined(separator: ", "))}")
        }
        for symbol in context.symbols { output.line("  \(Words.quoted(symbol, 80))") }
        return .fine
      }
    case let other: throw Failure("context learns or prints: stowtool context learn, not \(other)")
    }
  }
}
