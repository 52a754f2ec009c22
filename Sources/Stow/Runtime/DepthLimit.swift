/// How many containers may be nested, which both coders let be chosen.
@usableFromInline
enum DepthLimit {
  @inlinable static var standard: Int { 512 }

  /// The limit that stands for a chosen one. Twice as much is an integer still: `encode(to:)` and `init(from:)` may
  /// call themselves so often.
  static func clamped(_ depth: Int) -> Int { min(max(0, depth), Int.max / 4) }
}
