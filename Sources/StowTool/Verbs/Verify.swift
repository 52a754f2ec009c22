import Stow

/// `verify`: whether messages are valid.
enum Verify {
  static let verb = Verb(
    name: "verify", operands: "[options] FILE …", files: 1...Int.max,
    summary: "says whether messages are valid, and where they are not",
    details: """
      A file is mapped and walked over from end to end. That takes memory for its prelude, whatever its size.
      """,
    options: [
      Option("--quiet", nil, "say nothing of files that are valid", short: "-q"), Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let context = try Walks.context(arguments)
    var output = Output()
    var code = ExitCode.fine
    for path in arguments.files {
      let input = try Input(path)
      var path = Path()
      let broken = Walks.walk(input, context) { _ in
        PathFollower()
      } finish: {
        path = $0.path
      }
      if let broken {
        let place = path.count > 0 ? ", in \(path)" : ""
        output.line("\(input.name): not valid at offset \(broken.offset)\(place): \(broken.reason)")
        code = .differs
      } else if !arguments.has("--quiet") {
        output.line("\(input.name): valid")
      }
    }
    output.flush()
    return code
  }
}

/// Knows where a walk is, and so where it broke off.
struct PathFollower: StructureVisitor {
  private(set) var path = Path()

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {}
  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}
