import Foundation
import Stow
import Testing

/// A vector: bytes, and what they mean.
struct Vector: Sendable, CustomTestStringConvertible {
  enum Kind: String, Sendable {
    /// What an encoder writes; and decodes to the meaning.
    case canonical
    /// Decodes to the meaning; an encoder writes something else.
    case accepted
    /// Is refused by every decoder.
    case refused
  }

  let kind: Kind
  let name: String
  /// Whether it is written with `sortedKeys`.
  let isSorted: Bool
  /// The message of the context that both sides hold; nil if there is none.
  let context: Data?
  /// Whether messages do not name it.
  let isImplicit: Bool
  /// The whole message.
  let bytes: Data
  /// The first byte after the prelude.
  let tag: UInt8?
  let meaning: Meaning?

  /// Whether an encoder writes the value: it counts levels that are none to a decoder, and writes no more than 512 of
  /// them.
  var isWritable: Bool { !name.hasPrefix("depth-512-around-") }

  var testDescription: String { name }
}

extension Vector {
  func makeEncoder() throws -> StowEncoder {
    let encoder = StowEncoder()
    if isSorted { encoder.outputFormatting = .sortedKeys }
    if let context { encoder.context = try StowContext(from: context) }
    if isImplicit { encoder.contextIdentification = .none }
    return encoder
  }

  func makeDecoder() throws -> StowDecoder {
    let decoder = StowDecoder()
    if let context { decoder.contexts = [try StowContext(from: context)] }
    if isImplicit { decoder.implicitContext = decoder.contexts.first }
    return decoder
  }
}

/// The golden vectors of the conformance suite, which `Conformance/README.md` describes.
enum VectorFile {
  struct Malformed: Error {
    let line: String
  }

  private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
  private static let tests = root.appending(path: "Tests/StowTests")
  private static let suite = root.appending(path: "Conformance")

  /// FORMAT.md and the pages beside it, one after the other.
  static func formatDocument() throws -> String {
    let folder = root.appending(path: "Format")
    let pages = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
    return try ([root.appending(path: "FORMAT.md")] + pages)
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
  }

  /// The vectors of all files.
  static let all = Result {
    let folder = suite.appending(path: "messages")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }
      .sorted { $0.path < $1.path }
      .flatMap { try vectors(in: String(contentsOf: $0, encoding: .utf8)) }
  }

  /// What the vectors mean that are valid, in diagnostic notation, by their names. Of long texts it is a checksum.
  static func meanings() throws -> [String: String] {
    let text = try String(contentsOf: suite.appending(path: "meanings.txt"), encoding: .utf8)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
      $0.split(separator: " ", maxSplits: 1).map(String.init)
    }
    return Dictionary(uniqueKeysWithValues: lines.map { ($0[0], $0[1]) })
  }

  /// The lines of `Refusals.txt`, by the names of the refused vectors.
  static func refusals() throws -> [String: String] {
    let text = try String(contentsOf: tests.appending(path: "Format/Refusals.txt"), encoding: .utf8)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    return Dictionary(uniqueKeysWithValues: lines.map { (String($0.prefix { $0 != ":" && $0 != "/" }), String($0)) })
  }

  /// A vector begins at the start of a line; what belongs to it is indented.
  static func vectors(in text: String) throws -> [Vector] {
    var groups: [[Substring]] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix(" ") { groups[groups.count - 1].append(line) } else { groups.append([line]) }
    }
    return try groups.map { try vector($0[0], $0.dropFirst()) }
  }

  private static func vector(_ heading: Substring, _ lines: ArraySlice<Substring>) throws -> Vector {
    let words = heading.split(separator: " ")
    guard words.count >= 2, let kind = Vector.Kind(rawValue: String(words[0])) else {
      throw Malformed(line: String(heading))
    }
    let value = field("value", lines)
    let context = try bytes(field("context", lines))
    let prelude = try bytes(field("prelude", lines))
    let body = try bytes(field("bytes", lines))
    return Vector(
      kind: kind, name: String(words[1]), isSorted: words.dropFirst(2).contains("sorted"),
      context: context.isEmpty ? nil : context, isImplicit: words.dropFirst(2).contains("implicit"),
      bytes: prelude + body, tag: body.first, meaning: value.isEmpty ? nil : try Meaning(notation: value))
  }

  /// The text of all lines with this word in front.
  private static func field(_ name: String, _ lines: ArraySlice<Substring>) -> String {
    let trimmed = lines.map { line in line.drop { $0 == " " } }
    let fields = trimmed.filter { $0.hasPrefix(name + " ") }
    return fields.map { $0.dropFirst(name.count + 1) }.joined(separator: " ")
  }

  /// Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00.
  static func bytes(_ text: some StringProtocol) throws -> Data {
    var result = Data()
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "*")
      guard parts[0].count == 2, let byte = UInt8(parts[0], radix: 16),
        let count = parts.count == 2 ? Int(parts[1]) : 1
      else { throw Malformed(line: String(word)) }
      result.append(contentsOf: repeatElement(byte, count: count))
    }
    return result
  }

  static func hex(_ data: Data) -> String {
    data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
  }
}
