// Memory for buffers, and access to what is in memory without copying it.

/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer has pages of its own, of 2 MiB if the system has them. The first touch of every
/// page traps into the kernel, and there are many small pages. From `malloc`, a large buffer would stay in
/// the process after it is freed.
enum PageMemory {
  #if os(Linux)
    private static let hugePage = 1 << 21
    /// Smaller buffers are not worth whole pages of that size.
    private static let smallestLarge = 2 * hugePage

    private static func pages(_ byteCount: Int) -> Int { (byteCount + hugePage - 1) & ~(hugePage - 1) }
  #endif

  /// Returns memory for `byteCount` bytes, aligned for every type; to be freed by `deallocate`.
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

  /// Frees memory that `allocate` returned for as many bytes.
  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.unmap(memory, pages(byteCount)) }
    #endif
    CLibrary.deallocate(memory)
  }
}

/// A growable buffer of trivial elements, reused from message to message.
///
/// There is always room for one more element: the buffer grows when it becomes full, not when the next
/// element comes. Appending thus ends with the rare call to grow, and no registers are saved for it.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int
  private let initialCapacity: Int

  /// Memory up to this size is kept for the next message; larger memory only if it is not much larger and was
  /// used well. Starting over touches every page for the first time again, but a single large message must
  /// not occupy memory forever.
  private static var smallCapacity: Int { (1 << 20) / MemoryLayout<Element>.stride }
  private static var largestCapacity: Int { 8 * smallCapacity }

  /// Makes an empty buffer with room for `capacity` elements, at least one.
  init(capacity: Int) {
    initialCapacity = capacity
    self.capacity = capacity
    base = Self.allocate(capacity)
  }

  deinit { Self.deallocate(base, capacity) }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Element> {
    PageMemory.allocate(capacity * MemoryLayout<Element>.stride).bindMemory(
      to: Element.self, capacity: capacity)
  }

  private static func deallocate(_ memory: UnsafeMutablePointer<Element>, _ capacity: Int) {
    PageMemory.deallocate(memory, byteCount: capacity * MemoryLayout<Element>.stride)
  }

  @inline(__always)
  mutating func append(_ element: Element) {
    base[count] = element
    count &+= 1
    if count == capacity { grow(to: count &+ 1) }
  }

  /// Makes room for `size` more elements, and for one more.
  @inline(__always)
  mutating func reserve(_ size: Int) {
    if size >= capacity &- count { grow(to: count + size + 1) }
  }

  /// Takes in elements that were written into the reserved room.
  mutating func extend(to count: Int) {
    precondition(count >= self.count && count < capacity)
    self.count = count
  }

  @inline(never)
  private mutating func grow(to wanted: Int) {
    // Elements of a word or more are addressed by 32-bit indices; `UInt32.max` is reserved for "no index".
    let limit = MemoryLayout<Element>.stride >= 8 ? Int(clamping: UInt32.max) - 1 : .max
    precondition(wanted <= limit, "A message has more than 4 billion values")
    let newCapacity = min(max(capacity * 2, wanted), limit)
    let larger = Self.allocate(newCapacity)
    larger.update(from: base, count: count)
    Self.deallocate(base, capacity)
    base = larger
    capacity = newCapacity
  }

  @inline(__always)
  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return base[index]
    }
    _modify {
      precondition(index >= 0 && index < count)
      yield &base[index]
    }
  }

  /// Removes the last element, which must exist, and returns it.
  mutating func takeLast() -> Element {
    precondition(count > 0)
    count &-= 1
    return base[count]
  }

  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  /// Forgets the elements, and the memory if it is large and unlikely to be needed soon.
  mutating func removeAll() {
    if capacity > Self.smallCapacity { trim() }
    count = 0
  }

  @inline(never)
  private mutating func trim() {
    guard capacity > Self.largestCapacity || count < capacity / 32 else { return }
    Self.deallocate(base, capacity)
    capacity = initialCapacity
    base = Self.allocate(capacity)
  }

  var buffer: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }
}

/// Lends the pointee in place: reading a copyable one would copy it first.
@inline(__always)
func borrowing<Pointee: ~Copyable, Failure: Error>(
  _ pointer: UnsafePointer<Pointee>, _ body: (borrowing Pointee) throws(Failure) -> Void
) throws(Failure) {
  try body(pointer.pointee)
}

/// Lends the elements of a buffer in place, with their indices.
@inline(__always)
func borrowingEach<Element, Failure: Error>(
  of elements: UnsafeBufferPointer<Element>, _ body: (borrowing Element, _ index: Int) throws(Failure) -> Void
) throws(Failure) {
  guard let first = elements.baseAddress else { return }
  for index in 0..<elements.count {
    try borrowing(first + index) { element throws(Failure) in try body(element, index) }
  }
}

/// Lends the value of an optional in place, and returns whether there was one.
///
/// Unwrapping a copyable value copies it, which looks up the metadata of the optional.
@inline(__always)
func borrowingSome<Wrapped: ~Copyable, Failure: Error>(
  _ optional: borrowing Wrapped?, _ body: (borrowing Wrapped) throws(Failure) -> Void
) throws(Failure) -> Bool {
  switch optional {
  case .some(let value):
    try body(value)
    return true
  case .none: return false
  }
}

/// Lends the elements of an array in place.
///
/// `withUnsafeBufferPointer` is not inlined if their type is not known. The array lives while it is borrowed,
/// and its elements with it.
@inline(__always)
func borrowingElements<Element, Failure: Error>(
  of array: borrowing [Element], _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Void
) throws(Failure) {
  if let first = array._baseAddressIfContiguous {
    try body(UnsafeBufferPointer(start: first, count: array.count))
  } else {
    try array.withUnsafeBufferPointer(body)
  }
}
