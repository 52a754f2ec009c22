/// Tells the thread on which it was made from others, where the system says where stacks are.
struct ThreadMark {
  private let stack = StackBounds.current

  /// Whether this is that thread; true where the system does not say.
  var isCurrent: Bool { stack.map { $0.remaining != nil } ?? true }
}
