import Foundation
import Testing

/// The command, run as users run it.
struct Tool {
  /// What a run of it left.
  struct Run {
    let code: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  /// The command stands beside the tests.
  static var executable: URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    return folder.appending(path: "stowtool")
  }

  /// Runs the command to its end.
  ///
  /// - Parameters:
  ///   - input: What it reads from standard input.
  ///   - place: The folder in which it runs, if not that of the tests.
  ///   - program: What is run in place of the command.
  static func run(
    _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], in place: URL? = nil,
    program: URL = executable
  ) throws -> Run {
    // Files, as a pipe that is full would have the command wait.
    let folder = try Folder()
    let (inputURL, outputURL, errorsURL) = (
      try folder.file("input", input), try folder.file("output", Data()), try folder.file("errors", Data())
    )
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    if let place { process.currentDirectoryURL = place }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: inputURL)
    process.standardOutput = try FileHandle(forWritingTo: outputURL)
    process.standardError = try FileHandle(forWritingTo: errorsURL)
    try process.run()
    process.waitUntilExit()
    let errors = String(decoding: try Data(contentsOf: errorsURL), as: UTF8.self)
    return Run(code: process.terminationStatus, output: try Data(contentsOf: outputURL), errors: errors)
  }

  static func run(_ arguments: String..., input: Data = Data()) throws -> Run { try run(arguments, input: input) }

  /// Runs a script of the shell, in which `$0` is the command and `$1` an argument.
  static func shell(
    _ script: String, _ argument: String = "", environment: [String: String] = [:], in place: URL? = nil
  ) throws -> Run {
    try run(
      ["-c", script, executable.path, argument], environment: environment, in: place,
      program: URL(filePath: "/bin/sh"))
  }
}

/// A folder of files, which goes with it.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "stowtool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a file, and returns where it is.
  @discardableResult
  func file(_ name: String, _ content: Data) throws -> URL {
    let file = url.appending(path: name)
    // `Data` waits for the disk with each file it writes, and the tests write thousands.
    let stream = try #require(fopen(file.path(percentEncoded: false), "wb"))
    content.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, stream) }
    fclose(stream)
    return file
  }

  func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}
