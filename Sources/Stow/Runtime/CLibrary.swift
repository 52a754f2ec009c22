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

  /// A variable of the environment; nil if there is none of that name.
  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
