#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// How deep calls may go: a limit that users choose, and what the stack of the thread has room for.

/// How many containers may be nested, which both coders let be chosen.
enum DepthLimit {
  static var standard: Int { 512 }

  /// The limit that stands for a chosen one. Twice as much is an integer still: within each container, one more call may
  /// encode or decode a value that holds just the container.
  static func clamped(_ depth: Int) -> Int { min(max(0, depth), Int.max / 4) }
}

/// How much of the stack of the current thread is left, where the system says where it ends.
struct StackBounds {
  private let lowest: UInt
  private let size: UInt

  /// Nil where the system does not say.
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

    /// Kept, because to find them the C library reads the list of all the memory that the process has mapped. This stack
    /// ends with the process.
    private static let ofFirstThread = read()

    private static var isFirstThread: Bool { readThreadID.map { $0() == getpid() } ?? false }

    // The headers show these to GNU programs only.
    private static let readAttributes = function(
      "pthread_getattr_np",
      as: (@convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt).self)
    private static let readThreadID = function("gettid", as: (@convention(c) () -> pid_t).self)

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
      dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
  #endif

  /// The bytes below the caller's frame; nil on another stack than this.
  @inline(never)
  var remaining: Int? {
    var marker: UInt8 = 0
    let address = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    guard address >= lowest, address - lowest < size else { return nil }
    return Int(address - lowest)
  }
}

/// Looks now and then, as calls become many, whether the stack of the thread has room for more.
struct StackGuard {
  /// The stack of the thread, once calls are many.
  private var stack: StackBounds?

  /// After how many calls more the stack is looked at, less one: a mask.
  private static let callsPerCheck = 7
  /// The bytes that these calls must find, with all that is called from the last.
  private static let leastStack = 192 << 10

  static func isDue(_ calls: Int) -> Bool { calls & callsPerCheck == callsPerCheck }

  /// Whether there is no room for some calls more.
  ///
  /// - Parameter isElsewhere: Whether this may be another thread than last time.
  @inline(never)
  mutating func isLow(isElsewhere: Bool) -> Bool {
    if stack == nil || isElsewhere { stack = StackBounds.current }
    guard let remaining = stack?.remaining else { return false }
    return remaining < Self.leastStack
  }

  mutating func reset() { stack = nil }
}

/// Tells the thread on which it was made from others, where the system says where stacks are.
struct ThreadMark {
  private let stack = StackBounds.current

  /// Whether this is that thread; true where the system does not say.
  var isCurrent: Bool { stack.map { $0.remaining != nil } ?? true }
}
