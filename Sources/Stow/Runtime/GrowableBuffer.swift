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
  @inline(__always)
  private mutating func put(_ element: Element) {
    base[count] = element
    count &+= 1
  }

  @inline(__always)
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

  /// Takes in what was written behind the elements, to the room that was reserved.
  @inline(__always)
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
  @inline(__always)
  mutating func takeLast() -> Element {
    precondition(count > 0)
    count &-= 1
    return base[count]
  }

  /// Drops the elements from `count` on.
  @inline(__always)
  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  /// Forgets the elements, and the memory if it is large and not likely to be needed soon.
  @inline(__always)
  mutating func removeAll() {
    if capacity > Self.smallCapacity { trim(used: count) }
    count = 0
  }

  @inline(never)
  private mutating func trim(used: Int) {
    let limit = Self.mostRetainedBytes / MemoryLayout<Element>.stride
    if !retention.keepsMemory(used: used, limit: limit) { self = Self(capacity: initialCapacity) }
  }

  /// All elements, for a walk over them.
  var buffer: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }
}
