/// All that the command does.
enum Verbs {
  static let all = [
    Print.verb, View.verb, Info.verb, JSONVerbs.toJSON, JSONVerbs.fromJSON, Parse.verb, Inspect.verb,
    Sizes.verb, Diff.verb, Verify.verb, Extract.verb, Extract.context, Types.verb, LogVerbs.log,
    LogVerbs.recover, LogVerbs.compact,
    Completions.verb,
    ManualPage.verb,
  ]

  static func named(_ name: String) -> Verb? { all.first { $0.name == name } }
}
