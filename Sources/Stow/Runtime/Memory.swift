// Memory for buffers, and access to what is in memory without copying it.

/// Raw memory for buffers that may become large.
///
/// On Linux a large buffer has pages of its own, of 2 MiB where the system has them. The first touch of every page
/// is a trap into the kernel, of which small pages have many. From `malloc` a large buffer would stay in the process
/// when it is freed.
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
      if byteCount >= smallestLarge {
        guard let memory = CLibrary.map(pages(byteCount), inPagesOf: hugePage) else {
          fatalError("Out of memory")
        }
        return memory
      }
    #endif
    return CLibrary.allocate(byteCount)
  }

  /// Memory for a buffer that is full: for `wanted` elements of `stride` bytes, and for twice as many as `capacity` or
  /// more, but no more than `limit`.
  static func allocateMore(
    than capacity: Int, atLeast wanted: Int, atMost limit: Int, stride: Int
  ) -> (memory: UnsafeMutableRawPointer, capacity: Int) {
    precondition(wanted <= limit, "A message has more than 4 billion values")
    let capacity = min(max(capacity * 2, wanted), limit)
    return (allocate(capacity * stride), capacity)
  }

  /// Frees what `allocate` gave for as many bytes.
  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      if byteCount >= smallestLarge { return CLibrary.unmap(memory, pages(byteCount)) }
    #endif
    CLibrary.deallocate(memory)
  }
}

/// Decides whether a buffer keeps its memory for the next message.
///
/// A buffer that starts over pays for the first touch of every page again. But a single large message must not occupy
/// memory for good.
struct Retention {
  /// The most elements of all messages since the memory was new: what of it has been touched.
  private var touched = 0

  /// A message that used less than this part of the touched elements shows that the memory is not needed again.
  private static let leastUsedPart = 16

  /// Whether to keep the memory, of which a message has used `count` elements.
  ///
  /// - Parameter limit: How many elements are too many to be kept.
  mutating func keepsMemory(used count: Int, limit: Int) -> Bool {
    touched = max(touched, count)
    return touched <= limit && count >= touched / Self.leastUsedPart
  }
}

/// Trivial elements in a buffer that grows, and is used again from message to message.
///
/// There is always room for one more: the buffer grows when it is full, not when an element comes. Appending ends with the
/// rare call then, and whoever only appends has nothing to save across it.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int
  private let initialCapacity: Int

  private var retention = Retention()

  /// A buffer of this size is always kept for the next message.
  private static var smallCapacity: Int { (1 << 20) / MemoryLayout<Element>.stride }
  /// One in which more was used is never kept.
  private static var mostRetainedBytes: Int { 1 << 22 }

  /// An empty buffer with room for `capacity` elements, at least one.
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
    put(element)
    if isFull { makeRoom() }
  }

  /// Appends an element here and one to another buffer.
  @inline(__always)
  mutating func append<Other>(
    _ element: Element, _ otherElement: Other, to other: inout GrowableBuffer<Other>
  ) {
    put(element)
    other.put(otherElement)
    if isFull || other.isFull { makeRoom(&other) }
  }

  /// Appends an element; room for one more must be made before anything else happens.
  private mutating func put(_ element: Element) {
    base[count] = element
    count &+= 1
  }

  private var isFull: Bool { count == capacity }

  @inline(never)
  private mutating func makeRoom() { grow(to: count + 1) }

  @inline(never)
  private mutating func makeRoom<Other>(_ other: inout GrowableBuffer<Other>) {
    if isFull { makeRoom() }
    if other.isFull { other.makeRoom() }
  }

  /// Makes room for `size` more elements, and for one more.
  @inline(__always)
  mutating func reserve(_ size: Int) {
    if size >= capacity &- count { grow(to: count + size + 1) }
  }

  /// Takes in what was written after the elements, to the room that was reserved.
  mutating func extend(to count: Int) {
    precondition(count >= self.count && count < capacity)
    self.count = count
  }

  @inline(never)
  private mutating func grow(to wanted: Int) {
    let stride = MemoryLayout<Element>.stride
    // What is as large as a word is named by 32-bit indices, of which the last stands for none.
    let limit = stride >= 8 ? Int(clamping: UInt32.max) - 1 : .max
    let (memory, newCapacity) = PageMemory.allocateMore(
      than: capacity, atLeast: wanted, atMost: limit, stride: stride)
    let larger = memory.bindMemory(to: Element.self, capacity: newCapacity)
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
    set {
      precondition(index >= 0 && index < count)
      base[index] = newValue
    }
  }

  /// Takes the last of the elements, of which there must be one.
  mutating func takeLast() -> Element {
    precondition(count > 0)
    count &-= 1
    return base[count]
  }

  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  /// Forgets the elements, and the memory if it is large and not likely to be needed soon.
  mutating func removeAll() {
    if capacity > Self.smallCapacity { trim(used: count) }
    count = 0
  }

  @inline(never)
  private mutating func trim(used: Int) {
    let limit = Self.mostRetainedBytes / MemoryLayout<Element>.stride
    if !retention.keepsMemory(used: used, limit: limit) { self = Self(capacity: initialCapacity) }
  }

  var buffer: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }
}

extension Unmanaged {
  /// Lends the object, which somebody else keeps, without counting a reference.
  @inline(__always)
  func borrow<Result, Failure: Error>(
    _ body: (Instance) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var failure: Failure?
    let result: Result? = _withUnsafeGuaranteedRef { object in
      do throws(Failure) {
        return try body(object)
      } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw failure }
    return result.unsafelyUnwrapped
  }
}

/// Passes the pointee where it is: reading a copyable one copies it first.
@inline(__always)
func borrowing<Pointee: ~Copyable, Failure: Error>(
  _ pointer: UnsafePointer<Pointee>, _ body: (borrowing Pointee) throws(Failure) -> Void
) throws(Failure) {
  try body(pointer.pointee)
}

/// Passes what an optional holds where it is, and says whether there was anything.
///
/// Taking a copyable one out copies it, for which the metadata of the optional is looked up.
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

/// Passes the elements of an array where they are.
///
/// `withUnsafeBufferPointer` is not in line where their type is not known. The array lives while it is borrowed, and its
/// elements with it.
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
