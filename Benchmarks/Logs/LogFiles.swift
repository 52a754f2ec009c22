import Foundation
import StowRecords

/// The files that logs and lines are written to, in a folder of their own that is removed in the end.
struct LogFiles {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stow-benchmarks-\(ProcessInfo.processInfo.processIdentifier)-logs")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// A file of this name that nothing was written to.
  func freshFile(_ name: String) -> URL {
    try? FileManager.default.removeItem(at: file(name))
    return file(name)
  }

  func size(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
    return (attributes[.size] as? Int) ?? 0
  }
}

/// A file of JSON texts with a newline after each, as many programs keep their records.
final class JSONLines {
  private let handle: FileHandle
  private let encoder = JSONEncoder()

  /// Makes an empty file.
  init(at url: URL) throws {
    try Data().write(to: url)
    encoder.outputFormatting = .withoutEscapingSlashes
    handle = try FileHandle(forWritingTo: url)
  }

  func append<Value: Encodable>(_ value: Value) throws {
    var line = try encoder.encode(value)
    line.append(0x0A)
    try handle.write(contentsOf: line)
  }

  /// Brings the lines to the disk.
  func synchronize() throws { try handle.synchronize() }

  func close() throws { try handle.close() }

  /// Decodes all lines of a file.
  static func read<Value: Decodable>(_ type: Value.Type, at url: URL, _ body: (Value) throws -> Void) throws {
    let decoder = JSONDecoder()
    for line in try Data(contentsOf: url).split(separator: 0x0A) {
      try body(decoder.decode(type, from: line))
    }
  }
}
