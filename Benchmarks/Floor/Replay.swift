import Foundation

/// Everything a decoder once handed out, in the order it was asked for, ready to be handed out again.
///
/// It is made by a `RecordingDecoder` and played by a `ReplayDecoder`.
final class Replay {
  /// Where a player stands. A plain pointer, so that a container holding it costs no reference counting.
  typealias Tape = UnsafeMutablePointer<Position>

  /// How a call ended.
  enum Outcome {
    static let value: UInt8 = 0
    static let yes: UInt8 = 1
    static let failure: UInt8 = 2
  }

  /// The error of a replayed call that failed when it was recorded.
  struct RecordedFailure: Error {}

  private let outcomes: UnsafeMutableBufferPointer<UInt8>
  private let words: UnsafeMutableBufferPointer<UInt64>
  private let strings: UnsafeMutableBufferPointer<String>
  private let data: UnsafeMutableBufferPointer<Data>
  private let urls: UnsafeMutableBufferPointer<URL>
  private let cache = ContainerCache.create()
  private let tape: Tape

  /// Takes what was recorded.
  init(_ recorder: ReplayRecorder) {
    outcomes = Self.copy(recorder.outcomes)
    words = Self.copy(recorder.words)
    strings = Self.copy(recorder.strings)
    data = Self.copy(recorder.data)
    urls = Self.copy(recorder.urls)
    tape = .allocate(capacity: 1)
    tape.initialize(to: start)
  }

  deinit {
    ContainerCache.destroy(cache)
    tape.deallocate()
    outcomes.deallocate()
    words.deallocate()
    strings.deinitialize().deallocate()
    data.deinitialize().deallocate()
    urls.deinitialize().deallocate()
  }

  /// Goes back to the first value.
  func rewind() { tape.pointee = start }

  /// Decodes the next top-level value, out of sight of the optimizer.
  @inline(never)
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if isWhole(type) { return try tape.visit(type) }
    return try opaque(type).init(from: opaque(ReplayDecoder(tape: tape) as any Decoder))
  }

  /// Storage of the exact size, with these elements.
  private static func copy<Element>(_ elements: [Element]) -> UnsafeMutableBufferPointer<Element> {
    let storage = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(1, elements.count))
    let used = storage[..<elements.count]
    _ = UnsafeMutableBufferPointer(rebasing: used).initialize(fromContentsOf: elements)
    return UnsafeMutableBufferPointer(rebasing: used)
  }

  /// The position before the first value.
  private var start: Position {
    Position(
      outcome: outcomes.baseAddress!, word: words.baseAddress!, string: strings.baseAddress!,
      data: data.baseAddress!, url: urls.baseAddress!, cache: cache)
  }
}

extension Replay {
  /// Where the next value of each kind stands. No bounds are checked: the same calls come in the same order.
  struct Position {
    fileprivate var outcome: UnsafeMutablePointer<UInt8>
    fileprivate var word: UnsafeMutablePointer<UInt64>
    fileprivate var string: UnsafeMutablePointer<String>
    fileprivate var data: UnsafeMutablePointer<Data>
    fileprivate var url: UnsafeMutablePointer<URL>
    let cache: ContainerCache.Reference
  }
}

extension Replay.Position {
  /// Throws if the call failed when it was recorded.
  @inline(__always)
  mutating func checkOutcome() throws { if nextOutcome() == Replay.Outcome.failure { throw Replay.RecordedFailure() } }

  /// A question that cannot fail.
  @inline(__always)
  mutating func nextFlag() -> Bool { nextOutcome() == Replay.Outcome.yes }

  /// Whether a nil was found, which can fail.
  @inline(__always)
  mutating func nextNil() throws -> Bool {
    let outcome = nextOutcome()
    if outcome == Replay.Outcome.failure { throw Replay.RecordedFailure() }
    return outcome == Replay.Outcome.yes
  }

  /// Whether the key was there and its value not nil: the two questions of `decodeIfPresent`.
  @inline(__always)
  mutating func nextIsPresent() throws -> Bool {
    guard nextFlag() else { return false }
    return try !nextNil()
  }

  /// A number of elements.
  @inline(__always)
  mutating func nextCount() -> Int { Int(word: nextWord()) }

  /// A number or a Bool.
  @inline(__always)
  mutating func nextScalar<Scalar: ReplayScalar>() throws -> Scalar {
    try checkOutcome()
    return Scalar(word: nextWord())
  }

  /// A number or a Bool, or nil.
  @inline(__always)
  mutating func nextScalarIfPresent<Scalar: ReplayScalar>() throws -> Scalar? {
    guard try nextIsPresent() else { return nil }
    return try nextScalar()
  }

  /// A string.
  @inline(__always)
  mutating func nextString() throws -> String {
    try checkOutcome()
    defer { string += 1 }
    return string.pointee
  }

  /// A string, or nil.
  @inline(__always)
  mutating func nextStringIfPresent() throws -> String? {
    guard try nextIsPresent() else { return nil }
    return try nextString()
  }

  /// The keys of an object.
  mutating func nextKeys() -> [String] {
    (0..<nextCount()).map { _ in
      defer { string += 1 }
      return string.pointee
    }
  }

  /// A value of one of the types for which `isWhole` holds.
  @inline(__always)
  mutating func nextWhole<Value>(_ type: Value.Type) -> Value {
    if type == String.self {
      defer { string += 1 }
      return unsafeBitCast(string.pointee, to: type)
    }
    if type == Int.self || type == Double.self || type == Date.self {
      // A Date is the Double of its seconds.
      return unsafeBitCast(nextWord(), to: type)
    }
    if type == UUID.self { return unsafeBitCast(SIMD2(nextWord(), nextWord()), to: type) }
    if type == URL.self {
      defer { url += 1 }
      return unsafeBitCast(url.pointee, to: type)
    }
    defer { data += 1 }
    return unsafeBitCast(data.pointee, to: type)
  }

  @inline(__always)
  private mutating func nextOutcome() -> UInt8 {
    defer { outcome += 1 }
    return outcome.pointee
  }

  @inline(__always)
  private mutating func nextWord() -> UInt64 {
    defer { word += 1 }
    return word.pointee
  }
}

extension Replay.Tape {
  /// A nested value, which may go on to ask for others.
  @inline(__always)
  func visit<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try pointee.checkOutcome()
    if isWhole(type) { return pointee.nextWhole(type) }
    return try Value(from: ReplayDecoder(tape: self))
  }
}

/// A value that one word of the tape holds.
protocol ReplayScalar {
  init(word: UInt64)
  var word: UInt64 { get }
}

extension FixedWidthInteger where Self: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(truncatingIfNeeded: word) }

  var word: UInt64 { UInt64(truncatingIfNeeded: self) }
}

extension Int: ReplayScalar {}
extension Int8: ReplayScalar {}
extension Int16: ReplayScalar {}
extension Int32: ReplayScalar {}
extension Int64: ReplayScalar {}
extension UInt: ReplayScalar {}
extension UInt8: ReplayScalar {}
extension UInt16: ReplayScalar {}
extension UInt32: ReplayScalar {}
extension UInt64: ReplayScalar {}

extension Bool: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self = word != 0 }

  var word: UInt64 { self ? 1 : 0 }
}

extension Double: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(bitPattern: word) }

  var word: UInt64 { bitPattern }
}

extension Float: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: word)) }

  var word: UInt64 { UInt64(bitPattern) }
}

/// A decoder that replays a `Replay`: it looks nothing up and checks nothing, it hands out the next value.
/// What remains is the cost of `Codable`'s own calls, the floor of decoding.
struct ReplayDecoder: Decoder {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try tape.pointee.checkOutcome()
    return tape.pointee.cache.pointee.container(for: Key.self) {
      KeyedDecodingContainer(ReplayKeyedContainer(tape: tape))
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try tape.pointee.checkOutcome()
    return ReplayUnkeyedContainer(tape: tape)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try tape.pointee.checkOutcome()
    return ReplaySingleValueContainer(tape: tape)
  }
}

/// An object whose values come in the order they were once asked for.
struct ReplayKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { tape.pointee.nextKeys().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { tape.pointee.nextFlag() }

  func decodeNil(forKey key: Key) throws -> Bool { try tape.pointee.nextNil() }

  func decode(_ type: String.Type, forKey key: Key) throws -> String { try tape.pointee.nextString() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try tape.pointee.nextScalar() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try tape.pointee.nextScalar() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try tape.pointee.nextScalar() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try tape.pointee.nextScalar() }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try tape.pointee.nextScalar() }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try tape.pointee.nextScalar() }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try tape.pointee.nextScalar() }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try tape.pointee.nextScalar() }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try tape.pointee.nextScalar() }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try tape.pointee.nextStringIfPresent()
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try tape.pointee.nextScalarIfPresent() }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try tape.pointee.nextScalarIfPresent()
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try tape.pointee.nextScalarIfPresent()
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try tape.visit(type) }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard try tape.pointee.nextIsPresent() else { return nil }
    return try tape.visit(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try ReplayDecoder(tape: tape).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ReplayDecoder(tape: tape).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    try tape.pointee.checkOutcome()
    return ReplayDecoder(tape: tape)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// An array, of which only the number of elements is known beforehand.
struct ReplayUnkeyedContainer: UnkeyedDecodingContainer {
  let tape: Replay.Tape
  private let elementCount: Int
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { elementCount }
  var isAtEnd: Bool { currentIndex >= elementCount }

  /// Starts at the first element.
  init(tape: Replay.Tape) {
    self.tape = tape
    elementCount = tape.pointee.nextCount()
  }

  mutating func decodeNil() throws -> Bool {
    let isNil = try tape.pointee.nextNil()
    if isNil { currentIndex += 1 }
    return isNil
  }

  mutating func decode(_ type: String.Type) throws -> String { advanced(past: try tape.pointee.nextString()) }
  mutating func decode(_ type: Bool.Type) throws -> Bool { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Double.Type) throws -> Double { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Float.Type) throws -> Float { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int.Type) throws -> Int { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { advanced(past: try tape.pointee.nextScalar()) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { advanced(past: try tape.pointee.nextScalar()) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { advanced(past: try tape.visit(type)) }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    advanced(past: try ReplayDecoder(tape: tape).container(keyedBy: type))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    advanced(past: try ReplayDecoder(tape: tape).unkeyedContainer())
  }

  mutating func superDecoder() throws -> any Decoder {
    try tape.pointee.checkOutcome()
    return advanced(past: ReplayDecoder(tape: tape))
  }

  /// Moves on, once an element was read without an error.
  @inline(__always)
  private mutating func advanced<Value>(past value: Value) -> Value {
    currentIndex += 1
    return value
  }
}

/// A single value.
struct ReplaySingleValueContainer: SingleValueDecodingContainer {
  let tape: Replay.Tape
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { tape.pointee.nextFlag() }

  func decode(_ type: String.Type) throws -> String { try tape.pointee.nextString() }
  func decode(_ type: Bool.Type) throws -> Bool { try tape.pointee.nextScalar() }
  func decode(_ type: Double.Type) throws -> Double { try tape.pointee.nextScalar() }
  func decode(_ type: Float.Type) throws -> Float { try tape.pointee.nextScalar() }
  func decode(_ type: Int.Type) throws -> Int { try tape.pointee.nextScalar() }
  func decode(_ type: Int8.Type) throws -> Int8 { try tape.pointee.nextScalar() }
  func decode(_ type: Int16.Type) throws -> Int16 { try tape.pointee.nextScalar() }
  func decode(_ type: Int32.Type) throws -> Int32 { try tape.pointee.nextScalar() }
  func decode(_ type: Int64.Type) throws -> Int64 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt.Type) throws -> UInt { try tape.pointee.nextScalar() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try tape.pointee.nextScalar() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try tape.pointee.nextScalar() }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try tape.visit(type) }
}

/// Keeps one keyed container per key type, for coders whose containers know nothing of the object they stand
/// for: making one anew, with the look-up of its type, is up to half of what such a coder spends.
///
/// It lives behind a plain pointer, so that a coder holding it costs no reference counting.
struct ContainerCache {
  typealias Reference = UnsafeMutablePointer<ContainerCache>

  private typealias Slot = UnsafeMutablePointer<(key: ObjectIdentifier?, box: Unmanaged<AnyObject>?)>

  private static let slotCount = 256

  /// What was made for the key types that fall on each slot, last one first to be found.
  private let slots: Slot

  /// An empty cache, to be given to `destroy`.
  static func create() -> Reference {
    let reference = Reference.allocate(capacity: 1)
    reference.initialize(to: ContainerCache())
    return reference
  }

  /// Lets go of all containers.
  static func destroy(_ reference: Reference) {
    for slot in 0..<slotCount { reference.pointee.slots[slot].box?.release() }
    reference.pointee.slots.deallocate()
    reference.deallocate()
  }

  private init() {
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: (nil, nil), count: Self.slotCount)
  }

  /// The container of a key type, made the first time. `Container` must depend on `Key` alone.
  @inline(__always)
  func container<Key, Container>(for key: Key.Type, make: () -> Container) -> Container {
    let identity = ObjectIdentifier(key)
    let address = UInt(bitPattern: identity)
    let slot = slots + Int((address >> 4 ^ address >> 12) & UInt(Self.slotCount - 1))
    if slot.pointee.key == identity, let box = slot.pointee.box {
      return box._withUnsafeGuaranteedRef { unsafeDowncast($0, to: ContainerBox<Container>.self).get() }
    }
    return keep(make(), in: slot, identity)
  }

  /// Keeps a new container in a slot; out of line, as it is needed once for a type.
  @inline(never)
  private func keep<Container>(_ container: Container, in slot: Slot, _ identity: ObjectIdentifier)
    -> Container
  {
    slot.pointee.box?.release()
    slot.pointee = (identity, .passRetained(ContainerBox(container)))
    return container
  }
}

/// Holds a container and hands it out: being asked through a method, it needs no look-up of the container's
/// type by the one who asks.
private final class ContainerBox<Container> {
  private let container: Container

  init(_ container: Container) { self.container = container }

  @inline(never)
  func get() -> Container { container }
}
