import Stow
import StowNotation

/// `print`: the values of files in diagnostic notation.
enum Print {
  static let verb = Verb(
    name: "print", operands: "[options] FILE …", files: 1...Int.max,
    summary: "writes values in diagnostic notation",
    details: """
      Diagnostic notation is like JSON, with every kind of value to be seen, and exact: stowtool parse makes a message of
      it. Format/Notation.md specifies it. Of several files, and of the records of a log, each is a value of its own.
      """,
    options: Contents.options + [
      Option("--depth", "N", "count what is deeper than N levels only: [… 12]"),
      Option("--width", "N", "break lines that are longer; 100 by default, 0 for one line"),
      Option("--color", "WHEN", "always, never or auto; auto by default"),
    ],
    run: run)

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    var writer = NotationWriter(width: 100)
    if let width = try arguments.number("--width") { writer.width = width == 0 ? nil : width }
    if let depth = try arguments.number("--depth") { writer.depth = depth }
    if try Colors.areWanted(arguments) { writer.marks = Colors.marks }
    var output = Output()
    var isWhole = true
    for path in arguments.files {
      do {
        isWhole =
          try Contents.forEach(in: path, arguments) { value, _ in output.line(writer.text(of: value)) }
          && isWhole
      } catch let failure as Failure where failure.code == .differs && arguments.files.count > 1 {
        output.flush()
        Output.complain(failure.reason)
        isWhole = false
      }
    }
    output.flush()
    return isWhole ? .fine : .differs
  }
}
