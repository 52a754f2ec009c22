import Stow
import StowNotation

/// `print`: the values of files in diagnostic notation.
enum Print {
  static let verb = Verb(
    name: "print", operands: "[options] FILE …", files: 1...Int.max,
    summary: "writes values in diagnostic notation",
    details: """
      Diagnostic notation is like JSON, with every kind of value to be seen, and exact: stowtool parse makes a message of
      it. Format/Notation.md specifies it. Of several files, and of the records of a log, each is a value of its own. With --path, only
      that part is decoded; records that lack it are named on standard error, and passed over.
      """,
    options: Contents.options + [
      Option("--depth", "N", "count what is deeper than N levels only: [… 12]"),
      Option("--color", "WHEN", "always, never or auto; auto by default"),
    ] + Lines.options,
    run: run)

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    var writer = NotationWriter(width: try Lines.width(arguments))
    if let depth = try arguments.number("--depth") { writer.depth = depth }
    if try Colors.areWanted(arguments) { writer.marks = Colors.marks }
    return try await Lines.write(arguments, writer) { value, _, _ in value }
  }
}

/// Values as text, for the verbs that write them.
enum Lines {
  static let options = [
    Option(
      "--width", "N", "break lines that are longer; 0 for one line, by default the terminal's width, or 100"),
    Option("--lines", nil, "each value on a line of its own, as --width 0: JSON Lines, with the verb json"),
    Option("--follow", nil, "go on with the records that are still to be appended to a log", short: "-f"),
  ]

  /// Returns how wide lines may be; nil for any width.
  static func width(_ arguments: Arguments) throws -> Int? {
    if arguments.has("--lines") { return nil }
    guard let width = try arguments.number("--width") else { return System.terminalWidth ?? 100 }
    return width == 0 ? nil : width
  }

  /// Writes a text for each value of the files.
  ///
  /// - Parameter prepare: Returns what is written for a value, or for a part of a large one.
  static func write(
    _ arguments: Arguments, _ writer: NotationWriter,
    _ prepare: (StowValue, _ place: String, _ part: StowPath) throws -> StowValue
  ) async throws -> ExitCode {
    if arguments.has("--follow"), arguments.files.count > 1 { throw Failure("--follow takes one log") }
    return await arguments.forEachFile { path, output in
      var (writer, isWhole) = (writer, true)
      func write(_ value: StowValue, _ record: Int?) throws {
        do {
          output.line(writer.text(of: try prepare(value, record.map { "\(path): record \($0)" } ?? path, [])))
        } catch let failure as Failure where record != nil {
          // It concerns this record alone.
          Output.complain(failure.reason)
          isWhole = false
        }
        if arguments.has("--follow") { output.flush() }
      }
      if arguments.has("--follow") {
        return try await Contents.follow(path, arguments, write) && isWhole ? .fine : .differs
      }
      if let message = try Contents.largeMessage(in: path, arguments) {
        do {
          if try LargeValues.write(message, writer, { try prepare($0, path, $1) }) { return .fine }
        } catch let error as DecodingError {
          throw try Contents.failure(Input(path), Contents.decoder(arguments), error)
        }
      }
      return try Contents.forEach(in: path, arguments, write) && isWhole ? .fine : .differs
    }
  }
}
