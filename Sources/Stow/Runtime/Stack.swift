#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// How deep calls may go: a limit that users choose, and what the stack of the thread has room for.

/// The limit of nested containers, which both coders let users choose.
enum DepthLimit {
  static var standard: Int { 512 }

  /// Returns the limit to use for a chosen one. Twice as much must not overflow: within each container, one
  /// more call may encode or decode a value that holds just the container.
  static func clamped(_ depth: Int) -> Int { min(max(0, depth), Int.max / 4) }
}

/// The bounds of the current thread's stack, on systems that tell where it ends.
struct StackBounds {
  private let lowest: UInt
  private let size: UInt

  /// Nil if the system does not tell.
  static var current: StackBounds? {
    #if canImport(Darwin)
      let size = UInt(pthread_get_stacksize_np(pthread_self()))
      return StackBounds(
        lowest: UInt(bitPattern: pthread_get_stackaddr_np(pthread_self())) - size, size: size)
    #elseif canImport(Glibc) || canImport(Musl)
      // After a fork the first thread may have another's stack.
      if isFirstThread, let first = ofFirstThread, first.remaining != nil { return first }
      return read()
    #else
      return nil
    #endif
  }

  #if canImport(Glibc) || canImport(Musl)
    private static func read() -> StackBounds? {
      var attributes = pthread_attr_t()
      guard let readAttributes, readAttributes(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var lowest: UnsafeMutableRawPointer?
      var size = 0
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0 else { return nil }
      return StackBounds(lowest: UInt(bitPattern: lowest), size: UInt(size))
    }

    /// Cached, because the C library finds them by reading the list of all memory that the process has
    /// mapped. This stack ends with the process.
    private static let ofFirstThread = read()

    private static var isFirstThread: Bool { readThreadID.map { $0() == getpid() } ?? false }

    // The headers declare these for GNU programs only.
    private static let readAttributes = function(
      "pthread_getattr_np",
      as: (@convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt).self)
    private static let readThreadID = function("gettid", as: (@convention(c) () -> pid_t).self)

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
      dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
  #endif

  /// The bytes below the caller's frame; nil on another stack.
  @inline(never)
  var remaining: Int? {
    var marker: UInt8 = 0
    let address = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    guard address >= lowest, address - lowest < size else { return nil }
    return Int(address - lowest)
  }
}

/// Checks from time to time, as calls become many, whether the thread's stack has room for more.
struct StackGuard {
  /// The stack of the thread, once calls are many.
  private var stack: StackBounds?

  /// The number of calls from one check of the stack to the next, less one: a mask.
  private static let callsPerCheck = 7
  /// The bytes that these calls need, with everything that the last one calls.
  private static let leastStack = 192 << 10

  static func isDue(_ calls: Int) -> Bool { calls & callsPerCheck == callsPerCheck }

  /// Returns whether there is no room for a few more calls.
  ///
  /// - Parameter isElsewhere: Whether this may be another thread than last time, even if that has ended.
  @inline(never)
  mutating func isLow(isElsewhere: Bool) -> Bool {
    // A value may hand what it is given to another thread, and wait for it.
    if isElsewhere || stack?.remaining == nil { stack = StackBounds.current }
    guard let remaining = stack?.remaining else { return false }
    return remaining < Self.leastStack
  }

  mutating func reset() { stack = nil }
}
