import Foundation
import NIOCore

@testable import RedisSnippet

/// A server of Redis for one test, on a socket in a folder of its own.
enum RedisServer {
  static let executable = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { $0 + "/redis-server" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs a server until `body` returns.
  static func run(_ body: (_ address: SocketAddress, _ folder: URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (process, output) = (Process(), Pipe())
    let socket = folder.appendingPathComponent("s").path
    process.executableURL = URL(fileURLWithPath: executable ?? "redis-server")
    process.arguments = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path]
    process.standardOutput = output
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    var said = ""
    while !said.contains("eady to accept connections") {
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { throw RedisError(description: said) }
      said += String(decoding: part, as: UTF8.self)
    }
    try await body(SocketAddress(unixDomainSocketPath: socket), folder)
  }
}
