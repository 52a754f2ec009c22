// Memory for buffers, and access to what is in memory without copying it.

/// Trivial elements in a buffer that grows, and is used again from message to message.
///
/// There is always room for one more: the buffer grows when it is full, not when an element comes, so that appending ends
/// with the rare call.
struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int
  private let initialCapacity: Int

  /// An empty buffer with room for `capacity` elements, at least one.
  init(capacity: Int) {
    initialCapacity = capacity
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  @inline(__always)
  mutating func append(_ element: Element) {
    base[count] = element
    count &+= 1
    if count == capacity { grow(to: count + 1) }
  }

  /// Makes room for `size` more elements, and for one more.
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
    // What is as large as a word is named by 32-bit indices, of which the last stands for none.
    let limit = MemoryLayout<Element>.stride >= 8 ? Int(clamping: UInt32.max) - 1 : .max
    precondition(wanted <= limit, "A message has more than 4 billion values")
    move(to: min(max(capacity * 2, wanted), limit))
  }

  private mutating func move(to newCapacity: Int) {
    let target = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
    target.update(from: base, count: count)
    base.deallocate()
    (base, capacity) = (target, newCapacity)
  }

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
  ///
  /// Whoever starts over pays for the first touch of every page again, but a single large message must not occupy memory
  /// for good.
  mutating func removeAll() {
    let used = count
    count = 0
    let small = (1 << 20) / MemoryLayout<Element>.stride
    if capacity > small, capacity > 8 * small || used < capacity / 32 { move(to: initialCapacity) }
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
