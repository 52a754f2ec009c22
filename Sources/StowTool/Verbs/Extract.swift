import Stow

/// `extract` and `context`: messages made from what files hold.
enum Extract {
  static let verb = Verb(
    name: "extract", operands: "[options] FILE", files: 1...1,
    summary: "makes a message of a part of another, or of a record",
    details: """
      The message means the same as the part, and holds the keys and strings that it needs: stowtool extract --path
      people[3] -o ada.stow people.stow. Objects have free keys, as in messages that stowtool parse makes.
      """,
    options: Contents.options + Output.options
  ) { arguments in
    let value = try Contents.value(in: arguments.files[0], arguments)
    try Output.write(message: value.encoded(), arguments)
    return .fine
  }

  static let context = Verb(
    name: "context", operands: "learn|print [options] FILE …", files: 2...Int.max, words: ["learn", "print"],
    summary: "learns a context from samples, or says what one holds",
    details: """
      learn makes the message of a context. The samples are the values of the files: messages, and the records of logs and
      streams. A list of keys is learnt if two samples have it, and so is a string. Messages of structs become a little smaller
      with a context that a program learns from the structs themselves.

      print says the id of a context, the lists of keys and the strings.
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
