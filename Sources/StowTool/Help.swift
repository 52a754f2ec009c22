/// What the command says about itself.
enum Help {
  static let version = "stowtool 0.1.0, Stow format 1"

  static var overview: String {
    let verbs = Verbs.all.map { "  \(Words.padded($0.name, 12))\($0.summary)" }.joined(separator: "\n")
    return """
      Looks into Stow messages, and into logs of them.

      stowtool VERB … FILE

      \(verbs)
        \(Words.padded("help", 12))says more about a verb: stowtool help print
        \(Words.padded("--version", 12))says which version this is

      "-" as a file is standard input, and so is the last file if it is left out and something is piped in. A log may be a
      folder of segments. The exit code is 0 if all is fine, 1 if something differs or is not valid, and 2 if the command was
      called wrongly or a file cannot be read or written.
      """
  }

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
