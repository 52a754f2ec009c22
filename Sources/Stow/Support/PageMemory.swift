/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer has pages of its own, of 2 MiB where the system has them. The first touch of every page
/// is a trap into the kernel, and with pages of 4 KiB these were a third of the time of encoding a message of some
/// MiB. From `malloc` a large buffer would stay in the process when it is freed: a third of the peak of encoding
/// 100,000 records was memory that nothing used any more.
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
      if byteCount >= smallestLarge { return CLibrary.map(pages(byteCount), inPagesOf: hugePage) }
    #endif
    return CLibrary.allocate(byteCount)
  }

  /// Frees what `allocate` gave for as many bytes.
  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.unmap(memory, pages(byteCount)) }
    #endif
    CLibrary.deallocate(memory)
  }

  /// Gives back what lies in whole pages of `range` of a large buffer; its bytes are lost.
  static func discard(_ range: Range<Int>, of memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      guard byteCount >= smallestLarge else { return }
      let (start, end) = (pages(range.lowerBound), range.upperBound & ~(hugePage - 1))
      if start < end { CLibrary.discard(memory + start, end - start) }
    #endif
  }

  /// How many times as large a buffer of `byteCount` bytes becomes that is full.
  ///
  /// What a large buffer does not use takes no memory where the system gives pages as they are touched, so it
  /// may grow faster; then less is copied, and fewer pages are made only to be given back.
  static func growth(of byteCount: Int) -> Int {
    #if os(Linux) && _pointerBitWidth(_64)
      byteCount >= smallestLarge && byteCount < 1 << 28 ? 16 : 2
    #else
      2
    #endif
  }
}
