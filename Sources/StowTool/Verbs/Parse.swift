import Stow
import StowNotation
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `parse`: the message of a value in diagnostic notation.
enum Parse {
  static let verb = Verb(
    name: "parse", operands: "[-o OUT] FILE", files: 1...1,
    summary: "makes a message of a value in diagnostic notation",
    details: """
      JSON is such a text, too. What stowtool print wrote becomes the same message again, if all objects have free keys:
      of structs the bytes may be others, that mean the same. With --log, each line of the file is a value.
      """,
    options: options
  ) { arguments in
    try write(arguments) { try StowValue(notation: $0) }
  }

  static let options =
    Output.options + [Option("--log", "LOG", "append the value of each line to this log, which may be new")]

  /// Writes the message of the value that `read` makes of the text of the file, or appends those of its lines to a log.
  static func write(_ arguments: Arguments, _ read: (String) throws -> StowValue) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    if let log = arguments.value("--log") { return try append(input, to: log, read) }
    try Output.write(message: value(of: input.text(), input.name, read).encoded(), arguments)
    return .fine
  }

  private static func value(
    of text: String, _ place: String, _ read: (String) throws -> StowValue
  ) throws -> StowValue {
    do {
      return try read(text)
    } catch let error as StowNotationError {
      throw Failure("\(place):\(error)", .differs)
    } catch let error as TypedJSON.Fault {
      throw Failure("\(place): \(error.reason)", .differs)
    }
  }

  /// Appends the values of lines to a log: those before a line that is wrong, or all.
  private static func append(
    _ input: Input, to path: String, _ read: (String) throws -> StowValue
  ) throws -> ExitCode {
    do {
      let log = try RecordLog(at: URL(filePath: path), durability: .manual)
      defer { try? log.close() }
      for (index, line) in input.data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .enumerated()
      {
        guard let text = String(bytes: line, encoding: .utf8) else {
          throw Failure("\(input.name), line \(index + 1): not UTF-8", .differs)
        }
        if text.allSatisfy(\.isWhitespace) { continue }
        try log.append(try value(of: text, "\(input.name), line \(index + 1)", read))
      }
      try log.close()
      return .fine
    } catch let error as RecordLogError {
      throw Logs.failure(error)
    }
  }
}
