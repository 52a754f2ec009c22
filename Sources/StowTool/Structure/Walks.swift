import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Walks over files, which lend their bytes.
enum Walks {
  static let contextOption = Option("--context", "FILE", "the message of the context that messages use")

  static func context(_ arguments: Arguments) throws -> StowContext? {
    try arguments.value("--context").map(context(in:))
  }

  static func context(in path: String) throws -> StowContext {
    let input = try Input(path)
    guard let context = try? StowContext(from: input.data) else {
      let fault = fault(in: input, nil).map { "; \($0)" } ?? ""
      throw Failure("\(input.name): not the message of a context\(fault)", .differs)
    }
    return context
  }

  /// Walks over the message, the log or the stream in a file. A folder has no bytes of its own.
  ///
  /// - Returns: What is wrong with it; nil if it is valid.
  static func walk<Visitor: StructureVisitor>(
    _ input: Input, _ context: StowContext?, _ visitor: (ByteReader) -> Visitor,
    finish: (inout Visitor) -> Void = { _ in }
  ) -> Broken? {
    input.data.withUnsafeBytes { bytes in
      let reader = ByteReader(bytes)
      var walk = MessageWalk(reader, visitor(reader))
      let broken: Broken?
      switch input.kind {
      case .message: broken = walk.message(context)
      case .log:
        var log = LogWalk(reader, from: input.firstRecord, walk)
        broken = log.file()
        walk = log.records
      case .stream: broken = walk.walk { walk throws in try walk.stream() }
      }
      finish(&walk.visitor)
      return broken
    }
  }

  /// Returns where the bytes of a file are not valid, and why; nil if a walk finds no fault. Every verb that cannot
  /// read a file says this, so that a fault has one offset.
  static func fault(in input: Input, _ context: StowContext?) -> String? {
    var path = Path()
    let progress = Progress(of: input)
    let broken = walk(input, context) { _ in
      ProgressFollower(progress)
    } finish: {
      path = $0.path
    }
    progress.end()
    return broken.map { broken in
      let place = path.count > 0 ? ", in \(path)" : ""
      return "not valid at offset \(broken.offset)\(place): \(input.fault(broken.reason))"
    }
  }
}

/// Follows where a walk is, and so where it broke off; and shows how far it is.
private struct ProgressFollower: StructureVisitor {
  private(set) var path = Path()
  private let progress: Progress

  init(_ progress: Progress) { self.progress = progress }

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    progress.reach(bytes.upperBound)
  }
  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}

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
  /// The only offset whose piece is wanted; nil if all are. A walk then passes over values before it without checking
  /// them, and ends after it.
  var wanted: Int? { get }
}

extension StructureVisitor {
  var wanted: Int? { nil }
  static var seeksFlaws: Bool { false }
  mutating func flaw(at offset: Int, _ reason: String) {}

  /// Leaves the places that a walk was inside when it broke off.
  mutating func leave(to depth: Int) { while self.depth > depth { leave() } }
}

/// The purpose of bytes.
enum PieceKind: String {
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

/// The place of something in a value, as text: `people[3].name`.
struct Path: CustomStringConvertible {
  private var places: [Place]

  init(_ places: [Place] = []) { self.places = places }

  var count: Int { places.count }

  mutating func enter(_ place: Place) { places.append(place) }
  mutating func leave() { places.removeLast() }

  var description: String {
    var (record, text) = ("", "")
    for place in places {
      switch place {
      case .part: break
      case .entry(let key), .field(let key), .cell(let key): append(key, to: &text)
      case .element(let index), .row(let index), .column(let index): text += "[\(index)]"
      case .record(let number): record = "record \(number)"
      }
    }
    let parts = [record, text].filter { !$0.isEmpty }
    return parts.isEmpty ? "the top" : parts.joined(separator: ", ")
  }

  private func append(_ key: String, to text: inout String) {
    let step = Self.step(key)
    text += (text.isEmpty || step.hasPrefix("[") ? "" : ".") + step
  }

  /// Returns a key as it is written at the front of a path: in quotes and brackets unless it is a name.
  static func step(_ key: String) -> String { StowPath([.key(key)]).description }

  /// Returns this path inside a place.
  func inside(_ place: Place) -> Path { Path([place] + places) }

  /// Returns this path inside what another path leads to.
  func inside(_ path: StowPath) -> Path {
    path.steps.reversed().reduce(self) { inner, step in
      switch step {
      case .key(let key): inner.inside(.entry(key))
      case .index(let index): inner.inside(.element(index))
      case .each: inner
      }
    }
  }
}

/// Where bytes break the format, and how.
struct Broken: Error {
  let offset: Int
  let reason: String

  init(_ reason: String, at offset: Int) {
    self.offset = offset
    self.reason = reason
  }

  init(_ error: FormatError) {
    offset = error.offset
    reason =
      switch error.kind {
      case .truncated: "the bytes end before this does"
      case .reserved: "a tag that is reserved for later versions of the format"
      case .invalidText: "not UTF-8"
      case .exceedsInt: "a number that is larger than this machine can count"
      default: "this breaks the format"
      }
  }
}
