import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Values as text of several lines, and values read from text (Format/Notation.md).

extension StowValue {
  /// Returns the value in diagnostic notation on several lines: arrays and objects that do not fit on one are
  /// broken into lines of their items, which are indented.
  ///
  /// ```swift
  /// print(try StowValue(from: data).notation())
  /// ```
  ///
  /// Takes time in proportion to the value.
  ///
  /// - Parameter width: The most Unicode scalars of a line that could still be broken; 100 by default.
  public func notation(width: Int = 100) -> String {
    var writer = NotationWriter(width: max(0, width))
    return writer.text(of: self)
  }

  /// Reads a value in diagnostic notation, as `description` and `notation(width:)` write it. Reads JSON, too.
  ///
  /// ```swift
  /// let value = try StowValue(notation: #"{"seen": date"2026-11-23T10:00:00Z", "level": 4.25}"#)
  /// ```
  ///
  /// Numbers of JSON without a point or an exponent become integers, others `Double`s. Takes time and memory in
  /// proportion to the text.
  ///
  /// - Throws: `StowNotationError` if the text is not such a value, repeats a key of an object, or nests more
  ///   than 515 levels deep, as no message does by default.
  public init(notation: String) throws(StowNotationError) {
    self = try Array(notation.utf8).withUnsafeBufferPointer { utf8 throws(StowNotationError) in
      var parser = NotationParser(utf8, maximumDepth: NotationParser.deepestOfMessages)
      return try parser.parse()
    }
  }
}

/// An error in a text that should be in diagnostic notation: what is wrong, and where.
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
  /// The position in the line, from 1 on, in Unicode scalars.
  public let column: Int
  /// What is wrong, in a few words.
  public let reason: String

  /// The reason of an error that a second value may have led to.
  package static let textAfterValue = "something after the value"

  /// - Parameter offset: Where in `text` something is wrong.
  init(_ reason: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
    let before = text[..<min(offset, text.count)]
    let lineFeed = UInt8(ascii: "\n")
    let start = before.lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
    line = 1 + before.reduce(0) { $0 + ($1 == lineFeed ? 1 : 0) }
    // Continuation bytes of a scalar begin with the bits 10.
    column = 1 + before[start...].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    self.reason = reason
  }

  /// The line, the column and the reason: `3:14: expected "," or "}"`.
  public var description: String { "\(line):\(column): \(reason)" }
}

extension StowNotationError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}
