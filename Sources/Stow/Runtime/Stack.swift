// How deep calls may go: a limit that users choose, and what the stack of the thread has room for.

/// The limit of nested containers, which both coders let users choose.
enum DepthLimit {
  static var standard: Int { 512 }

  /// Returns the limit to use for a chosen one. Twice as much, the limit of calls, must not overflow: each container may be
  /// reached through a single-value container, which takes another call.
  static func clamped(_ depth: Int) -> Int { min(max(0, depth), Int.max / 4) }
}

/// Checks from time to time, as calls become many, whether the thread's stack has room for more.
struct StackGuard {
  /// The stack of the thread, once calls are many.
  private var stack: StackBounds?
  /// The number of calls from one check of the stack to the next, less one: a mask. On a small stack each call is checked.
  private var callsPerCheck = Self.mostCallsPerCheck

  private static let mostCallsPerCheck = 7
  /// The bytes that these calls need, with everything that the last one calls. On a small stack, half of it must do.
  private static let leastStack = 192 << 10

  func isDue(_ calls: Int) -> Bool { calls & callsPerCheck == callsPerCheck }

  /// Returns how many more calls there may be before a check is due.
  func callsUntilCheck(_ calls: Int) -> Int { callsPerCheck &- calls & callsPerCheck }

  /// Returns whether there is no room for a few more calls.
  ///
  /// - Parameter isElsewhere: Whether this may be another thread than last time, even if that has ended.
  @inline(never)
  mutating func isLow(isElsewhere: Bool) -> Bool {
    // A value may hand what it is given to another thread, and wait for it.
    if isElsewhere || stack?.remaining == nil { stack = StackBounds.current }
    guard let stack, let remaining = stack.remaining else { return false }
    let least = min(Self.leastStack, stack.size / 2)
    callsPerCheck = least < Self.leastStack ? 0 : Self.mostCallsPerCheck
    return remaining < least
  }

  mutating func reset() { self = StackGuard() }
}
