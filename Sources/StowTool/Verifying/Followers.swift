/// Follows where a walk is, and so where it broke off; and shows how far it is.
struct ProgressFollower: StructureVisitor {
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

/// Follows a walk to the first flaw that it meets.
struct FlawFollower: StructureVisitor {
  private var path = Path()
  private(set) var first: (offset: Int, path: Path, reason: String)?
  /// Whether a writer may have known more than a `StowValue` does: what kind of keys an object has, or zeros
  /// at the end of a decimal number's digits.
  private(set) var mayHaveKnownMore = false

  static var seeksFlaws: Bool { true }

  mutating func flaw(at offset: Int, _ reason: String) {
    if first == nil { first = (offset, path, reason) }
  }

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    if kind == .key || kind == .decimal || kind == .shapes && bytes.count > 1 { mayHaveKnownMore = true }
  }

  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}
