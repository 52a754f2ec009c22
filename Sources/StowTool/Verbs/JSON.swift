import Stow
import StowNotation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `json` and `from-json`: values to JSON, and back.
enum JSONVerbs {
  private static let typed = Option("--typed", nil, "write what JSON lacks as objects with one key: {\"$date\": …}")

  static let toJSON = Verb(
    name: "json", operands: "[options] FILE …", files: 1...Int.max,
    summary: "print values as JSON",
    details: """
      Values without a form in JSON are written as JSONEncoder writes them: dates as seconds since 2001, data in Base64,
      UUIDs and URLs as strings, decimal numbers as numbers, and every level of nil as null. NaN and infinity are errors.
      With --typed, all of these become objects with one key, which stowtool from-json --typed reads again:

        {"$null": 2}  {"$float": "nan"}  {"$date": "2026-11-23T10:00:00Z"}  {"$data": "AAEC"}  {"$uuid": "…"}
        {"$url": "…"}  {"$decimal": "12.5"}  {"$object": {"$date": 1}}: an object that has such a key itself
      """,
    options: Contents.options + [typed] + Lines.options,
    run: writeJSON)

  static let fromJSON = Verb(
    name: "from-json", operands: "[options] FILE", files: 1...1,
    summary: "make a message from JSON",
    details: """
      Numbers without a point or exponent become integers of up to 128 bits; others become Doubles. Objects keep the order of
      their keys, which must differ. With --log, each line of the file is a value (JSON Lines); piped input is read to its end
      before anything is appended.
      """,
    options: [Option("--typed", nil, "read {\"$date\": …} and the like as the values they represent")]
      + Parse.options
  ) { arguments in
    let meaning: NotationText.Meaning? = arguments.has("--typed") ? { try TypedJSON.decoded($0) } : nil
    return try Parse.write(arguments) { NotationText($0, isJSON: true, meaning: meaning) }
  }

  private static func writeJSON(_ arguments: Arguments) async throws -> ExitCode {
    var writer = NotationWriter(width: try Lines.width(arguments))
    let isTyped = arguments.has("--typed")
    if !isTyped { writer.replacement = PlainJSON.text }
    return try await Lines.write(arguments, writer) { value, place, part in
      if isTyped { return TypedJSON.encoded(value) }
      if let path = PlainJSON.pathOfNonfinite(in: value)?.inside(part) {
        throw Failure("\(place): JSON has no number for the value at \(path); use --typed", .differs)
      }
      return value
    }
  }
}

/// Writes what JSON lacks as `JSONEncoder` does.
enum PlainJSON {
  /// Returns the text of a scalar that JSON lacks; nil for one that diagnostic notation writes as JSON does.
  @Sendable
  static func text(of value: StowValue) -> String? {
    switch value {
    case .nestedNull: "null"
    case .date(let date): StowValue.double(date.timeIntervalSinceReferenceDate).description
    case .data(let data): StowValue.string(data.base64EncodedString()).description
    case .uuid(let id): StowValue.string(id.uuidString).description
    case .url(let url): StowValue.string(url).description
    case .decimal(let number): number.description
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      "\(isNegative ? "-" : "")\(magnitude)e\(exponent)"
    default: nil
    }
  }

  /// Returns where the first number is that JSON has no text for, or nil.
  static func pathOfNonfinite(in value: StowValue) -> Path? {
    switch value {
    case .double(let number): number.isFinite ? nil : Path()
    case .float(let number): number.isFinite ? nil : Path()
    case .date(let date): date.timeIntervalSinceReferenceDate.isFinite ? nil : Path()
    case .decimal(let number): number.isNaN ? Path() : nil
    case .array(let elements):
      first(of: elements.enumerated()) { index, element in
        pathOfNonfinite(in: element)?.inside(.element(index))
      }
    case .object(let object):
      first(of: object) { key, value in pathOfNonfinite(in: value)?.inside(.entry(key)) }
    default: nil
    }
  }

  /// Returns the first path that is found in some items. A lazy sequence would look for it twice, and at each level
  /// again.
  private static func first<Items: Sequence>(of items: Items, _ path: (Items.Element) -> Path?) -> Path? {
    for item in items {
      if let path = path(item) { return path }
    }
    return nil
  }
}

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
    // Shares its memory with the value: a message may use one long URL many times.
    case .url(let url): ["$url": .string(url)]
    case .date, .data, .uuid, .decimal, .largeDecimal: quoted(value)
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

  /// Returns the object for a scalar whose notation is a word and a string, or a word and a number in parentheses.
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
