/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer has pages of its own, of 2 MiB where the system has them. The first touch of every page
/// is a trap into the kernel, of which small pages have many. From `malloc` a large buffer would stay in the process
/// when it is freed.
enum PageMemory {
  #if os(Linux)
    private static let hugePage = 1 << 21
    /// Smaller buffers are not worth whole pages of that size.
    private static let smallestLarge = 2 * hugePage

    private static func pages(_ byteCount: Int) -> Int { (byteCount + hugePage - 1) & ~(hugePage - 1) }
  #endif

  /// Memory for `byteCount` bytes, aligned for every type; to be freed by `deallocate`.
  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    #if os(Linux)
      if byteCount >= smallestLarge {
        guard let memory = CLibrary.map(pages(byteCount), inPagesOf: hugePage) else {
          fatalError("Out of memory")
        }
        return memory
      }
    #endif
    return CLibrary.allocate(byteCount)
  }

  /// Memory for a buffer that is full: for `wanted` elements of `stride` bytes, and for twice as many as `capacity` or
  /// more, but no more than `limit`.
  static func allocateMore(
    than capacity: Int, atLeast wanted: Int, atMost limit: Int, stride: Int
  ) -> (memory: UnsafeMutableRawPointer, capacity: Int) {
    precondition(wanted <= limit, "A message has more than 4 billion values")
    let capacity = min(max(capacity * 2, wanted), limit)
    return (allocate(capacity * stride), capacity)
  }

  /// Frees what `allocate` gave for as many bytes.
  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.unmap(memory, pages(byteCount)) }
    #endif
    CLibrary.deallocate(memory)
  }

  /// Lends `body` memory for `capacity` elements.
  static func withTemporary<Element: BitwiseCopyable, Result>(
    of type: Element.Type, capacity: Int, _ body: (UnsafeMutableBufferPointer<Element>) -> Result
  ) -> Result {
    let byteCount = capacity * MemoryLayout<Element>.stride
    let memory = allocate(byteCount)
    defer { deallocate(memory, byteCount: byteCount) }
    return body(
      UnsafeMutableBufferPointer(start: memory.bindMemory(to: type, capacity: capacity), count: capacity))
  }
}
