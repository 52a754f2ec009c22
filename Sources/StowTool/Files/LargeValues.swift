import Stow
import StowNotation

/// Writes the value of a large message part by part, as `NotationWriter` writes it: only one part is held at a time.
struct LargeValues {
  /// Returns a part as it is written. Throws for one that the form of the text does not have.
  typealias Prepare = (StowValue, _ part: StowPath) throws -> StowValue

  /// Arrays and objects with more elements than these are written element by element. The first limit is for
  /// those that are among few others, whose elements are then also looked into; the second for the elements
  /// of large ones.
  private static let (mostAbove, mostInside) = (64, 1000)
  /// Everything below this many levels is one part.
  private static let mostLevels = 4

  private var writer: NotationWriter
  private let prepare: Prepare
  private var output: Output?

  /// Writes a message and the end of its line.
  ///
  /// - Returns: False if it has no long arrays and objects; then nothing was written.
  static func write(
    _ message: StowMessage, _ writer: NotationWriter, _ prepare: Prepare
  ) throws -> Bool {
    // Folded values are only counted, so their parts are not written.
    guard writer.depth == .max else { return false }
    return try withoutActuallyEscaping(prepare) { prepare in
      var values = LargeValues(writer: writer, prepare: prepare, output: nil)
      guard try values.isLarge(message, level: 0, isAmongFew: true) else { return false }
      // Nothing is written if the message cannot be read to its end.
      try values.write(message, indent: 0, used: 0, level: 0, isAmongFew: true)
      values.output = Output()
      try values.write(message, indent: 0, used: 0, level: 0, isAmongFew: true)
      values.output?.line("")
      values.output?.flush()
      return true
    }
  }

  /// Returns whether a value has too many elements to be held as a whole, and so to be put on one line.
  ///
  /// - Parameter isAmongFew: Whether its container has few elements, so that there is time to look inside.
  private func isLarge(_ part: StowMessage, level: Int, isAmongFew: Bool) throws -> Bool {
    let kind = try part.kind()
    guard kind == .array || kind == .object, level < Self.mostLevels else { return false }
    let count = try part.count()
    if count > max(isAmongFew ? Self.mostAbove : Self.mostInside, writer.width ?? 0) { return true }
    // An object that stands for a kind of value is written as one.
    if try !isAmongFew || count == 1 && kind == .object && part.keys()[0].utf8.first == UInt8(ascii: "$") {
      return false
    }
    for element in try part.elements() where try isLarge(element, level: level + 1, isAmongFew: true) {
      return true
    }
    return false
  }

  private mutating func write(_ part: StowMessage, indent: Int, used: Int, level: Int, isAmongFew: Bool)
    throws
  {
    guard try isLarge(part, level: level, isAmongFew: isAmongFew) else {
      let value = try prepare(part.decode(StowValue.self), part.path)
      if output != nil { put(writer.text(of: value, indent: indent, used: used)) }
      return
    }
    let isObject = try part.kind() == .object
    let count = try part.count()
    var left = count
    put(isObject ? "{" : "[")
    for element in try part.elements() {
      left -= 1
      newLine(indent + 2)
      var used = indent + 2 + (left > 0 ? 1 : 0)
      if isObject, case .key(let key)? = element.path.steps.last {
        let (text, width) = writer.text(ofKey: key)
        put(text)
        used += width
      }
      try write(
        element, indent: indent + 2, used: used, level: level + 1, isAmongFew: count <= Self.mostAbove)
      if left > 0 { put(writer.width == nil ? ", " : ",") }
    }
    newLine(indent)
    put(isObject ? "}" : "]")
  }

  private mutating func put(_ text: String) { output?.text(text) }

  private mutating func newLine(_ indent: Int) {
    if writer.width != nil { put("\n" + String(repeating: " ", count: indent)) }
  }
}
