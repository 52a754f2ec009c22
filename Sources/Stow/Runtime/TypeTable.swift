/// What is known of types, by their identity.
///
/// Comparing identities is the cheapest question one can ask about a type; a cast to a protocol is the dearest. What
/// follows from a type is found out once and kept here. Open addressing; nothing is ever evicted, as a program has few
/// types. Values must be trivial.
struct TypeTable<Value: BitwiseCopyable>: ~Copyable {
  private typealias Slot = (type: UnsafeRawPointer?, value: Value?)

  private var slots: UnsafeMutablePointer<Slot>
  private var mask = 63
  private var count = 0

  init() {
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: (nil, nil), count: mask + 1)
  }

  deinit { slots.deallocate() }

  @inline(__always)
  static func identity(_ type: Any.Type) -> UnsafeRawPointer {
    UnsafeRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type))).unsafelyUnwrapped
  }

  @inline(__always)
  private func start(_ type: UnsafeRawPointer) -> Int {
    let address = UInt(bitPattern: type)
    return Int(truncatingIfNeeded: (address >> 4) ^ (address >> 11)) & mask
  }

  @inline(__always)
  subscript(type: UnsafeRawPointer) -> Value? {
    var index = start(type)
    while true {
      let slot = slots[index]
      if slot.type == type { return slot.value }
      if slot.type == nil { return nil }
      index = (index &+ 1) & mask
    }
  }

  mutating func insert(_ value: Value, for type: UnsafeRawPointer) {
    if count * 2 > mask { grow() }
    place((type, value))
    count += 1
  }

  private func place(_ slot: Slot) {
    guard let type = slot.type else { return }
    var index = start(type)
    while slots[index].type != nil { index = (index + 1) & mask }
    slots[index] = slot
  }

  private mutating func grow() {
    let old = UnsafeMutableBufferPointer(start: slots, count: mask + 1)
    mask = mask * 2 + 1
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: (nil, nil), count: mask + 1)
    for slot in old { place(slot) }
    old.deallocate()
  }
}
