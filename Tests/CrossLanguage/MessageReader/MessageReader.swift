import FuzzTargets
import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads messages, a line of hexadecimal digits each, and prints a line for each: what it means, or "refused".
///
/// With `--context` and the hexadecimal digits of its message, messages may rely on a context; on several, if repeated.
/// With `--written` each line is the digits of what the library writes of the value instead.
/// With `--reasons` the errors stand after "refused: ". Where the ways of reading contradict each other, the line
/// has what each of them finds, with tabs between.
@main
struct MessageReader {
  static func main() throws {
    let decoder = StowDecoder()
    let arguments = CommandLine.arguments
    for (option, digits) in zip(arguments, arguments.dropFirst()) where option == "--context" {
      try decoder.add(StowContext(from: Data(bytes(digits) ?? [])))
    }
    let withReasons = CommandLine.arguments.contains("--reasons")
    if arguments.contains("--written") {
      while let line = readLine() { print(written(line)) }
      return
    }
    while let line = readLine() {
      let findings = MeaningReading.allCases.map { finding(line, by: $0, decoder, withReasons) }
      print(Set(findings).count == 1 ? findings[0] : findings.joined(separator: "\t"))
    }
  }

  private static func finding(
    _ line: String, by reading: MeaningReading, _ decoder: StowDecoder, _ withReasons: Bool
  ) -> String {
    guard let message = bytes(line) else { return "no hexadecimal digits" }
    do {
      return try MessageMeaning(of: message, by: reading, decoder).text
    } catch let error as DecodingError {
      return withReasons ? "refused: \(printable(description(of: error)))" : "refused"
    } catch {
      return "finding: \(printable("\(error)"))"
    }
  }

  private static func written(_ line: String) -> String {
    guard let message = bytes(line), let written = try? StowValue(from: message).encoded() else { return "refused" }
    return written.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func printable(_ text: String) -> String { String(text.map { $0.isASCII && $0 >= " " ? $0 : "?" }) }

  private static func description(of error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "\(error)"
    }
  }

  private static func bytes(_ line: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(line.utf8.count / 2)
    var high: UInt8?
    for character in line.utf8 {
      guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else { return nil }
      if let first = high { bytes.append(first << 4 | UInt8(digit)) }
      high = high == nil ? UInt8(digit) : nil
    }
    return high == nil ? bytes : nil
  }
}
