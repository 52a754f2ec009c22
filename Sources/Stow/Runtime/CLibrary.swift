#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  internal import CStow
  import Glibc
#elseif canImport(Musl)
  internal import CStow
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
  static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    memcmp(left, right, count) == 0
  }

  /// Returns how many bytes the heap has at the start of an allocation; 0 where the system does not say.
  static func allocatedSize(_ memory: UnsafeMutableRawPointer) -> Int {
    #if canImport(Darwin)
      malloc_size(memory)
    #elseif canImport(Glibc) || canImport(Musl)
      malloc_usable_size(memory)
    #else
      0
    #endif
  }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  #if os(Linux)
    /// Maps memory in pages of `pageSize` bytes if the system has them, and otherwise in pages of the usual size; nil
    /// if the process may not have that much.
    ///
    /// - Parameter byteCount: A multiple of `pageSize`, which is a power of two.
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

/// The bounds of the current thread's stack.
struct StackBounds {
  private let lowest: UInt
  let size: Int

  /// Nil if the platform does not expose the bounds.
  static var current: StackBounds? {
    #if canImport(Darwin)
      let size = pthread_get_stacksize_np(pthread_self())
      return StackBounds(lowest: UInt(bitPattern: pthread_get_stackaddr_np(pthread_self())) - UInt(size), size: size)
    #elseif canImport(Glibc) || canImport(Musl)
      // After a fork the first thread may have another's stack.
      if stow_thread_id() == getpid(), let first = ofFirstThread, first.remaining(at: address) != nil { return first }
      return read()
    #else
      return nil
    #endif
  }

  #if canImport(Glibc) || canImport(Musl)
    private static func read() -> StackBounds? {
      var attributes = pthread_attr_t()
      guard pthread_getattr_np(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var lowest: UnsafeMutableRawPointer?
      var size = 0
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0 else { return nil }
      return StackBounds(lowest: UInt(bitPattern: lowest), size: size)
    }

    /// Cached, because the C library reads the list of all memory that the process has mapped to find them.
    private static let ofFirstThread = read()
  #endif

  /// The bytes below an address; nil if it is on another stack.
  func remaining(at address: UInt) -> Int? {
    address >= lowest && address - lowest < UInt(size) ? Int(address - lowest) : nil
  }

  /// An address in the current frame: the stack of the thread has grown down to there.
  @inline(__always)
  static var address: UInt {
    var marker: UInt8 = 0
    return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
  }
}

// MARK: how deep calls may go

/// The limit of nested containers, which both coders let users choose.
enum DepthLimit {
  static var standard: Int { 512 }

  /// Returns the limit to use for a chosen one: twice as much must not overflow, because each container may take two
  /// calls.
  static func clamped(_ depth: Int) -> Int { min(max(0, depth), Int.max / 4) }
}

/// Checks whether the thread's stack has room for more calls, each time calls have taken some more of it.
///
///     ─ where coding began
///     │ little, which is not checked
///     ─ a check
///     │ `unchecked` bytes, or one call that takes more
///     ─ a check
///     │ `leastStack` bytes at least: calls until the next check, and what the last of them calls
///     ─ the end
struct StackGuard {
  private var stack: StackBounds?
  /// Where the last check was, or coding began.
  private var checked = StackBounds.address
  /// How many bytes calls may take before the next check.
  private var unchecked: UInt = 8 << 10

  /// The bytes that a check must find. On a small stack, half of it is enough, and each call is checked.
  private static let leastStack = 192 << 10
  private static let usualUnchecked: UInt = 64 << 10

  /// Whether calls have taken much of the stack since the last check, or returned from where it was.
  @inline(__always)
  func isDue(at address: UInt) -> Bool { checked &- address > unchecked }

  /// Returns whether there is no room for a few more calls.
  ///
  /// - Parameter isElsewhere: Whether this may be another thread than last time, even if that has ended.
  @inline(never)
  mutating func isLow(at address: UInt, isElsewhere: Bool) -> Bool {
    // A value may hand what it is given to another thread, and wait for it.
    if isElsewhere || stack?.remaining(at: address) == nil { stack = StackBounds.current }
    guard let stack, let remaining = stack.remaining(at: address) else { return false }
    let least = min(Self.leastStack, stack.size / 2)
    // The next call may take as much as the last one did.
    let used = max(0, (stack.remaining(at: checked) ?? 0) - remaining)
    let excess = max(0, used - Int(unchecked))
    checked = address
    unchecked = least < Self.leastStack ? 0 : Self.usualUnchecked
    return remaining - excess < least
  }
}
