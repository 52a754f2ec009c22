/// Receives what a walk over a message finds, in order. Every byte is in exactly one piece.
protocol StructureVisitor {
  /// Receives bytes, and what they are.
  ///
  /// - Parameter meaning: The same for people. Made only if it is used.
  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String)
  /// What follows is inside what came before, until it is left.
  mutating func enter(_ place: Place)
  mutating func leave()
  /// Whether `flaw` is called, which takes more work than checking whether a message is valid.
  static var seeksFlaws: Bool { get }
  /// Receives something that is valid, although no canonical writer would have written it.
  mutating func flaw(at offset: Int, _ reason: String)
  /// How many places were entered and not left.
  var depth: Int { get }
}

extension StructureVisitor {
  static var seeksFlaws: Bool { false }
  mutating func flaw(at offset: Int, _ reason: String) {}

  /// Leaves the places that a walk was inside when it broke off.
  mutating func leave(to depth: Int) {
    while self.depth > depth { leave() }
  }
}

/// The purpose of bytes.
enum PieceKind: String, CaseIterable {
  case head = "heads of messages"
  case symbols = "prelude: symbols"
  case shapes = "prelude: shapes"
  case structure = "tags and lengths"
  case key = "keys"
  case string = "strings"
  case symbol = "symbols"
  case integer = "integers"
  case float = "floats"
  case bool = "Bools"
  case null = "nil"
  case date = "dates"
  case uuid = "UUIDs"
  case url = "URLs"
  case data = "data"
  case decimal = "decimal numbers"
  case framing = "blocks and frames"
}

/// A place that encloses pieces.
enum Place {
  /// In what describes a message, or in the string of a URL.
  case part
  /// The value for a key, which precedes it.
  case entry(String)
  /// The value for a key of a shape.
  case field(String)
  case element(Int)
  /// A row of a table or a matrix, which is an element.
  case row(Int)
  /// The cell of a row, in the column of a key or of a number.
  case cell(String)
  case column(Int)
  /// A record of a log or a stream.
  case record(Int)
}
