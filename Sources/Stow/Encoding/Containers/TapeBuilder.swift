/// What containers write through: it appends the values of one message to the tape, and links them.
///
/// Whoever owns a container links a value to it once the value is complete. An `encode(to:)` is given a place on the
/// tape. The place becomes a container where it is, or takes the scalar that comes next; or a value that was recorded
/// elsewhere is moved there. The places of `superEncoder` and nested containers are linked at once, all others when
/// they are complete. A place that never gets a value is an empty object.
///
/// The tape is in the order of the document as long as one container goes on after the other: the current one, or one
/// that encloses it and belongs to the `encode(to:)` that is running. Everything else clears `isInOrder`, and nothing
/// more happens until the message is complete (`DocumentOrder`).
///
/// Builders are reused: what belongs to types (key tables, encoding plans, containers) stays, what belongs to
/// a message goes.
final class TapeBuilder {
  // Every access to these properties is a single load, store or call that does not come back here; checking that at run
  // time, for every value, would cost more than the accesses.
  @exclusivity(unchecked) var recorded = RecordedMessage()
  @exclusivity(unchecked) var plans: EncodingPlans
  @exclusivity(unchecked) var pools: EncoderPools
  @exclusivity(unchecked) private var state = State()

  private struct State {
    /// The container that was written to last; 0 while a place awaits its value.
    var current = 0
    /// The first container of the running `encode(to:)`.
    var floor = 0
    /// How many `encode(to:)` are running.
    var calls = 0
    /// The options of the encoder when the call began.
    var maximumDepth = DepthLimit.standard
    var userInfo = UserInfo()
    /// Whether a container or a place was made that may nest too deeply.
    var mayBeTooDeep = false
    var stack = StackGuard()
    /// Tells encoders and containers whether their message is still being recorded.
    var cell = BuilderCell.take()
    var generation: UInt32 = 0
  }

  /// - Parameter makePlan: Makes the plan of a type; nil if its own `encode(to:)` encodes values.
  init(reusesContainers: Bool, _ makePlan: @escaping (Any.Type) -> AnyEncodingPlan?) {
    plans = EncodingPlans(makePlan)
    pools = EncoderPools(reusesContainers: reusesContainers)
    state.generation = cell.generation
    cell.assign(self)
  }

  deinit { cell.giveBack() }

  var cell: BuilderCell { state.cell }
  var generation: UInt32 { state.generation }
  var userInfo: UserInfo { state.userInfo }

  var isOver: Bool { generation == BuilderCell.none }

  /// Ends the message: encoders and containers that are still held discard everything from now on.
  func finish() {
    endMessage()
    state.generation = BuilderCell.none
    state.current = -1
  }

  private func endMessage() {
    if !cell.advance() {
      state.cell = BuilderCell.take()
      cell.assign(self)
    }
    state.generation = cell.generation
  }

  @inline(__always)
  func reset() {
    endMessage()
    recorded.removeAll()
    pools.removeUses()
    if !userInfo.isEmpty { state.userInfo = UserInfo() }
    (state.current, state.floor, state.calls) = (0, 0, 0)
    state.mayBeTooDeep = false
  }

  /// Prepares to be written to after the message is over, because a container escaped: those that are made
  /// from now on hold the builder themselves.
  func detach() {
    pools.reusesContainers = false
    // Another thread may release the builder at any time, once the keyed containers are gone.
    finish()
  }

  // MARK: the order of the document

  @inline(__always)
  func isCurrent(_ container: Int) -> Bool { state.current == container }

  /// Makes a container the one that is written to.
  @inline(never)
  func go(to container: Int) {
    if recorded.isInOrder {
      var enclosing = state.current
      // Containers are made before those in them.
      while enclosing > container { enclosing = Int(recorded.tape.container(enclosing).parent) }
      recorded.isInOrder = enclosing == container && container >= state.floor
    }
    state.current = container
  }

  /// Notes a container that was just made, which is written to next.
  @inline(__always)
  private func enter(_ container: Int) -> Int {
    state.current = container
    if recorded.tape.depth(of: container) > state.maximumDepth { state.mayBeTooDeep = true }
    return container
  }

  // MARK: values

  /// Records the value of a message, by the options of its encoder.
  @inline(__always)
  func record<Value: Encodable>(
    _ value: Value, by entry: EncodingPlans.Entry? = nil, maximumDepth: Int = DepthLimit.standard,
    _ userInfo: UserInfo = UserInfo()
  ) throws {
    state.maximumDepth = maximumDepth
    state.stack = StackGuard()
    // Assigning an empty dictionary would take two calls of the runtime.
    if !userInfo.isEmpty { state.userInfo = userInfo }
    let entry = entry ?? plan(of: Value.self)
    try encode(value, by: entry, key: TokenKey(), in: 0)
    // Containers that were nested too deeply by calls that cannot throw.
    if state.mayBeTooDeep, let path = recorded.path(beyondDepth: maximumDepth) {
      throw tooDeep(value, path: path)
    }
    // An optional encodes its value as a single-value container does, which may be nothing.
    guard entry.isPlain, recorded.tape[1].isPlace, !recorded.tape[1].isSettled else { return }
    throw EncodingError.invalid(value, path: [], "Top-level \(Value.self) did not encode any values.")
  }

  /// Records a scalar as the next value of the current container.
  @inline(__always)
  func put<Value: RecordableScalar>(_ value: Value, key: TokenKey) {
    recorded.tape.append(value.token(in: &recorded), key: key, to: state.current)
  }

  func putNil(key: TokenKey) {
    recorded.tape.append(LooseToken(.null), key: key, to: state.current)
  }

  /// Records a value by an `encode(to:)`, which `body` calls, to a place that it is given.
  @inline(__always)
  func call<Value>(
    of value: borrowing Value, key: TokenKey, parent: Int,
    _ body: (borrowing Value, _ place: Int) throws -> Void
  ) throws {
    let depth = recorded.tape.depth(of: parent)
    if depth > state.maximumDepth { throw tooDeep(copy value, key, in: parent) }
    if depth == state.maximumDepth { state.mayBeTooDeep = true }
    try beginCall(of: value, key: key, parent: parent)
    let place = recorded.tape.appendPlace(key: key)
    let (current, floor, slots) = (state.current, state.floor, recorded.keyTables.slotCount)
    (state.current, state.floor) = (0, recorded.tape.nextContainer)
    defer {
      (state.current, state.floor) = (current, floor)
      endCall()
    }
    do { try body(value, place) } catch {
      forget(slotsFrom: slots)
      throw error
    }
  }

  /// Counts a call that may lead to others, if there is room for it on the stack.
  @inline(__always)
  func beginCall<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws {
    if state.calls > 2 &* state.maximumDepth { throw tooDeep(copy value, key, in: parent) }
    if isStackLow { throw noRoom(copy value, key, in: parent) }
    countCall()
  }

  /// Counts a call for which there is room.
  @inline(__always)
  func countCall() { state.calls &+= 1 }

  func endCall() { state.calls &-= 1 }

  /// Records a value as a container with the elements that `elements` records.
  @inline(__always)
  func recordContainer<Value>(
    of value: borrowing Value, isMap: Bool, key: TokenKey, parent: Int,
    _ elements: (_ container: Int) throws -> Void
  ) throws {
    try checkDepth(of: value, key: key, parent: parent)
    let (current, slots) = (state.current, recorded.keyTables.slotCount)
    defer { state.current = current }
    state.current = recorded.tape.append(isMap ? recorded.mapForm() : .array, key: key, parent: parent)
    do { try elements(state.current) } catch {
      forget(slotsFrom: slots)
      throw error
    }
  }

  /// The same for a container that may hold others of its kind without a call of `encode(to:)` in between.
  @inline(__always)
  func recordNest<Value>(
    of value: borrowing Value, isMap: Bool, key: TokenKey, parent: Int,
    _ elements: (_ container: Int) throws -> Void
  ) throws {
    try beginCall(of: value, key: key, parent: parent)
    defer { endCall() }
    try recordContainer(of: value, isMap: isMap, key: key, parent: parent, elements)
  }

  /// Lets `body` record values by the programs of their types, and undoes what it counted if it throws.
  func runProgram(_ body: () throws -> Void) rethrows {
    let (calls, slots) = (state.calls, recorded.keyTables.slotCount)
    do { try body() } catch {
      state.calls = calls
      forget(slotsFrom: slots)
      throw error
    }
  }

  /// Takes back the slots that were new in a value that threw.
  private func forget(slotsFrom count: Int) {
    recorded.isInOrder = false
    recorded.keyTables.forgetSlots(from: count)
  }

  // MARK: places

  /// Puts a container in the place of an encoder, or returns the one that is there; `form` says what kind it is to be.
  @inline(__always)
  func container(at encoder: RecordingEncoder, isArray: Bool, _ form: () -> ContainerForm) -> Int {
    let place = recorded.tape[encoder.place]
    guard place.isPlace else { return continuedContainer(encoder, isArray: isArray) }
    precondition(!(isArray && place.isSettled), "\(Self.otherContainer)")
    if encoder.place != recorded.tape.count &- 1 || place.previous != Token.unlinked { noteLate(encoder) }
    return enter(recorded.tape.put(form(), at: encoder.place, parent: encoder.parent))
  }

  /// Notes that a place gets its value late: after it was linked, or after other tokens.
  @inline(never)
  private func noteLate(_ encoder: RecordingEncoder) {
    recorded.hasLatePlaces = true
    if encoder.place != recorded.tape.count - 1 { recorded.isInOrder = false }
  }

  private static let otherContainer: StaticString =
    "Attempt to get a container of another kind than the value that was already encoded."

  @inline(never)
  private func continuedContainer(_ encoder: RecordingEncoder, isArray: Bool) -> Int {
    recorded.isInOrder = false
    recorded.expand(encoder.place, in: encoder.parent)
    guard let container = recorded.tape.container(at: encoder.place),
      isArray == (recorded.tape.container(container).keys == TapeContainer.array)
    else { preconditionFailure("\(Self.otherContainer)") }
    return container
  }

  /// Appends a container to another, where it is linked at once.
  @inline(__always)
  func appendNested(_ form: ContainerForm, key: TokenKey, parent: Int) -> Int {
    let container = recorded.tape.append(form, key: key, parent: parent)
    recorded.tape.link(recorded.tape.count &- 1, in: parent)
    return enter(container)
  }

  /// Appends the place of a super encoder, which is linked at once.
  func appendPlace(key: TokenKey, parent: Int) -> RecordingEncoder {
    let place = recorded.tape.appendPlace(key: key)
    recorded.tape.link(place, in: parent)
    recorded.hasLatePlaces = true
    if recorded.tape.depth(of: parent) >= state.maximumDepth { state.mayBeTooDeep = true }
    return RecordingEncoder(builder: self, place: place, parent: parent, key: key)
  }

  /// Lets `body` append the value of a place.
  @inline(__always)
  func fill(_ encoder: RecordingEncoder, _ body: () throws -> Void) rethrows {
    let place = recorded.tape[encoder.place]
    precondition(
      place.isPlace && !place.isSettled,
      "Attempt to encode a value through a single-value container when one was encoded already.")
    let isLate = place.previous != Token.unlinked || encoder.place != recorded.tape.count &- 1
    if isLate { noteLate(encoder) } else { recorded.tape.removeLast() }
    let start = recorded.tape.count
    try body()
    if isLate, !recorded.tape.move(start, to: encoder.place) { recorded.isInOrder = false }
  }

  /// Appends a scalar as the value of a place.
  @inline(never)
  func fill(_ encoder: RecordingEncoder, with token: LooseToken) {
    fill(encoder) { recorded.tape.append(token, key: encoder.key) }
  }

  /// Lets `body` encode a value to the place of an encoder, which awaits one again if it throws. A container that is
  /// already there goes on, and keeps what was encoded to it.
  func attempt(_ encoder: RecordingEncoder, _ body: () throws -> Void) throws {
    let (place, slots) = (recorded.tape[encoder.place], recorded.keyTables.slotCount)
    do { try body() } catch {
      recorded.isInOrder = false
      if place.isContainer { throw error }
      if recorded.tape.count == encoder.place { _ = recorded.tape.appendPlace(key: place.key) }
      recorded.tape[encoder.place] = place
      recorded.tape[encoder.place].become(.place, value: 0)
      forget(slotsFrom: slots)
      throw error
    }
    if recorded.tape[encoder.place].isPlace { recorded.tape[encoder.place].become(.place, value: 1) }
  }

  // MARK: depth

  /// How many levels of values with tables may be recorded by one check of the stack: they take little of it.
  private static let levelsPerCheck = 8

  /// Returns how many containers may nest in `parent` without another look at the depth and the stack; fewer than
  /// `wanted` if they may not.
  func levels(in parent: Int, wanted: Int = 1) -> Int {
    let most = min(state.maximumDepth &- recorded.tape.depth(of: parent), 2 &* state.maximumDepth &+ 1 &- state.calls)
    if most < wanted { return most }
    return isStackLow ? 0 : min(most, max(wanted, Self.levelsPerCheck))
  }

  /// Checks that a value may be recorded here as one more container.
  @inline(__always)
  func checkDepth<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws {
    if recorded.tape.depth(of: parent) >= state.maximumDepth { throw tooDeep(copy value, key, in: parent) }
  }

  @inline(__always)
  private var isStackLow: Bool {
    let address = StackBounds.address
    return state.stack.isDue(at: address) && isStackLow(at: address)
  }

  // What escaped from a message may be written to on any thread. The builder of such a container reuses none.
  private func isStackLow(at address: UInt) -> Bool {
    state.stack.isLow(at: address, isElsewhere: isOver || !pools.reusesContainers)
  }

  @inline(never)
  private func noRoom<Value>(_ value: Value, _ key: TokenKey, in parent: Int) -> EncodingError {
    .invalid(
      value, path: recorded.path(key, at: recorded.tape.count, in: parent),
      "Encoding calls itself \(state.calls) levels deep, and no more fit on the stack of this thread.")
  }

  @inline(never)
  private func tooDeep<Value>(_ value: Value, _ key: TokenKey, in parent: Int) -> EncodingError {
    tooDeep(value, path: recorded.path(key, at: recorded.tape.count, in: parent))
  }

  private func tooDeep<Value>(_ value: Value, path: [any CodingKey]) -> EncodingError {
    .invalid(
      value, path: path,
      "The value nests more than \(state.maximumDepth) levels deep, or contains itself (see maximumDepth).")
  }
}

/// The keyed containers of a builder, and the tables of their keys.
typealias EncoderPools = ContainerPools<ObjectWriter, KeyTable.Reference>

// MARK: values of any type

class AnyEncodingPlan {
  /// Whether values may be recorded to an object that was begun.
  var continuesObjects: Bool { true }
}

typealias EncodingPlans = TypePlans<AnyEncodingPlan>

/// A way to record the values of one type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls a method of the object's class. This looks up no metadata.
class EncodingPlan<Value>: AnyEncodingPlan {
  /// Appends a value, which the caller links to `parent`.
  ///
  /// - Parameter level: How many optionals are around the value, which distinguishes a nil in it from theirs.
  func append(_ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int) throws {
    preconditionFailure("an encoding plan without a way to encode")
  }

  func encode(_ elements: UnsafeBufferPointer<Value>, to builder: TapeBuilder, in array: Int) throws {
    try borrowingEach(of: elements) {
      let index = builder.recorded.tape.count
      try append($0, to: builder, key: builder.recorded.tape.key($1), parent: array, level: 0)
      builder.recorded.tape.link(index, in: array)
    }
  }

  /// Writes a message of the value without a tape, if that is possible, and returns whether it was.
  func write(_ value: borrowing Value, by emitter: inout Emitter) -> Bool { false }

  /// Returns an array as a value in `parent` that is packed when it is written, or nil.
  func retained(_ elements: [Value], by builder: TapeBuilder, in parent: Int) -> RetainedValue? { nil }
}

extension TapeBuilder {
  @inline(__always)
  func plan(of type: Any.Type) -> EncodingPlans.Entry { plans[type] ?? addPlan(of: type) }

  @inline(never)
  private func addPlan(of type: Any.Type) -> EncodingPlans.Entry {
    let makePlan = plans.makePlan
    return plans.add(type, makePlan(type))
  }

  /// Records a value, and links it to the container whose key it has. If this throws, the key has no value.
  @inline(__always)
  func encode<Value: Encodable>(_ value: borrowing Value, key: TokenKey, in container: Int, level: Int = 0) throws {
    try encode(value, by: plan(of: Value.self), key: key, in: container, level: level)
  }

  /// The same for a value whose type is known here.
  @inline(__always)
  func encode<Value: Encodable>(
    _ value: borrowing Value, by entry: EncodingPlans.Entry, key: TokenKey, in container: Int, level: Int = 0
  ) throws {
    let index = recorded.tape.count
    do { try append(value, by: entry, key: key, parent: container, level: level) } catch {
      recorded.isInOrder = false
      throw error
    }
    recorded.tape.link(index, in: container)
  }

  /// Appends a value, which the caller links.
  @inline(__always)
  func append<Value: Encodable>(
    _ value: borrowing Value, by entry: EncodingPlans.Entry, key: TokenKey, parent: Int, level: Int = 0
  ) throws {
    if entry.isPlain { return try appendPlain(value, key: key, parent: parent) }
    let value = copy value
    try entry.withPlan(as: EncodingPlan<Value>.self) {
      try $0.append(value, to: self, key: key, parent: parent, level: level)
    }
  }

  /// Lets `value` encode itself to a place that begins with the next token.
  @inline(__always)
  func appendPlain<Value: Encodable>(_ value: borrowing Value, key: TokenKey, parent: Int) throws {
    try call(of: value, key: key, parent: parent) { value, place in
      try value.encode(to: RecordingEncoder(builder: self, place: place, parent: parent, key: key))
    }
  }

  /// Records the value of a single-value container in the place of `encoder`.
  func encode<Value: Encodable>(_ value: Value, at encoder: RecordingEncoder) throws {
    try attempt(encoder) {
      let entry = plan(of: Value.self)
      let place = recorded.tape[encoder.place]
      // A place beyond the limit is reported once the message is complete.
      let isTooDeep = recorded.tape.depth(of: encoder.parent) > state.maximumDepth
      let isBegun = !place.isPlace || place.isSettled
      if entry.isPlain
        || (isBegun || isTooDeep) && !entry.withPlan(as: AnyEncodingPlan.self, \.continuesObjects)
      {
        try beginCall(of: value, key: encoder.key, parent: encoder.parent)
        defer { endCall() }
        try value.encode(to: encoder)
      } else {
        try fill(encoder) { try append(value, by: entry, key: encoder.key, parent: encoder.parent, level: 0) }
      }
    }
  }
}

// MARK: the containers and encoders that values receive

extension TapeBuilder {
  /// Returns the container of a message that is over: what is written to it is discarded with its builder.
  @inline(never)
  static func discarding<Key: CodingKey>(_ keyType: Key.Type) -> KeyedEncodingContainer<Key> {
    let builder = TapeBuilder(reusesContainers: false) { _ in nil }
    return builder.nestedKeyedContainer(keyType, TokenKey(), in: 0)
  }

  // MARK: keyed containers

  @inline(__always)
  func pool<Key: CodingKey>(of keyType: Key.Type) -> EncoderPools.Reference { pools[keyType] ?? addPool(keyType) }

  @inline(never)
  private func addPool<Key: CodingKey>(_ keyType: Key.Type) -> EncoderPools.Reference {
    let keys = recorded.keyTables.add(keyType)
    return pools.add(keys, for: keyType) { newContainer(keys, of: 0) as KeyedEncodingContainer<Key> }
  }

  @inline(__always)
  func keyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, at encoder: RecordingEncoder
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    let object = container(at: encoder, isArray: false) { recorded.form(of: pool.pointee.keys) }
    return keyed(pool, object)
  }

  /// Returns an object in a container, new or continued.
  @inline(never)
  func nestedKeyedContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ key: TokenKey, in parent: Int
  ) -> KeyedEncodingContainer<Key> {
    let pool = pool(of: keyType)
    if let object = recorded.container(forKey: key, in: parent, isArray: false) {
      return keyed(pool, object, isNested: true)
    }
    return keyed(pool, appendNested(recorded.form(of: pool.pointee.keys), key: key, parent: parent))
  }

  @inline(__always)
  private func keyed<Key: CodingKey>(
    _ pool: EncoderPools.Reference, _ object: Int, isNested: Bool = false
  ) -> KeyedEncodingContainer<Key> {
    guard pools.reusesContainers else { return newContainer(pool.pointee.keys, of: object, isNested: isNested) }
    pools.noteUse(pool)
    return pool.pointee.take(
      KeyedEncodingContainer<Key>.self, { makeContainer(Key.self, pool.pointee.keys) },
      { $0.start(object, isNested: isNested) })
  }

  /// Makes a container for the pool. Not inlined, because it needs the container's metadata and is rarely called.
  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ keyType: Key.Type, _ keys: KeyTable.Reference
  ) -> (container: AnyObject, object: ObjectWriter) {
    let writer = ObjectWriter(builder: self, keys: keys)
    let container = KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
    return (ContainerReuse.reference(of: container), writer)
  }

  /// Makes a container that holds the builder, for when containers are not reused.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    _ keys: KeyTable.Reference, of object: Int, isNested: Bool = false
  ) -> KeyedEncodingContainer<Key> {
    let writer = ObjectWriter(builder: self, keys: keys, isOwner: true)
    writer.start(object, isNested: isNested)
    return KeyedEncodingContainer(KeyedEncoder<Key>(writer: writer))
  }

  // MARK: arrays

  func unkeyedContainer(at encoder: RecordingEncoder) -> UnkeyedEncoder {
    UnkeyedEncoder(builder: self, array: container(at: encoder, isArray: true) { .array })
  }

  func nestedUnkeyedContainer(_ key: TokenKey, in parent: Int) -> UnkeyedEncoder {
    let array =
      recorded.container(forKey: key, in: parent, isArray: true)
      ?? appendNested(.array, key: key, parent: parent)
    return UnkeyedEncoder(builder: self, array: array)
  }
}
