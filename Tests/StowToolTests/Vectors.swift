import Foundation
import Stow

/// The golden vectors of the library, as far as they need no context.
enum Vectors {
  struct Vector {
    let name: String
    let isRefused: Bool
    let isCanonical: Bool
    let bytes: Data
  }

  static let all = Result { try load() }

  /// The vectors that are read and may be elements of an array, and what they mean.
  static func elements() throws -> [(bytes: Data, value: StowValue)] {
    try all.get().filter { !$0.isRefused }.map { ($0.bytes, try StowValue(from: $0.bytes)) }
      .filter { (try? StowValue.array([$0.1]).encoded()) != nil }
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// FORMAT.md and the pages beside it, one after the other.
  static func formatDocument() throws -> String {
    let folder = root.deletingLastPathComponent().appending(path: "Format")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    return try (["FORMAT.md"] + pages.sorted().map { "Format/\($0)" }).map(document).joined(separator: "\n")
  }

  /// A file of the package.
  static func document(_ name: String) throws -> String {
    try String(contentsOf: URL(filePath: path(of: name)), encoding: .utf8)
  }

  /// Where a file of the package is.
  static func path(of name: String) -> String {
    root.deletingLastPathComponent().appending(path: name).path(percentEncoded: false)
  }

  private static func load() throws -> [Vector] {
    let folder = root.deletingLastPathComponent().appending(path: "Conformance/messages")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }.sorted { $0.path < $1.path }
    var vectors: [Vector] = []
    for file in files {
      var groups: [[Substring]] = []
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where !line.hasPrefix("#") {
        if line.hasPrefix(" ") { groups[groups.count - 1].append(line) } else { groups.append([line]) }
      }
      vectors += groups.compactMap(vector)
    }
    return vectors
  }

  private static func vector(_ lines: [Substring]) -> Vector? {
    let words = lines[0].split(separator: " ")
    let fields = lines.dropFirst().map { $0.split(separator: " ", maxSplits: 1) }
    if fields.contains(where: { $0[0] == "context" }) { return nil }
    let bytes = fields.filter { $0.count == 2 && ($0[0] == "prelude" || $0[0] == "bytes") }
      .reduce(Data()) { $0 + hex($1[1]) }
    return Vector(
      name: String(words[1]), isRefused: words[0] == "refused", isCanonical: words[0] == "canonical",
      bytes: bytes)
  }

  /// Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00.
  static func hex(_ text: some StringProtocol) -> Data {
    text.split(separator: " ").reduce(into: Data()) { result, word in
      let parts = word.split(separator: "*")
      let count = parts.count == 2 ? Int(parts[1]) ?? 0 : 1
      result.append(contentsOf: repeatElement(UInt8(parts[0], radix: 16) ?? 0, count: count))
    }
  }
}
