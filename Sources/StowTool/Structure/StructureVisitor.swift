/// What a walk over a message tells of its bytes, in their order. Every byte is in exactly one piece.
protocol StructureVisitor {
  /// Bytes, and what they are.
  ///
  /// - Parameter meaning: The same for people. Not made where nobody asks for it.
  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String)
  /// What follows is inside of what came before, until it is left.
  mutating func enter(_ place: Place)
  mutating func leave()
  /// Whether `flaw` is to be called, for which the walk does more than to see whether a message is valid.
  static var seeksFlaws: Bool { get }
  /// What no canonical writer would have written, although it is valid.
  mutating func flaw(at offset: Int, _ reason: String)
  /// How many places were entered and not left.
  var depth: Int { get }
}

extension StructureVisitor {
  static var seeksFlaws: Bool { false }
  mutating func flaw(at offset: Int, _ reason: String) {}

  /// Leaves what a walk was inside of when it broke off.
  mutating func leave(to depth: Int) {
    while self.depth > depth { leave() }
  }
}

/// What bytes are good for.
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

/// Where something is inside.
enum Place {
  /// Of what describes a message, or the string of a URL.
  case part
  /// The value for a key, which stands before it.
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
