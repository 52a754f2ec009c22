/// Decides whether a buffer keeps its memory for the next message.
///
/// A buffer that starts over pays for the first touch of every page again. But a single large message must not occupy
/// memory for good.
struct Retention {
  /// The most elements of all messages since the memory was new: what of it has been touched.
  private var touched = 0

  /// A message that used less than this part of what was touched shows that the memory is not needed again.
  private static let leastUsedPart = 16

  /// Whether to keep the memory, of which a message has used `count` elements.
  ///
  /// - Parameter limit: How many elements are too many to be kept.
  mutating func keepsMemory(used count: Int, limit: Int) -> Bool {
    touched = max(touched, count)
    return touched <= limit && count >= touched / Self.leastUsedPart
  }
}
