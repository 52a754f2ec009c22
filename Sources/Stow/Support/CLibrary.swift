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
  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = malloc(byteCount) else { fatalError("Out of memory") }
    return memory
  }

  static func deallocate(_ memory: UnsafeMutableRawPointer) { free(memory) }

  /// Looks for one variable, where `ProcessInfo` would make a dictionary of all: that was a tenth of the time of the
  /// first message of a process.
  static func hasEnvironmentVariable(_ name: String) -> Bool { getenv(name) != nil }

  #if os(Linux)
    /// Memory in pages of `pageSize` bytes, where the system has them; otherwise they are as small as usual.
    static func allocate(_ byteCount: Int, inPagesOf pageSize: Int) -> UnsafeMutableRawPointer {
      var memory: UnsafeMutableRawPointer?
      guard posix_memalign(&memory, pageSize, byteCount) == 0, let memory else { fatalError("Out of memory") }
      madvise(memory, byteCount, MADV_HUGEPAGE)
      return memory
    }
  #endif
}
