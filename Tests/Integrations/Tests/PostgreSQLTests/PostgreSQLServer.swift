import Foundation
import Testing

@testable import PostgreSQLSnippet

/// Runs a server of PostgreSQL for the tests of a suite, on a socket in a folder of its own.
struct PostgreSQLServer: SuiteTrait, TestScoping {
  @TaskLocal private static var folder = ""

  /// A connection to the server of the suite.
  static func connect() throws -> PostgreSQLConnection {
    try PostgreSQLConnection("host=\(folder) user=stow dbname=postgres")
  }

  /// The folder of the programs of the server, which Debian keeps from the PATH.
  static let programs: String? = {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let folders = versions.map { "/usr/lib/postgresql/\($0)/bin" } + ["/usr/local/bin", "/opt/homebrew/bin"]
    return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/postgres") }
  }()

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if getuid() == 0 {
      try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: folder)
    }
    let (preparing, said) = try Self.start(
      "initdb", "--pgdata", folder + "/data", "--username", "stow", "--auth", "trust", "--encoding", "UTF8",
      "--no-locale", "--no-sync")
    let words = said.readDataToEndOfFile()
    preparing.waitUntilExit()
    guard preparing.terminationStatus == 0 else {
      throw PostgreSQLError(description: String(decoding: words, as: UTF8.self))
    }
    let (server, output) = try Self.start(
      "postgres", "-D", folder + "/data", "-c", "listen_addresses=", "-c",
      "unix_socket_directories=" + folder,
      "-c", "fsync=off")
    defer {
      // It ends its processes and goes, without a checkpoint.
      _ = kill(server.processIdentifier, SIGQUIT)
      server.waitUntilExit()
    }
    var log = ""
    while !log.contains("ready to accept connections") {
      let part = output.availableData
      if part.isEmpty { throw PostgreSQLError(description: log) }
      log += String(decoding: part, as: UTF8.self)
    }
    try await Self.$folder.withValue(folder) { try await body() }
  }

  /// Starts a program of the server; as its user if this is root, whom it refuses.
  private static func start(_ program: String, _ arguments: String...) throws -> (Process, FileHandle) {
    let (process, output) = (Process(), Pipe())
    var command = [(programs ?? "") + "/" + program] + arguments
    if getuid() == 0 {
      command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] + command
    }
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = FileManager.default.temporaryDirectory
    process.standardOutput = output
    process.standardError = output
    try process.run()
    return (process, output.fileHandleForReading)
  }
}
