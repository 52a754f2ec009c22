import Foundation
import Testing

/// Another process that uses a log: `Tests/LogWorker`.
final class Worker {
  private let process = Process()
  private let output = Pipe()
  private var printed = Data()

  convenience init(_ arguments: String...) throws { try self.init(arguments) }

  init(_ arguments: [String]) throws {
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  deinit { if process.isRunning { kill() } }

  /// The worker stands beside the tests.
  private static var executable: URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    return folder.appending(path: "LogWorker")
  }

  /// Ends it at once, wherever it is.
  func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

  /// Waits until it prints something, which it does as soon as it has written; false if it has come to its end.
  @discardableResult
  func waitForOutput() -> Bool {
    let data = output.fileHandleForReading.availableData
    printed += data
    return !data.isEmpty
  }

  /// Waits until one of several prints something, and returns it; nil if one has come to its end.
  static func nextToPrint(of workers: [Worker]) -> Worker? {
    var files = workers.map {
      pollfd(fd: $0.output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    }
    while poll(&files, nfds_t(files.count), -1) < 0 {}
    let worker = zip(workers, files).first { $1.revents != 0 }?.0
    return worker?.waitForOutput() == true ? worker : nil
  }

  /// Waits for its end, and returns the lines that it printed.
  func lines() throws -> [Substring] {
    printed += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: printed, as: UTF8.self).split(separator: "\n")
  }
}

/// What the worker logs, as it is read here.
struct LoggedValue: Codable {
  let id: Int
  let text: String

  /// Whether it is what the worker wrote.
  var isRight: Bool { text.utf8.count == (id % 100 == 99 ? 70_000 : id % 200) }

  /// Whether a compaction of the worker leaves it out.
  static func isDropped(_ id: Int) -> Bool { id % 3 == 1 }

  /// The key in the index of the worker.
  var key: Int { Self.isDropped(id) ? -1 : id }
}
