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
    name: "parse", operands: "[options] FILE", files: 1...1,
    summary: "make a message from diagnostic notation",
    details: """
      JSON is diagnostic notation, too. Parsing what stowtool print printed gives the same message; for structs, it may have
      other bytes with the same meaning. With --log, each line of the file is a value; piped input is read to its end before
      anything is appended.
      """,
    options: options
  ) { arguments in try write(arguments) { NotationText($0) } }

  static let options =
    Output.options + [Option("--log", "LOG", "append the value of each line to this log, creating it if needed")]

  /// Makes an encodable text from bytes that outlive it.
  typealias Read = (UnsafeBufferPointer<UInt8>) -> NotationText

  /// Writes the message of the value in the file, or appends those of its lines to a log.
  static func write(_ arguments: Arguments, _ read: Read) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    if input.segments != nil { throw Failure("\(input.name): a folder, not a text") }
    if let log = arguments.value("--log") {
      if arguments.has("--output") { throw Failure("--log writes no message to the file of --output; choose one") }
      return try append(input, to: log, read)
    }
    let message = try withText(withoutMark(input.data), input.name, read) { text in
      do {
        return try StowEncoder().encode(text)
      } catch let error as StowNotationError where error.reason == StowNotationError.textAfterValue {
        throw Failure("\(input.name):\(error); --log LOG takes one value a line", .differs)
      }
    }
    try Output.write(message: message, arguments)
    return .fine
  }

  /// Removes the byte order mark U+FEFF, with which some editors begin a text.
  private static func withoutMark(_ text: Data) -> Data {
    text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
  }

  /// Lends a text to `body` without copying it.
  ///
  /// - Parameter line: Which line of the file the text is; nil for the whole file.
  private static func withText<Result>(
    _ data: Data, _ name: String, line: Int? = nil, _ read: Read, _ body: (NotationText) throws -> Result
  ) throws -> Result {
    try data.withUnsafeBytes { bytes in
      do {
        return try body(read(bytes.bindMemory(to: UInt8.self)))
      } catch let error as StowNotationError {
        throw Failure("\(name):\(line ?? error.line):\(error.column): \(error.reason)", .differs)
      } catch let error as TypedJSON.Fault {
        throw Failure("\(line.map { "\(name), line \($0)" } ?? name): \(error.reason)", .differs)
      }
    }
  }

  /// Appends the values of lines to a log: all of them, or those before a line that is wrong.
  private static func append(_ input: Input, to path: String, _ read: Read) throws -> ExitCode {
    try Logs.checkChangeable(path)
    do {
      let log = try RecordLog(at: URL(named: path), durability: .manual)
      var (rest, number, appended) = (input.data[...], 0, 0)
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        let line = withoutMark(rest[..<end])
        rest = rest[end...].dropFirst()
        number += 1
        if String(decoding: line, as: UTF8.self).allSatisfy(\.isWhitespace) { continue }
        do {
          try withText(line, input.name, line: number, read) { _ = try log.append($0.value()) }
        } catch let failure as Failure {
          try log.close()
          let values = appended == 0 ? "nothing" : "the \(Words.count(appended, "value"))"
          throw Failure("\(failure.reason); the log has \(values) of the lines before it", failure.code)
        }
        appended += 1
      }
      try log.close()
      return .fine
    } catch let error as RecordLogError {
      throw Logs.failure(error)
    }
  }
}
