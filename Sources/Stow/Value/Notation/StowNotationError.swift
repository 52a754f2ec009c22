/// What is wrong with a text that should be in diagnostic notation, and where.
///
/// ```swift
/// do {
///   value = try StowValue(notation: text)
/// } catch {
///   print("\(file):\(error)")  // settings.txt:3:14: expected "," or "}"
/// }
/// ```
public struct StowNotationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1 on. Lines end with a line feed.
  public let line: Int
  /// The place in the line, from 1 on, in Unicode scalars.
  public let column: Int
  /// What is wrong, in a few words.
  public let reason: String

  /// - Parameter offset: Where in `text` something is wrong.
  init(_ reason: String, at offset: Int, in text: [UInt8]) {
    let before = text[..<min(offset, text.count)]
    let lineFeed = UInt8(ascii: "\n")
    let start = before.lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
    line = 1 + before.reduce(0) { $0 + ($1 == lineFeed ? 1 : 0) }
    // Bytes that go on with a scalar begin with the bits 10.
    column = 1 + before[start...].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    self.reason = reason
  }

  /// The line, the column and the reason: `3:14: expected "," or "}"`.
  public var description: String { "\(line):\(column): \(reason)" }
}
