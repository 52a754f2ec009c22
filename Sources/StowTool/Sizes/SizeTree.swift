import Stow

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
  private var places: [ExactString: Int] = [:]

  init(_ step: String = "") { self.step = step }

  /// Returns the tree of a step, which is made if it does not exist.
  func child(_ step: String) -> SizeTree {
    if let place = places[ExactString(step)] { return below[place] }
    places[ExactString(step)] = below.count
    below.append(SizeTree(step))
    return below[below.count - 1]
  }

  func add(_ size: Int, _ kind: PieceKind) {
    own += size
    kinds[kind, default: 0] += size
  }

  func addValue() { count += 1 }

  /// All bytes, those below included.
  lazy var total: Int = own + below.reduce(0) { $0 + $1.total }

  /// The purpose of most of the bytes here.
  var mainKind: PieceKind {
    kinds.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key ?? .structure
  }
}

/// Collects the sizes of the pieces that a walk visits.
struct SizeCollector: StructureVisitor {
  /// The bytes of the value by path.
  let tree = SizeTree()
  /// All bytes by kind, including those of the prelude and around messages.
  private(set) var kinds: [PieceKind: Int] = [:]
  private var stack: [SizeTree] = []
  private var isInRow = false
  /// The depths of the stack at which rows were entered.
  private var depths: [Int] = []

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
    case .entry(let key), .field(let key): next = next.child(Self.step(key))
    case .element: next = next.child("[]")
    case .row:
      next = next.child("[]")
      isInRow = true
    case .cell(let key): next = (isInRow ? next : next.child("[]")).child(Self.step(key))
    case .column: next = (isInRow ? next : next.child("[]")).child("[]")
    }
    switch place {
    case .part: break
    // What describes a column of a table is no value.
    case .cell, .column: if isInRow { next.addValue() }
    default: next.addValue()
    }
    if case .row = place { depths.append(stack.count) }
    stack.append(next)
  }

  mutating func leave() {
    stack.removeLast()
    if depths.last == stack.count {
      depths.removeLast()
      isInRow = false
    }
  }

  private static func step(_ key: String) -> String {
    let step = PathText.step(key)
    return step.hasPrefix("[") ? step : ".\(step)"
  }
}
