import Foundation
import HummingbirdSnippet

/// The server in a process of its own, so that its processor time is not that of the client.
struct ServerProcess: ~Copyable {
  private let process = Process()
  let port: Int

  /// Starts this executable again, as a server, and waits until it says its port.
  init() throws {
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["serve"]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NoPort() }
    self.port = port
  }

  struct NoPort: Error {}

  deinit { process.terminate() }

  /// What the started process does: it serves until it is ended.
  static func serve() async throws {
    try await PeopleServer.run { port in
      try FileHandle.standardOutput.write(contentsOf: Data("\(port)\n".utf8))
      try await Task.sleep(for: .seconds(120))
    }
  }
}
