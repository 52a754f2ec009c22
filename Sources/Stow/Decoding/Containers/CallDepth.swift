/// How many `init(from:)` are running within each other, which must be neither too many for the options nor for the stack.
struct CallDepth {
  private var calls = 0
  private var stack = StackGuard()
  /// Whether a container escaped its message, and may be read on any thread.
  var isDetached = false

  /// Counts a call, or throws if it would be one too many. `path` returns where it is.
  @inline(__always)
  mutating func enter(maximumDepth: Int, path: () -> [any CodingKey]) throws {
    guard calls <= 2 &* maximumDepth else { throw Self.tooDeep(maximumDepth, path()) }
    if StackGuard.isDue(calls) { try checkStack(path) }
    calls &+= 1
  }

  @inline(__always)
  mutating func leave() { calls &-= 1 }

  @inline(never)
  private mutating func checkStack(_ path: () -> [any CodingKey]) throws {
    guard stack.isLow(isElsewhere: isDetached) else { return }
    let description =
      "Decoding calls itself \(calls) levels deep, and no more fit on the stack of this thread."
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: path(), debugDescription: description))
  }

  private static func tooDeep(_ maximumDepth: Int, _ path: [any CodingKey]) -> DecodingError {
    let description = "Decoding calls itself more than \(2 * maximumDepth) levels deep (see maximumDepth)."
    return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: description))
  }
}
