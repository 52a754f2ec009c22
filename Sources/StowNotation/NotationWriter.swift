import Stow

/// Writes values in diagnostic notation (Format/Notation.md).
package struct NotationWriter {
  package typealias Part = Notation.Part
  /// Returns the text before and after a word, such as colours for a terminal. It takes no room on the line.
  package typealias Marks = @Sendable (_ part: Part) -> (before: String, after: String)

  /// The most characters of a line that could still be broken; nil for everything on one line.
  package var width: Int?
  /// How many levels of arrays and objects are written. Deeper ones are only counted, and the text cannot be
  /// read again.
  package var depth = Int.max
  package var marks: Marks?
  /// Returns the text for a scalar in place of its notation, as for JSON; nil for scalars that stay.
  package var replacement: (@Sendable (StowValue) -> String?)?
  /// Takes the text of a large value part by part, so that it is never held as a whole; nil if `text(of:)` returns all.
  package var sink: ((String) -> Void)?
  /// The bytes after which no further item is put on a line: enough for those who only want the beginning.
  package var most = Int.max

  /// The text that was written.
  package private(set) var text = ""
  /// The characters that are left on the line while checking whether a value fits on it; nil when they are not counted.
  private var room: Int?

  /// The bytes of text at which the sink takes it.
  private static let mostHeld = 1 << 16

  /// - Parameter width: The most characters of a line that could still be broken; nil for one line.
  package init(width: Int? = nil) { self.width = width }

  /// Returns the text of a value, without what the sink took.
  ///
  /// - Parameters:
  ///   - indent: How far the lines of the value are indented, except the first.
  ///   - used: The characters that are already on its first line, and those that will follow the value.
  package mutating func text(of value: StowValue, indent: Int = 0, used: Int = 0) -> String {
    text = ""
    write(value, indent: indent, used: used, level: 0)
    return text
  }

  /// Returns the text of a key and the colon after it, and how many characters they take.
  package mutating func text(ofKey key: String) -> (text: String, width: Int) {
    text = ""
    writeKey(key)
    return (text, Self.width(ofKey: key))
  }

  // MARK: values

  /// - Parameters:
  ///   - indent: How far the lines of the value are indented.
  ///   - used: The characters that are already on its line, and those that will follow it.
  private mutating func write(_ value: StowValue, indent: Int, used: Int, level: Int) {
    switch value {
    case .array(let elements):
      writeItems("[", elements, "]", indent, used, level) { $0.write($1, indent: $2, used: $3, level: level + 1) }
    case .object(let object):
      writeItems("{", object, "}", indent, used, level) { writer, pair, indent, used in
        let start = writer.room ?? 0
        writer.writeKey(pair.key)
        let keyWidth = writer.room.map { start - $0 } ?? (writer.width == nil ? 0 : Self.width(ofKey: pair.key))
        writer.write(pair.value, indent: indent, used: used + keyWidth, level: level + 1)
      }
    default: writeScalar(value)
    }
  }

  private mutating func writeItems<Items: Collection>(
    _ open: String, _ items: Items, _ close: String, _ indent: Int, _ used: Int, _ level: Int,
    _ each: (inout NotationWriter, Items.Element, _ indent: Int, _ used: Int) -> Void
  ) {
    if items.isEmpty { return put(open + close) }
    if level >= depth { return put("\(open)… \(items.count)\(close)", .folded) }
    guard let width, room == nil else { return writeLine(open, items, close, each) }
    let start = text.utf8.count
    room = width - used
    writeLine(open, items, close, each)
    let hasRoom = (room ?? 0) >= 0
    room = nil
    if hasRoom { return }
    text.removeLast(from: start)
    text += open
    var left = items.count
    for item in items {
      left -= 1
      let comma = left > 0 ? "," : ""
      newLine(indent + 2)
      each(&self, item, indent + 2, indent + 2 + comma.utf8.count)
      text += comma
    }
    newLine(indent)
    text += close
  }

  /// Writes some items on one line, or as many of them as fit.
  private mutating func writeLine<Items: Collection>(
    _ open: String, _ items: Items, _ close: String,
    _ each: (inout NotationWriter, Items.Element, _ indent: Int, _ used: Int) -> Void
  ) {
    put(open)
    for (index, item) in items.enumerated() {
      if (room ?? 0) < 0 || text.utf8.count > most { return }
      if index > 0 { put(", ") }
      each(&self, item, 0, 0)
    }
    put(close)
  }

  private mutating func newLine(_ indent: Int) { put("\n" + String(repeating: " ", count: indent)) }

  // MARK: words

  private mutating func writeKey(_ key: String) {
    if hasNoRoom(for: key.utf8.count) { return }
    put(Notation.quoted(key), .key)
    put(": ")
  }

  private static func width(ofKey key: String) -> Int { Notation.quoted(key).unicodeScalars.count + 2 }

  /// Returns whether `size` bytes of UTF-8 are surely too many for the line. They are then not written at
  /// all, because long ones would be written and taken back at every level around them.
  private mutating func hasNoRoom(for size: Int) -> Bool {
    guard let room, size / 4 > room else { return false }
    self.room = -1
    return true
  }

  private static func leastSize(of value: StowValue) -> Int {
    switch value {
    case .string(let value), .url(let value): value.utf8.count
    case .data(let value): value.count
    default: 0
    }
  }

  private mutating func writeScalar(_ value: StowValue) {
    if hasNoRoom(for: Self.leastSize(of: value)) { return }
    if let text = replacement?(value) { return put(text, text.hasPrefix("\"") ? .string : .number) }
    value.describeScalar { put($0, $1) }
  }

  private mutating func put(_ word: String, _ part: Part?) {
    guard let marks, let part else { return put(word) }
    let (before, after) = marks(part)
    text += before
    put(word)
    text += after
  }

  private mutating func put(_ word: String) {
    text += word
    if let room {
      self.room = room - word.unicodeScalars.count
    } else if let sink, text.utf8.count >= Self.mostHeld {
      sink(text)
      text.removeAll(keepingCapacity: true)
    }
  }
}

extension String {
  /// Removes everything from a UTF-8 offset on, at which a scalar begins.
  fileprivate mutating func removeLast(from offset: Int) { removeSubrange(utf8.index(startIndex, offsetBy: offset)...) }
}
