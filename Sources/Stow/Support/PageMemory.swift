/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer asks for pages of 2 MiB. The first touch of every page is a trap into the kernel,
/// and with pages of 4 KiB these were a third of the time of encoding a message of some MiB.
enum PageMemory {
  #if os(Linux)
    private static let hugePage = 1 << 21
    /// Smaller buffers are not worth whole pages of that size.
    private static let smallestLarge = 2 * hugePage
  #endif

  /// Memory for `byteCount` bytes, aligned for every type; to be freed by `deallocate`.
  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.allocate(byteCount, inPagesOf: hugePage) }
    #endif
    return CLibrary.allocate(byteCount)
  }

  /// How many times as large a buffer of `byteCount` bytes becomes that is full.
  ///
  /// What a large buffer does not use takes no memory where the system gives pages as they are touched, so it
  /// may grow faster; then less is copied, and fewer pages are made only to be given back.
  static func growth(of byteCount: Int) -> Int {
    #if os(Linux)
      byteCount >= smallestLarge ? 4 : 2
    #else
      2
    #endif
  }

  static func deallocate(_ memory: UnsafeMutableRawPointer) { CLibrary.deallocate(memory) }
}
