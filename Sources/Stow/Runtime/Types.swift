/// How values of types are coded: by their own conformance, or by a plan, which does the same with fewer calls.
struct TypePlans<Handler: AnyObject>: ~Copyable {
  struct Entry: BitwiseCopyable {
    /// The plan, which the table retains.
    fileprivate let plan: UnsafeMutableRawPointer?

    /// Whether values are encoded by `encode(to:)` and decoded by `init(from:)`.
    var isPlain: Bool { plan == nil }

    /// Calls the plan of a type that is not plain. The plan is of class `typed`.
    @inline(__always)
    func withPlan<Typed: AnyObject, Result>(as typed: Typed.Type, _ body: (Typed) throws -> Result) rethrows -> Result {
      guard let plan else { preconditionFailure("a plain type has no plan") }
      return try Unmanaged<Handler>.fromOpaque(plan)._withUnsafeGuaranteedRef {
        try body(unsafeDowncast($0, to: typed))
      }
    }
  }

  private var table = TypeTable()
  /// Retains the plans in the table.
  private var plans: [Handler] = []
  /// Makes the plan of a type; nil for a plain one. Runs code of the user's, so nothing here may change meanwhile.
  let makePlan: (Any.Type) -> Handler?

  init(_ makePlan: @escaping (Any.Type) -> Handler?) { self.makePlan = makePlan }

  /// Returns nil for a type that was not met before.
  @inline(__always)
  subscript(type: Any.Type) -> Entry? { table[type].map { Entry(plan: $0) } }

  /// Adds a type with the plan that was made for it, unless making the plan has added the type.
  mutating func add(_ type: Any.Type, _ plan: Handler?) -> Entry {
    if let known = self[type] { return known }
    if let plan { plans.append(plan) }
    let address = plan.map { Unmanaged.passUnretained($0).toOpaque() }
    table.insert(address, for: type)
    return Entry(plan: address)
  }
}

/// What follows from types, by their identity: found out once, because a cast of a type to a protocol is expensive.
///
/// A hash table with open addressing, from which nothing is evicted, because a program has few types. Its values are
/// raw addresses, because every access to typed ones would look up the type where code is not specialized.
struct TypeTable: ~Copyable {
  typealias Value = UnsafeMutableRawPointer?
  private typealias Slot = (type: ObjectIdentifier?, value: Value)

  private let slots: UnsafeMutablePointer<Slot>
  private let mask: Int
  private var count = 0

  init(mask: Int = 63) {
    self.mask = mask
    slots = .allocate(capacity: mask + 1)
    slots.initialize(repeating: (nil, nil), count: mask + 1)
  }

  deinit { slots.deallocate() }

  private func start(_ type: ObjectIdentifier) -> Int {
    let address = UInt(bitPattern: type)
    return Int(truncatingIfNeeded: (address >> 4) ^ (address >> 11)) & mask
  }

  @inline(__always)
  subscript(type: Any.Type) -> Value? {
    let type = ObjectIdentifier(type)
    var index = start(type)
    while true {
      let slot = slots[index]
      if slot.type == type { return slot.value }
      if slot.type == nil { return nil }
      index = (index &+ 1) & mask
    }
  }

  mutating func insert(_ value: Value, for type: Any.Type) {
    if count * 2 > mask { grow() }
    place((ObjectIdentifier(type), value))
  }

  private mutating func place(_ slot: Slot) {
    guard let type = slot.type else { return }
    var index = start(type)
    while slots[index].type != nil { index = (index + 1) & mask }
    slots[index] = slot
    count += 1
  }

  private mutating func grow() {
    var larger = TypeTable(mask: mask * 2 + 1)
    for index in 0...mask { larger.place(slots[index]) }
    self = larger
  }
}

/// Returns the byte that tells a key from the others of its type, if that is a single trivial byte; 0 for other types.
@inline(__always)
func keyByte<Key>(_ key: Key) -> Int {
  // Unlike reading the bytes of the key, this needs no copy of a key whose type is not known here.
  MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
}

/// Returns whether that byte tells the keys of a type apart.
func isByte<Key>(_ type: Key.Type) -> Bool { MemoryLayout<Key>.size <= 1 && _isPOD(Key.self) }

/// Returns whether a type may have generic arguments, and so conform to `WholeEncodable` or `PlannedDecodable`. Reading
/// the name is quick, whereas the first cast to a protocol searches every conformance of the program.
func mayBeGeneric(_ type: Any.Type) -> Bool { _typeName(type, qualified: true).utf8.contains(UInt8(ascii: "<")) }

/// Returns whether a type is a generic type of some name, with its arguments.
func isInstance(_ type: Any.Type, of name: String) -> Bool { _typeName(type, qualified: true).hasPrefix(name + "<") }

/// An optional, for code that does not know what it wraps.
protocol AnyOptional {
  static var wrapped: Any.Type { get }
  var isNil: Bool { get }
  static func isNil(_ value: UnsafeRawPointer) -> Bool
  static func putNil(_ target: UnsafeMutableRawPointer)
}

extension Optional: AnyOptional {
  static var wrapped: Any.Type { Wrapped.self }

  var isNil: Bool { self == nil }

  static func isNil(_ value: UnsafeRawPointer) -> Bool {
    var isNil = true
    borrowing(value.assumingMemoryBound(to: Self.self)) { isNil = !borrowingSome($0) { _ in } }
    return isNil
  }

  static func putNil(_ target: UnsafeMutableRawPointer) { target.put(nil as Self) }
}

extension UnsafeMutableRawPointer {
  func put<Value>(_ value: Value) { initializeMemory(as: Value.self, to: value) }

  @inline(__always)
  func put<Value>(_ value: Value, isOptional: Bool) { isOptional ? put(Optional(value)) : put(value) }
}
