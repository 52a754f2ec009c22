/// A key of a coding path without the user's own key type. Smaller than three words, to fit inside its existential.
enum PathKey: CodingKey {
  case index(Int)
  case name(String)
  indirect case number(String, Int)

  static let `super` = PathKey.name("super")

  init(stringValue: String) { self.init(name: stringValue, integer: Self.integer(ofName: stringValue)) }

  init(intValue: Int) { self = .number(String(intValue), intValue) }

  init(name: String, integer: Int? = nil) {
    self = if let integer { .number(name, integer) } else { .name(name) }
  }

  var stringValue: String {
    switch self {
    case .index(let index): "Index \(index)"
    case .name(let name), .number(let name, _): name
    }
  }

  var intValue: Int? {
    switch self {
    case .name: nil
    case .index(let integer), .number(_, let integer): integer
    }
  }

  /// Returns whether a string could be that of an integer.
  static func startsInteger(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    return first <= UInt8(ascii: "9")
  }

  /// Returns the integer of a string, unless it has needless zeros in front: it may be long, and used often.
  private static func integer(ofName name: String) -> Int? {
    startsInteger(name) && name.utf8.count <= 40 ? Int(name) : nil
  }
}

extension EncodingError {
  @inline(never)
  static func invalid(_ value: Any, path: [any CodingKey], _ description: String) -> EncodingError {
    .invalidValue(value, Context(codingPath: path, debugDescription: description))
  }
}

extension DecodingError {
  package var context: Context? {
    switch self {
    case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context):
      context
    @unknown default: nil
    }
  }

  var isUnreadable: Bool { context?.underlyingError is Unreadable }

  static func mismatch(_ type: Any.Type, path: [any CodingKey], _ text: String) -> DecodingError {
    .typeMismatch(type, Context(codingPath: path, debugDescription: text))
  }

  static func corrupted(_ text: String, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(Context(codingPath: path, debugDescription: text))
  }

  /// Returns an error that no default value replaces.
  static func unreadable(_ text: String, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(Context(codingPath: path, debugDescription: text, underlyingError: Unreadable()))
  }

  static func noValue(for key: some CodingKey, path: [any CodingKey]) -> DecodingError {
    let text = "No value associated with key \"\(key.stringValue)\"."
    return .keyNotFound(key, Context(codingPath: path, debugDescription: text))
  }

  static func noValue(of type: Any.Type, path: [any CodingKey], _ text: String) -> DecodingError {
    .valueNotFound(type, Context(codingPath: path, debugDescription: text))
  }
}

/// The underlying error of broken bytes, a full stack or ambiguous former names, rather than a value of another kind.
struct Unreadable: Error, CustomStringConvertible {
  var description: String { "the message cannot be read" }
}
