/// `completions`: what a shell offers after the Tab key.
enum Completions {
  static let verb = Verb(
    name: "completions", operands: "SHELL", files: 1...1, words: ["bash", "zsh", "fish"],
    summary: "print completions for bash, zsh or fish",
    details: """
        bash:  source <(stowtool completions bash)
        zsh:   source <(stowtool completions zsh)
        fish:  stowtool completions fish | source
      """, readsInput: false
  ) { arguments in
    let script: String
    switch arguments.files[0] {
    case "bash": script = bash
    case "zsh": script = zsh
    case "fish": script = fish
    case let other: throw Failure("there are completions for bash, zsh and fish, not for \(other)")
    }
    return Command.say(script)
  }

  /// The choices for the word after the first one, by that.
  private static var seconds: [(first: String, words: String)] {
    let choices = Verbs.all.map { ($0.name, $0.words) } + [("help", Verbs.all.map(\.name))]
    return choices.filter { !$0.1.isEmpty }.map { ($0.0, $0.1.joined(separator: " ")) }
  }

  /// The script of bash, which zsh can run once its own completions are there.
  private static var zsh: String {
    """
    (($+functions[compdef])) || { autoload -U compinit && compinit -i }
    autoload -U +X bashcompinit && bashcompinit
    \(bash)
    """
  }

  private static var bash: String {
    let cases = Verbs.all.map { verb in
      "    \(verb.name)) words=\"\(verb.options.map(\.name).joined(separator: " "))\" ;;"
    }
    let seconds = seconds.map { "    2\($0.first)) COMPREPLY=($(compgen -W \"\($0.words)\" -- \"$word\")) ;;" }
    return """
      _stowtool() {
        local word="${COMP_WORDS[COMP_CWORD]}" words=""
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\((Verbs.all.map(\.name) + ["help"]).joined(separator: " "))" -- "$word"))
          return
        fi
        case "${COMP_WORDS[1]}" in
      \(cases.joined(separator: "\n"))
        esac
        case "$COMP_CWORD${COMP_WORDS[1]}" in
      \(seconds.joined(separator: "\n"))
        esac
        case "$word" in -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;; esac
      }
      complete -o default -F _stowtool stowtool
      """
  }

  private static var fish: String {
    // A file, and a word after the first one, may have the name of a verb.
    func isFirst(_ verb: String) -> String { "contains \(verb) (commandline -opc)[2]" }
    let verbs = (Verbs.all.map { ($0.name, $0.summary) } + [("help", "explain a verb")]).map {
      "complete -c stowtool -n __fish_use_subcommand -f -a \($0) -d '\(quoted($1))'"
    }
    let options = Verbs.all.flatMap { verb in
      verb.options.map { option in
        "complete -c stowtool -n '\(isFirst(verb.name))' -l \(option.name.dropFirst(2))"
          + "\(option.value == nil ? "" : " -r") -d '\(quoted(option.help))'"
      }
    }
    let seconds = seconds.map {
      "complete -c stowtool -n '\(isFirst($0.first)); and test (count (commandline -opc)) -eq 2' -f -a '\($0.words)'"
    }
    return (verbs + seconds + options).joined(separator: "\n")
  }

  /// Returns a text escaped for single quotes in fish.
  private static func quoted(_ text: String) -> String {
    text.map { "\\'".contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}

/// `man`: the manual page.
enum ManualPage {
  static let verb = Verb(
    name: "man", operands: "", files: 0...0,
    summary: "print this manual page: stowtool man > stowtool.1", readsInput: false
  ) { _ in Command.say(text) }

  private static var text: String {
    var lines = [
      ".TH STOWTOOL 1", ".SH NAME", "stowtool \\- inspect and convert Stow messages, logs and streams",
      ".SH SYNOPSIS", ".B stowtool", "\\fIverb\\fR [\\fIoptions\\fR] \\fIfile\\fR ...", ".SH VERBS",
    ]
    for verb in Verbs.all {
      lines += [".SS \(escaped("stowtool \(verb.name) \(verb.operands)"))", escaped(verb.summary) + "."]
      if !verb.details.isEmpty {
        let details = verb.details.split(separator: "\n", omittingEmptySubsequences: false)
        lines += [".PP"] + details.map { $0.isEmpty ? ".PP" : escaped($0) }
      }
      for option in verb.options {
        let name = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
        lines += [".TP", "\\fB\(escaped(name))\\fR \(escaped(option.value ?? ""))", escaped(option.help)]
      }
    }
    lines += [
      ".SH FILES",
      Help.files,
      ".SH EXIT STATUS",
      Help.exitCodes,
    ]
    return lines.joined(separator: "\n")
  }

  /// Returns a line of text escaped for troff.
  private static func escaped(_ text: some StringProtocol) -> String {
    let line = text.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
    return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }
}
