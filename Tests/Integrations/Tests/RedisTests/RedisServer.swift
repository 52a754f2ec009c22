import Foundation
import NIOCore

@testable import RedisSnippet

/// A server of Redis for one test, on a socket in a folder of its own.
struct RedisServer {
  let folder: URL

  var socket: String { folder.appendingPathComponent("s").path }
  var address: SocketAddress {
    get throws { try SocketAddress(unixDomainSocketPath: socket) }
  }

  static let executable = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { $0 + "/redis-server" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs a server until `body` returns.
  static func run(_ body: (RedisServer) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, process, output) = (RedisServer(folder: folder), Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: executable ?? "redis-server")
    process.arguments = ["--port", "0", "--unixsocket", server.socket, "--save", "", "--dir", folder.path]
    process.standardOutput = output
    try process.run()
    defer {
      // It inherits which signals are blocked, and may not hear of another.
      _ = kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    var said = ""
    while !said.contains("eady to accept connections") {
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { throw RedisError(description: said) }
      said += String(decoding: part, as: UTF8.self)
    }
    try await body(server)
  }
}

/// A consumer in a process of its own, which stands beside the tests.
struct ConsumerProcess {
  private let process = Process()

  init(_ name: String, of server: RedisServer) throws {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    process.executableURL = folder.appending(path: "RedisConsumer")
    process.arguments = [server.socket, name]
    try process.run()
  }

  /// Ends it at once, wherever it is.
  func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
