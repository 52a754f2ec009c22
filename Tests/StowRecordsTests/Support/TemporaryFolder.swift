import Foundation

/// A folder of its own for a test, which goes when the test is done.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "StowRecords-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The file that most tests have their log in.
  var log: URL { url.appending(path: "test.stowlog") }
}
