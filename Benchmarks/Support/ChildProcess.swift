import Foundation

/// Runs this same executable again, for what can only be measured in a fresh process.
enum ChildProcess {
  /// A child that did not do what it was started for.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The numbers a child process with these arguments printed.
  static func numbers(_ arguments: [String]) throws -> [Double] {
    String(decoding: try output(arguments), as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
      Double($0)
    }
  }

  /// What a child process with these arguments wrote to its standard output.
  static func output(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(description: "the child process \(arguments.joined(separator: " ")) failed")
    }
    return text
  }

  /// Where this executable is.
  private static var executable: URL {
    let link = "/proc/self/exe"
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link) {
      return URL(fileURLWithPath: path)
    }
    return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
  }
}
