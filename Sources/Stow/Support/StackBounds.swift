#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
      var attributes = pthread_attr_t()
      guard let read = readAttributes, read(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var lowest: UnsafeMutableRawPointer?
      var size = 0
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0 else { return nil }
      return StackBounds(lowest: UInt(bitPattern: lowest), size: UInt(size))
    #else
      return nil
    #endif
  }

  #if canImport(Glibc) || canImport(Musl)
    private typealias ReadAttributes =
      @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> CInt

    /// `pthread_getattr_np`, which the headers show to GNU programs only.
    private static let readAttributes = dlsym(nil, "pthread_getattr_np").map {
      unsafeBitCast($0, to: ReadAttributes.self)
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
