extension Array {
  /// An array of `count` elements, or fewer, that `fill` initializes and counts.
  ///
  /// An empty one is not filled: the standard library would write its count to memory that all empty arrays share,
  /// which threads must not do at once.
  @inline(__always)
  static func filled(
    count: Int, _ fill: (UnsafeMutablePointer<Element>, _ initialized: inout Int) throws -> Void
  ) rethrows -> [Element] {
    guard count > 0 else { return [] }
    return try [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress else { return }
      try fill(start, &initialized)
    }
  }
}
