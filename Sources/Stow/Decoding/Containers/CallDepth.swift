/// How many `init(from:)` are running within each other, which must be too many neither for the options nor for the
/// stack.
struct CallDepth {
  private var calls = 0
  private var stack = StackGuard()
  /// Whether a container escaped its message, and may be read on any thread.
  var isDetached = false

  /// Counts a call, and returns true unless `enterDue` has to decide.
  @inline(__always)
  mutating func enter(maximumDepth: Int) -> Bool {
    guard calls <= 2 &* maximumDepth, !StackGuard.isDue(calls) else { return false }
    calls &+= 1
    return true
  }

  /// Counts a call, or returns why it would be one too many.
  @inline(never)
  mutating func enterDue(maximumDepth: Int) -> String? {
    guard calls <= 2 &* maximumDepth else {
      return "Decoding calls itself more than \(2 * maximumDepth) levels deep (see maximumDepth)."
    }
    guard !stack.isLow(isElsewhere: isDetached) else {
      return "Decoding calls itself \(calls) levels deep, and no more fit on the stack of this thread."
    }
    calls &+= 1
    return nil
  }

  /// Counts a call that decodes from `decoder`, or throws why it would be one too many.
  mutating func enterDue(maximumDepth: Int, _ decoder: some Decoder) throws {
    guard let reason = enterDue(maximumDepth: maximumDepth) else { return }
    throw DecodingError.tooDeep(reason, path: decoder.codingPath)
  }

  @inline(__always)
  mutating func leave() { calls &-= 1 }
}
