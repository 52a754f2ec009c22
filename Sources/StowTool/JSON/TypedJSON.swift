import Stow
import StowNotation

/// What JSON lacks, as objects with one key that names the kind, so that nothing is lost.
///
/// The text of a kind is that of diagnostic notation. An object that has such a key itself is wrapped in one
/// with the key `$object`.
enum TypedJSON {
  /// An object of one key that does not hold what its key says.
  struct Fault: Error {
    let reason: String
  }

  private static let object = "$object"
  /// The kinds that are written as a word of diagnostic notation with its text after it.
  private static let quotedKinds = ["date", "data", "uuid", "url", "decimal"]

  // MARK: writing

  /// Returns a value of pure JSON, which stands for this one.
  static func encoded(_ value: StowValue) -> StowValue {
    switch value {
    case .array(let elements): .array(elements.map(encoded))
    case .object(let members): encoded(members)
    case .nestedNull(let level): level > 0 ? ["$null": StowValue(min(level, 255))] : .null
    case .double(let number) where !number.isFinite: ["$float": .string(value.description)]
    case .float(let number) where !number.isFinite: ["$float": .string(value.description)]
    case .date, .data, .uuid, .url, .decimal, .largeDecimal: quoted(value)
    default: value
    }
  }

  private static func encoded(_ members: StowObject) -> StowValue {
    let object = StowValue.object(StowObject(members.map { ($0.key, encoded($0.value)) }))
    return isMarked(members) ? [Self.object: object] : object
  }

  /// Returns whether an object could be taken for one that stands for something else.
  private static func isMarked(_ members: StowObject) -> Bool {
    members.count == 1 && members.keys[0].utf8.first == UInt8(ascii: "$")
  }

  /// Returns the object for a scalar whose notation is a word and a string, or a word and a number in
  /// parentheses.
  private static func quoted(_ value: StowValue) -> StowValue {
    let text = value.description
    let kind = quotedKinds.first { text.hasPrefix($0) } ?? ""
    let content = text.dropFirst(kind.count)
    // A date without a text is written as its seconds.
    let inner = content.hasPrefix("(") ? content.dropFirst().dropLast() : content
    let held = (try? StowValue(notation: String(inner))) ?? .null
    return ["$" + kind: encoded(held)]
  }

  // MARK: reading

  /// Returns the value that a value of JSON stands for.
  static func decoded(_ value: StowValue) throws -> StowValue {
    switch value {
    case .array(let elements): return .array(try elements.map(decoded))
    case .object(let members): return try decoded(members)
    default: return value
    }
  }

  private static func decoded(_ members: StowObject) throws -> StowValue {
    guard isMarked(members) else { return try plain(members) }
    let held = members.values[0]
    let kind = String(members.keys[0].unicodeScalars.dropFirst())
    let value: StowValue? =
      switch kind {
      case "object": try held.object.map(plain)
      case "null": held.int.flatMap { try? StowValue(notation: "null(\($0))") }
      case "float": float(held)
      case let kind where quotedKinds.contains(kind): try scalar(kind, held)
      default: try plain(members)
      }
    guard let value else { throw Fault(reason: "{\"$\(kind)\": …} does not hold a \(kind): \(held)") }
    return value
  }

  /// Returns an object that stands for itself.
  private static func plain(_ members: StowObject) throws -> StowValue {
    .object(StowObject(try members.map { ($0.key, try decoded($0.value)) }))
  }

  private static func float(_ held: StowValue) -> StowValue? {
    guard let text = held.string, let value = try? StowValue(notation: text) else { return nil }
    return switch value {
    case .double, .float: value
    default: nil
    }
  }

  private static func scalar(_ kind: String, _ held: StowValue) throws -> StowValue? {
    let held = try decoded(held)
    if held.string != nil { return try? StowValue(notation: "\(kind)\(held)") }
    return kind == "date" && held.double != nil ? try? StowValue(notation: "date(\(held))") : nil
  }
}
