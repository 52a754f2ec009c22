import Stow

/// A text in diagnostic notation that is encoded while it is read, so that its value is not held as a whole.
///
/// ```swift
/// let message = try StowEncoder().encode(NotationText(bytes, isJSON: true))
/// ```
package struct NotationText: Encodable {
  /// Returns what a value stands for, if not for itself.
  package typealias Meaning = (StowValue) throws -> StowValue

  private let utf8: UnsafeBufferPointer<UInt8>
  private let isJSON: Bool
  private let meaning: Meaning?

  /// - Parameters:
  ///   - utf8: The text, which must outlive this. Encoding throws if it is not UTF-8.
  ///   - isJSON: Whether only JSON is read.
  ///   - meaning: Returns what an object stands for whose first key begins with `$`. Such objects are read as
  ///     a whole. Everything else stands for itself.
  package init(_ utf8: UnsafeBufferPointer<UInt8>, isJSON: Bool = false, meaning: Meaning? = nil) {
    self.utf8 = utf8
    self.isJSON = isJSON
    self.meaning = meaning
  }

  /// Reads the value of the text.
  package func value() throws -> StowValue {
    var parser = NotationParser(utf8, isJSON: isJSON)
    let value = try parser.parse()
    return try meaning?(value) ?? value
  }

  /// Encodes the value of the text.
  ///
  /// - Throws: `StowNotationError` if the text is wrong, and what `meaning` and the encoder throw.
  package func encode(to encoder: any Encoder) throws {
    let source = Source(NotationParser(utf8, isJSON: isJSON), meaning)
    if case .scalar(let value) = try source.takeItem() {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    } else {
      try source.encode(to: encoder)
    }
    try source.parser.end()
  }

  /// An array or an object whose beginning was read.
  private final class Source: Encodable {
    var parser: NotationParser
    private var isArray = false
    private let meaning: Meaning?

    init(_ parser: NotationParser, _ meaning: Meaning?) {
      self.parser = parser
      self.meaning = meaning
    }

    /// Takes the next item. If it begins a container, that is encoded next.
    func takeItem() throws -> NotationParser.Item {
      let item = try parser.next()
      if case .array = item { isArray = true } else { isArray = false }
      return item
    }

    func encode(to encoder: any Encoder) throws {
      if isArray { try encodeElements(encoder.unkeyedContainer()) } else { try encodeObject(to: encoder) }
    }

    private func encodeElements(_ container: any UnkeyedEncodingContainer) throws {
      var container = container
      while true {
        switch try takeItem() {
        case .scalar(let value): try container.encode(value)
        case .end: return
        default: try container.encode(self)
        }
      }
    }

    private func encodeObject(to encoder: any Encoder) throws {
      var item = try takeItem()
      if let meaning, case .key(let key) = item, key.utf8.first == UInt8(ascii: "$") {
        var container = encoder.singleValueContainer()
        return try container.encode(meaning(parser.value(isOpen: true)))
      }
      var container = encoder.container(keyedBy: Key.self)
      while case .key(let key) = item {
        if case .scalar(let value) = try takeItem() {
          try container.encode(value, forKey: Key(stringValue: key))
        } else {
          try container.encode(self, forKey: Key(stringValue: key))
        }
        item = try takeItem()
      }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) { stringValue = String(intValue) }
  }
}
