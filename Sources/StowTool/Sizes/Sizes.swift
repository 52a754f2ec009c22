import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `sizes`: where the bytes of a message go.
enum Sizes {
  static let verb = Verb(
    name: "sizes", operands: "[options] FILE", files: 1...1,
    summary: "show where the bytes of a message go",
    details: """
      Prints two tables: bytes by purpose, and by path. All elements of a list share one path, as in people[].name, and the
      bytes of a path include everything below it. Repeated strings and keys count in the prelude; each use counts only its
      number. The segments of a folder are added up.
      """,
    options: [
      Option("--svg", "OUT", "also draw a treemap to this file; - prints only the drawing"),
      Option("--all", nil, "include paths with less than 0.1 % of the bytes"), Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    let context = try Walks.context(arguments)
    var (collector, whole) = (SizeCollector(), 0)
    try input.forEachFile { file in
      let before = collector
      let broken = Walks.walk(file, context) { _ in
        before
      } finish: {
        collector = $0
      }
      if let broken {
        throw Failure("\(file.name): broken at offset \(broken.offset): \(file.fault(broken.reason))", .differs)
      }
      whole += file.data.count
    }
    let drawing = arguments.value("--svg")
    if drawing != Arguments.standardFile { writeTables(of: collector, whole, input, arguments) }
    if let drawing { try draw(collector, whole, input.name, to: drawing) }
    return .fine
  }

  private static func writeTables(of collector: SizeCollector, _ whole: Int, _ input: Input, _ arguments: Arguments) {
    let output = Output()
    output.line("\(input.name): \(Words.count(whole, "byte"))\n")
    let kinds = collector.kinds.sorted { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }
    let byKind = kinds.map { SizeTable.Line(size: $0.value, count: nil, name: $0.key.rawValue) }
    for line in SizeTable.text(byKind, of: whole) { output.line(line) }
    output.line("")
    let least = arguments.has("--all") ? 0 : whole / 1000
    for line in SizeTable.text(SizeTable.lines(of: collector.tree, least: least), of: whole) { output.line(line) }
    output.flush()
  }

  private static func draw(_ collector: SizeCollector, _ whole: Int, _ name: String, to path: String) throws {
    let svg = SizeDrawing.svg(
      of: collector.tree, collector.kinds, whole: whole, title: "\(name): \(Words.count(whole, "byte"))")
    try Output.write(Data(svg.utf8), to: path)
  }
}

/// Where the bytes of a message go: a tree of paths, in which all elements of a list are one.
final class SizeTree {
  /// The step from the tree above: `.name` or `[]`; empty at the top.
  let step: String
  /// The bytes here, without those of the trees below.
  private(set) var own = 0
  /// The same bytes, by their purpose.
  private(set) var kinds: [PieceKind: Int] = [:]
  /// How many values there are.
  private(set) var count = 0
  private(set) var below: [SizeTree] = []
  /// The places in `below` by keys; the key nil stands for elements.
  private var places: [ExactString?: Int] = [:]

  init(_ step: String = "") { self.step = step }

  /// Returns the tree of a key, or of all elements if it is nil. Makes the tree, and the text of its step, at the first
  /// call only, because the text of a long key takes long to make.
  func child(_ key: String?) -> SizeTree {
    let name = key.map(ExactString.init)
    if let place = places[name] { return below[place] }
    places[name] = below.count
    below.append(SizeTree(key.map(Self.step) ?? "[]"))
    return below[below.count - 1]
  }

  private static func step(_ key: String) -> String {
    let step = Path.step(key)
    return step.hasPrefix("[") ? step : ".\(step)"
  }

  /// Returns the path of this tree, whose step follows another path.
  func path(inside path: String) -> String {
    path.isEmpty && step.hasPrefix(".") ? String(step.dropFirst()) : path + step
  }

  func add(_ size: Int, _ kind: PieceKind) {
    own += size
    kinds[kind, default: 0] += size
  }

  func addValue() { count += 1 }

  /// All bytes, those below included.
  lazy var total: Int = own + below.reduce(0) { $0 + $1.total }

  /// The purpose of most of the bytes here.
  var mainKind: PieceKind { kinds.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key ?? .structure }
}

/// Collects the sizes of the pieces that a walk visits.
struct SizeCollector: StructureVisitor {
  /// The bytes of the value by path.
  let tree = SizeTree()
  /// All bytes by kind, including those of the prelude and around messages.
  private(set) var kinds: [PieceKind: Int] = [:]
  private var stack: [SizeTree] = []
  /// The depth of the stack at which a row was entered, which has no other inside; nil outside of rows.
  private var row: Int?

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    kinds[kind, default: 0] += bytes.count
    switch kind {
    case .head, .symbols, .shapes, .framing: break
    default: (stack.last ?? tree).add(bytes.count, kind)
    }
  }

  var depth: Int { stack.count }

  mutating func enter(_ place: Place) {
    var next = stack.last ?? tree
    switch place {
    case .part, .record: break
    case .entry(let key), .field(let key): next = next.child(key)
    case .element: next = next.child(nil)
    case .row:
      next = next.child(nil)
      row = stack.count
    case .cell(let key): next = (row != nil ? next : next.child(nil)).child(key)
    case .column: next = (row != nil ? next : next.child(nil)).child(nil)
    }
    switch place {
    case .part: break
    // What describes a column of a table is no value.
    case .cell, .column: if row != nil { next.addValue() }
    default: next.addValue()
    }
    stack.append(next)
  }

  mutating func leave() {
    stack.removeLast()
    if row == stack.count { row = nil }
  }
}

/// Tables of where bytes go.
enum SizeTable {
  /// A line of a table: bytes, and what they are.
  struct Line {
    let size: Int
    let count: Int?
    let name: String
  }

  /// Returns a line for each path, with all bytes below it, the largest first among those of one tree.
  ///
  /// - Parameter least: Trees of fewer bytes are left out.
  static func lines(of tree: SizeTree, inside path: String = "", least: Int) -> [Line] {
    let path = tree.path(inside: path)
    let line = Line(size: tree.total, count: path.isEmpty ? nil : tree.count, name: path.isEmpty ? "(all)" : path)
    let below = tree.below.filter { $0.total >= least }.sorted { $0.total > $1.total }
    return [line] + below.flatMap { lines(of: $0, inside: path, least: least) }
  }

  /// - Parameter whole: The size that percentages refer to.
  static func text(_ lines: [Line], of whole: Int) -> [String] {
    lines.map { line in
      let share = Words.thousandths(line.size, of: whole)
      let percent = Words.padded("\(share / 10).\(share % 10) %", 8, right: true)
      let count = Words.padded(line.count.map { "\(Words.number($0)) ×" } ?? "", 14, right: true)
      return "\(Words.padded(Words.number(line.size), 14, right: true))\(percent)\(count)  \(line.name)"
    }
  }
}
