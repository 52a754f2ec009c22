import Stow
import StowNotation

/// `print`: the values of files in diagnostic notation.
enum Print {
  static let verb = Verb(
    name: "print", operands: "[options] FILE …", files: 1...Int.max,
    summary: "print values in diagnostic notation",
    details: """
      Diagnostic notation looks like JSON, but is exact and shows the kind of every value (Format/Notation.md). stowtool
      parse reads it. Each file, and each record of a log or stream, is one value. --path decodes only that part; elements
      and records without it are skipped, and counted on standard error.
      """,
    options: Contents.options + [
      Option("--depth", "N", "only count what is nested deeper than N levels: [… 12]"),
      Option("--numbers", nil, "print the number of each record before it"),
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
    Option("--width", "N", "break lines longer than N; 0 for none; by default the width of the terminal, or 100"),
    Option("--lines", nil, "print each value on one line (--width 0); with the verb json, JSON Lines"),
    Option("--follow", nil, "keep printing records as they are appended to a log", short: "-f"),
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
      writer.sink = output.text
      func write(_ value: StowValue, _ record: Int?) throws {
        do {
          let value = try prepare(value, record.map { "\(path): record \($0)" } ?? path, [])
          let number = arguments.has("--numbers") ? record.map { "\($0): " } ?? "" : ""
          output.text(number)
          output.line(writer.text(of: value, used: number.utf8.count))
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

/// Writes the value of a large message part by part, as `NotationWriter` writes it: only one part is held at a time.
struct LargeValues {
  /// Returns a part as it is written. Throws for one that the form of the text does not have.
  typealias Prepare = (StowValue, _ part: StowPath) throws -> StowValue

  /// Arrays and objects with more elements than these are written element by element. The first limit is for those that
  /// are among few others, whose elements are then also looked into; the second for the elements of large ones.
  private static let (mostAbove, mostInside) = (64, 1000)
  /// Everything below this many levels is one part.
  private static let mostLevels = 4

  private var writer: NotationWriter
  private let prepare: Prepare

  /// Writes a message and the end of its line to the sink of the writer.
  ///
  /// - Returns: False if it has no long arrays and objects; then nothing was written.
  static func write(_ message: StowMessage, _ writer: NotationWriter, _ prepare: Prepare) throws -> Bool {
    // Folded values are only counted, so their parts are not written.
    guard writer.depth == .max else { return false }
    return try withoutActuallyEscaping(prepare) { prepare in
      var values = LargeValues(writer: writer, prepare: prepare)
      guard try values.isLarge(message, level: 0, isAmongFew: true) else { return false }
      // Nothing is written if the message cannot be read to its end.
      values.writer.sink = nil
      try values.write(message, indent: 0, used: 0, level: 0, isAmongFew: true)
      values.writer = writer
      try values.write(message, indent: 0, used: 0, level: 0, isAmongFew: true)
      values.put("\n")
      return true
    }
  }

  /// Returns whether a value has too many elements to be held as a whole, and so to be put on one line.
  ///
  /// - Parameter isAmongFew: Whether its container has few elements, so that there is time to look inside.
  private func isLarge(_ part: StowMessage, level: Int, isAmongFew: Bool) throws -> Bool {
    let kind = try part.kind()
    guard kind == .array || kind == .object, level < Self.mostLevels else { return false }
    let count = try part.count()
    if count > max(isAmongFew ? Self.mostAbove : Self.mostInside, writer.width ?? 0) { return true }
    // An object that stands for a kind of value is written as one.
    if try !isAmongFew || count == 1 && kind == .object && part.keys()[0].utf8.first == UInt8(ascii: "$") {
      return false
    }
    for element in try part.elements() where try isLarge(element, level: level + 1, isAmongFew: true) { return true }
    return false
  }

  private mutating func write(_ part: StowMessage, indent: Int, used: Int, level: Int, isAmongFew: Bool)
    throws
  {
    guard try isLarge(part, level: level, isAmongFew: isAmongFew) else {
      let value = try prepare(part.decode(StowValue.self), part.path)
      if writer.sink != nil { put(writer.text(of: value, indent: indent, used: used)) }
      return
    }
    let isObject = try part.kind() == .object
    let count = try part.count()
    var left = count
    put(isObject ? "{" : "[")
    for element in try part.elements() {
      left -= 1
      newLine(indent + 2)
      var used = indent + 2 + (left > 0 ? 1 : 0)
      if isObject, case .key(let key)? = element.path.steps.last {
        let (text, width) = writer.text(ofKey: key)
        put(text)
        used += width
      }
      try write(element, indent: indent + 2, used: used, level: level + 1, isAmongFew: count <= Self.mostAbove)
      if left > 0 { put(writer.width == nil ? ", " : ",") }
    }
    newLine(indent)
    put(isObject ? "}" : "]")
  }

  private mutating func put(_ text: String) { writer.sink?(text) }

  private mutating func newLine(_ indent: Int) {
    if writer.width != nil { put("\n" + String(repeating: " ", count: indent)) }
  }
}

/// Colours of a terminal.
enum Colors {
  /// Returns whether they are wanted: `--color` says so, or standard output is a terminal and `NO_COLOR` is not set.
  static func areWanted(_ arguments: Arguments) throws -> Bool {
    switch arguments.value("--color") ?? "auto" {
    case "always": true
    case "never": false
    case "auto":
      System.isTerminal(.output) && (System.environment("NO_COLOR") ?? "").isEmpty
        && System.environment("TERM") != "dumb"
    case let other: throw Failure("--color needs always, never or auto, not \"\(other)\"")
    }
  }

  static let marks: NotationWriter.Marks = { part in
    let code =
      switch part {
      case .key: "34"
      case .string: "32"
      case .number: "36"
      case .word: "35"
      case .kind: "33"
      case .folded: "2"
      }
    return ("\u{1B}[\(code)m", "\u{1B}[0m")
  }
}
