/// Looks now and then, as calls become many, whether the stack of the thread has room for more.
struct StackGuard {
  /// The stack of the thread, once calls are many.
  private var stack: StackBounds?

  /// After how many calls more the stack is looked at, less one: a mask.
  private static let callsPerCheck = 7
  /// The bytes that these calls must find, with all that is called from the last.
  private static let leastStack = 192 << 10

  @inline(__always)
  static func isDue(_ calls: Int) -> Bool { calls & callsPerCheck == callsPerCheck }

  /// Whether there is no room for some calls more.
  ///
  /// - Parameter isElsewhere: Whether this may be another thread than last time.
  @inline(never)
  mutating func isLow(isElsewhere: Bool) -> Bool {
    if stack == nil || isElsewhere { stack = StackBounds.current }
    guard let remaining = stack?.remaining else { return false }
    return remaining < Self.leastStack
  }

  mutating func reset() { stack = nil }
}
