#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WASILibc)
  import WASILibc
#elseif canImport(ucrt)
  import ucrt
#endif

/// The functions of the C library that are used, on every platform.
enum CLibrary {
  /// Returns whether `count` bytes at two places are the same.
  static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    memcmp(left, right, count) == 0
  }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  #if os(Linux)
    /// Maps memory in pages of `pageSize` bytes if the system has them, otherwise in pages of the usual size.
    /// It counts as used only as far as it is touched.
    ///
    /// - Parameter byteCount: A multiple of `pageSize`, which is a power of two.
    /// - Returns: Nil if the process may not have that much.
    static func map(_ byteCount: Int, inPagesOf pageSize: Int) -> UnsafeMutableRawPointer? {
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
      let size = byteCount + pageSize
      guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0), Int(bitPattern: start) != -1
      else { return nil }
      let memory = start.alignedUp(toMultipleOf: pageSize)
      let before = memory - start
      if before > 0 { munmap(start, before) }
      munmap(memory + byteCount, pageSize - before)
      madvise(memory, byteCount, MADV_HUGEPAGE)
      return memory
    }

    static func unmap(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) { munmap(memory, byteCount) }
  #endif
}
