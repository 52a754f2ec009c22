import Foundation
import Stow

/// The fenced blocks of FORMAT.md that this suite runs.
struct FormatDocument {
  struct Block {
    let name: String
    /// The whole message, and the same put together from the lines that explain it.
    var bytes = Data()
    var explained = Data()
  }

  private(set) var examples: [Block] = []
  /// The message of a context, and messages that rely on it.
  private(set) var contexts: [Block] = []
  private(set) var relying: [Block] = []
  private(set) var refused: [Data] = []
  private(set) var accepted: [(message: Data, meaning: String)] = []
  /// Messages, and what they are in diagnostic notation.
  private(set) var notations: [(message: Data, text: String)] = []

  private static let loaded = Result { try FormatDocument() }

  static func load() throws -> FormatDocument { try loaded.get() }

  private init() throws {
    let text = try VectorFile.formatDocument()
    var kind = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        let words = line.dropFirst(3).split(separator: " ")
        kind = String(words.first ?? "")
        if words.count == 2 { change(blocksOf: kind) { $0.append(Block(name: String(words[1]))) } }
      } else if !line.isEmpty {
        try add(line, to: kind)
      }
    }
  }

  private mutating func add(_ line: Substring, to kind: String) throws {
    switch kind {
    case "stow-example", "stow-context", "stow-relying":
      if line.hasPrefix("value:") { return }
      if line.hasPrefix("bytes:") {
        let bytes = try VectorFile.bytes(line.dropFirst(6))
        change(blocksOf: kind) { $0[$0.count - 1].bytes += bytes }
      } else {
        let bytes = try VectorFile.bytes(Self.columns(line).bytes)
        change(blocksOf: kind) { $0[$0.count - 1].explained += bytes }
      }
    case "stow-refused": refused.append(try VectorFile.bytes(Self.columns(line).bytes))
    case "stow-accepted":
      let (bytes, meaning) = Self.columns(line)
      accepted.append((try VectorFile.bytes(bytes), String(meaning.prefix { $0 != ";" })))
    case "stow-notation":
      let (bytes, text) = Self.columns(line)
      notations.append((try VectorFile.bytes(bytes), String(text)))
    default: break
    }
  }

  private mutating func change(blocksOf kind: String, _ body: (inout [Block]) -> Void) {
    switch kind {
    case "stow-example": body(&examples)
    case "stow-context": body(&contexts)
    case "stow-relying": body(&relying)
    default: break
    }
  }

  /// A line of bytes, two or more spaces, and what they mean.
  private static func columns(_ line: Substring) -> (bytes: Substring, meaning: Substring) {
    let line = line.drop { $0 == " " }
    guard let gap = line.range(of: "  ") else { return (line, "") }
    return (line[..<gap.lowerBound], line[gap.upperBound...].drop { $0 == " " })
  }
}

/// Whatever a message holds.
enum Anything: Decodable, CustomStringConvertible {
  case null
  case scalar(String)
  case array([Anything])
  case object([String: Anything])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .scalar("\(value)")
    } else if let value = try? container.decode(Int.self) {
      self = .scalar("\(value)")
    } else if let value = try? container.decode(Double.self) {
      self = .scalar("\(value)")
    } else if let value = try? container.decode(String.self) {
      self = .scalar("\"\(value)\"")
    } else if let value = try? container.decode([Anything].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: Anything].self))
    }
  }

  var description: String {
    switch self {
    case .null: "nil"
    case .scalar(let text): text
    case .array(let elements): "[\(elements.map(\.description).joined(separator: ", "))]"
    case .object(let entries):
      "{\(entries.sorted { $0.key < $1.key }.map { "\"\($0)\": \($1)" }.joined(separator: ", "))}"
    }
  }
}
