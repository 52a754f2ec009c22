import Stow
import StowNotation

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
      of structs the bytes may be others, that mean the same.
      """,
    options: Output.options
  ) { arguments in
    try write(arguments) { try StowValue(notation: $0) }
  }

  /// Writes the message of the value that `read` makes of the text of the file.
  static func write(_ arguments: Arguments, _ read: (String) throws -> StowValue) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    let message: Data
    do {
      message = try read(try input.text()).encoded()
    } catch let error as StowNotationError {
      throw Failure("\(input.name):\(error)", .differs)
    } catch let error as TypedJSON.Fault {
      throw Failure("\(input.name): \(error.reason)", .differs)
    }
    try Output.write(message: message, arguments)
    return .fine
  }
}
