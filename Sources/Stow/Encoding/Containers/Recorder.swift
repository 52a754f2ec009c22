/// What containers record to: the recording of one message, and what stands open in it.
///
/// Containers record; nothing is written before the value is complete. What is usual is a straight line:
/// a container is written to while it is the innermost open one. Whatever is not (writing to a container
/// that was left, a value that failed) is noted on the tape and set right by `Normalizer` afterwards.
///
/// Recorders are used again: what belongs to types (key tables, type encoders, containers) stays, what belongs to a
/// message goes.
final class Recorder {
  // Every access to these properties is a single load, store or call that does not come back here; checking that at run
  // time, for every value, would cost more than the accesses.
  @exclusivity(unchecked) var recording = Recording()
  @exclusivity(unchecked) private var state: State

  struct State: ~Copyable {
    @inline(__always)
    var types: KnownTypes
    var open = OpenContainers()
    /// How many `encode(to:)` are running, and the key of the value that the last of them stands for.
    var calls = 0
    var pendingKey = TokenKey()
    /// How many times something out of line was recorded.
    var disturbances = 0
    var stack = StackGuard()
    /// Whether the message has been written, and a container escaped from it.
    var isOver = false
    /// The path of the first container that is nested too deeply, and its token.
    var overflow: [any CodingKey]?
    var overflowStart = 0
    /// What tells encoders and containers whether their message is still going on.
    var cell = RecorderCell.take()
    var generation: UInt32 = 0
    /// The options of the encoder, as they were when the call began. Between calls the depth is 0, so that an encoder
    /// that escaped from its call and discards values cannot nest without limit.
    var userInfo = UserInfo()
    var maximumDepth = 0

    init(reusesContainers: Bool) { types = KnownTypes(reusesContainers: reusesContainers) }
  }

  init(reusesContainers: Bool) {
    state = State(reusesContainers: reusesContainers)
    state.generation = state.cell.generation
    state.cell.assign(self)
  }

  deinit { state.cell.giveBack() }

  @inline(__always)
  var types: KnownTypes {
    _read { yield state.types }
    _modify { yield &state.types }
  }

  var cell: RecorderCell { state.cell }
  var generation: UInt32 { state.generation }
  var userInfo: UserInfo { state.userInfo }
  var isOver: Bool { state.isOver }

  @inline(__always)
  func begin(maximumDepth: Int, _ userInfo: UserInfo) {
    state.maximumDepth = maximumDepth
    // Assigning none calls the runtime twice.
    if !userInfo.isEmpty { state.userInfo = userInfo }
  }

  /// Makes encoders and containers that refer to the message discard what they are given from now on.
  private func endMessage() {
    if !state.cell.advance() {
      state.cell = RecorderCell.take()
      state.cell.assign(self)
    }
    state.generation = state.cell.generation
  }

  @inline(__always)
  func reset() {
    endMessage()
    recording.removeAll()
    types.removeUses()
    state.open.removeAll()
    state.stack.reset()
    if !state.userInfo.isEmpty { state.userInfo = UserInfo() }
    state.disturbances = 0
    if state.overflow != nil { state.overflow = nil }
    state.calls = 0
  }

  /// Gets ready to be written to when the message is over, because a container escaped: those that are made
  /// from now on hold the recorder themselves.
  func detach() {
    state.isOver = true
    types.reusesContainers = false
    endMessage()
    // Another thread may let go of the recorder at any time, once the keyed containers are gone.
    state.generation = RecorderCell.none
  }

  /// Throws if containers were nested too deeply by calls that cannot throw. The error carries the whole value.
  func checkNesting(of value: borrowing some Any) throws {
    if let overflow = state.overflow { throw tooDeep(copy value, overflow) }
  }

  // MARK: calls of `encode(to:)`

  /// What a value finds when it begins, to be restored when it is complete or throws. At first that of the whole message.
  struct Surroundings {
    /// How many tokens there are, and how many places and containers stand open.
    var start = 0
    var depth = 1
    var frame = 0
    var disturbances = 0
    /// How many slots the message has given to keys.
    var slots = 0
  }

  private var surroundings: Surroundings {
    Surroundings(
      start: recording.tape.count, depth: state.open.count, frame: state.open.frame,
      disturbances: state.disturbances,
      slots: recording.keyTables.slotCount)
  }

  /// Checks that one more value may encode itself, to the place that begins with the next token; what it finds there.
  @inline(__always)
  func beginCall<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws -> Surroundings {
    let outside = surroundings
    let limit = state.maximumDepth
    guard outside.depth <= limit &+ 1 || !exceeds(limit), state.calls <= 2 &* limit else {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: outside.start))
    }
    if StackGuard.isDue(state.calls), isStackLow { throw noRoom(copy value, key: key, parent: parent) }
    enter(key: key, outside)
    return outside
  }

  /// Begins the call of a value that needs no checks.
  @inline(__always)
  func enter(key: TokenKey, _ outside: Surroundings) {
    state.open.push(~outside.start)
    state.open.frame = outside.depth
    state.pendingKey = key
    state.calls &+= 1
  }

  /// Ends the call of a value that is complete.
  @inline(__always)
  func endCall(key: TokenKey, _ outside: Surroundings) {
    state.calls &-= 1
    state.open.frame = outside.frame
    if recording.tape.count == outside.start { recording.tape.append(Token(.empty, key: key)) }
    close(toDepth: outside.depth)
  }

  /// Ends the call of a value that threw.
  @inline(never)
  func failCall(key: TokenKey, _ outside: Surroundings) {
    state.calls &-= 1
    state.open.frame = outside.frame
    rollBack(to: outside, key: key)
  }

  /// Lets the value of a single-value container encode itself, by `body`, to the place that begins at `start`.
  func nestCall<Value>(
    of value: Value, key: TokenKey, parent: Int, start: Int, _ body: () throws -> Void
  ) throws {
    guard state.calls <= 2 * state.maximumDepth else {
      throw tooDeep(value, recording.path(parent: parent, key: key, start: start))
    }
    if StackGuard.isDue(state.calls), isStackLow { throw noRoom(value, key: key, parent: parent) }
    state.calls += 1
    defer { state.calls -= 1 }
    try body()
    // The value was one, though it has nothing to say.
    if recording.isUnfilled(start) { fill(start) } else if !awaits(start) { return }
    recording.tape.append(Token(.empty, key: key, flags: Token.Flags.nested))
  }

  /// Lets `body` encode to the place at `start`, which awaits a value again if that throws.
  ///
  /// Where a container stands already it is continued, and keeps what `body` encoded to it.
  func attempt(_ start: Int, _ body: () throws -> Void) throws {
    let outside = surroundings
    let outerCalls = state.calls
    do {
      try body()
    } catch {
      state.open.frame = outside.frame
      state.calls = outerCalls
      if recording.hasContainer(start, before: outside.start) {
        recording.needsNormalizing = true
        close(toDepth: outside.depth)
      } else {
        reopen(start, outside)
      }
      throw error
    }
  }

  /// Records a value as a container whose elements are at hand; what it recorded is undone if one of them throws.
  @inline(__always)
  func recordContainer<Value>(
    of value: borrowing Value, _ container: ContainerStart, _ elements: (_ begin: Int) throws -> Void
  ) throws {
    let outside = surroundings
    try checkDepth(of: value, key: container.key, parent: container.parentToken)
    let begin = openNested(container)
    state.open.frame = outside.depth
    do {
      try elements(begin)
    } catch {
      state.open.frame = outside.frame
      rollBack(to: outside, key: container.key)
      throw error
    }
    state.open.frame = outside.frame
    close(toDepth: outside.depth)
  }

  /// The same for a container that may hold others of its kind without a call of `encode(to:)` between.
  @inline(__always)
  func recordNest<Value>(
    of value: borrowing Value, _ container: ContainerStart, _ elements: (_ begin: Int) throws -> Void
  ) throws {
    if StackGuard.isDue(state.calls), isStackLow {
      throw noRoom(copy value, key: container.key, parent: container.parentToken)
    }
    state.calls &+= 1
    defer { state.calls &-= 1 }
    try recordContainer(of: value, container, elements)
  }

  /// Whether there is room for one more call and its container, without another look.
  var hasRoom: Bool {
    state.open.count <= state.maximumDepth && state.calls <= 2 &* state.maximumDepth
      && !StackGuard.isDue(state.calls)
  }

  /// Checks that one more container may be nested here, as which a value is recorded.
  @inline(__always)
  func checkDepth<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws {
    if state.open.count > state.maximumDepth, exceeds(state.maximumDepth &- 1) {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: recording.tape.count))
    }
  }

  /// Whether the innermost container is deeper. A place may stand for one, or be in another place, so that only this
  /// counts.
  @inline(never)
  private func exceeds(_ depth: Int) -> Bool {
    let (count, continued) = state.open.innermost
    return count + (continued.map { recording.depth(ofContainer: $0, atMost: depth + 1) } ?? 0) > depth
  }

  var current: Int { state.open.current }

  func isCurrent(_ begin: Int) -> Bool { current == begin }

  /// Whether the place that begins at `start` still awaits its value, and nothing came between.
  func awaits(_ start: Int) -> Bool { state.open.current == ~start && recording.tape.count == start }

  /// Opens a container as the value of the place that `awaits` it.
  @inline(__always)
  func occupy(_ container: ContainerStart) {
    let begin = recording.tape.count
    recording.tape.append(container)
    state.open.replaceLast(begin)
    if state.open.count > state.maximumDepth &+ 1 { noteOverflow(at: begin) }
  }

  /// Opens a container within the current one.
  @inline(__always)
  func openNested(_ container: ContainerStart) -> Int {
    let begin = recording.tape.count
    recording.tape.append(container)
    state.open.push(begin)
    if state.open.count > state.maximumDepth &+ 1 { noteOverflow(at: begin) }
    return begin
  }

  @inline(never)
  private func noteOverflow(at begin: Int) {
    guard state.overflow == nil, exceeds(state.maximumDepth) else { return }
    state.overflow = recording.path(ofContainer: begin)
    state.overflowStart = begin
  }

  @inline(__always)
  private func close(toDepth depth: Int) {
    while state.open.count > depth {
      let begin = state.open.pop()
      if begin >= 0 { recording.tape.append(Token(.end, index: begin)) }
    }
  }

  /// Makes the container that begins at `begin` the current one again.
  ///
  /// Leaving what was opened inside it is in line; coming back to what was left is not.
  @inline(never)
  func resume(_ begin: Int) {
    deferAwaited()
    if let depth = state.open.lastIndex(of: begin) {
      close(toDepth: depth + 1)
      return
    }
    disturb()
    leaveContinued()
    recording.tape.append(Token(.segment, index: begin))
    pushContinued(begin)
  }

  /// Opens a container as the value of the reserved place at `start`, and returns where it begins.
  func openLate(_ container: ContainerStart, start: Int) -> Int {
    deferAwaited()
    leaveContinued()
    fill(start)
    let begin = recording.tape.count
    recording.tape.append(container)
    pushContinued(begin)
    return begin
  }

  /// Continued containers do not stand inside each other, nor do those that came late.
  private func leaveContinued() {
    if let depth = state.open.continuedIndex { close(toDepth: depth) }
  }

  private func pushContinued(_ begin: Int) {
    // It is not in what is open.
    if state.overflow == nil {
      state.open.pad(to: recording.depth(ofContainer: begin, atMost: state.maximumDepth &+ 1))
    }
    state.open.pushContinued(begin)
    if state.open.count > state.maximumDepth &+ 1 { noteOverflow(at: begin) }
  }

  /// Where a value is awaited at the current place, lets it come later.
  func deferAwaited() {
    guard state.open.current < 0, !state.open.isAtTop, recording.tape.count == ~state.open.current else {
      return
    }
    disturb()
    recording.tape.append(Token(.deferred, key: state.pendingKey, index: Token.unfilled))
  }

  /// Makes the next value the one of the reserved place at `start`.
  func fill(_ start: Int) {
    deferAwaited()
    disturb()
    recording.tape.append(Token(.fill, index: start))
    recording.tape[start].index = recording.tape.count
  }

  /// Lets a place whose value encoded nothing await one again (`Recording.reopenEmpty`).
  func reopenEmpty(_ start: Int, isKeyed: Bool) {
    if recording.reopenEmpty(start, isKeyed: isKeyed) { disturb() }
  }

  func disturb() {
    state.disturbances += 1
    recording.needsNormalizing = true
  }

  // MARK: values that throw

  /// Undoes what a value recorded that threw.
  ///
  /// Its tokens stay, so that what escaped from it never names those of another value, but stand for nothing.
  @inline(never)
  private func rollBack(to outside: Surroundings, key: TokenKey) {
    let start = outside.start
    recording.needsNormalizing = true
    if state.overflow != nil, state.overflowStart >= start { state.overflow = nil }
    forgetSlots(since: outside, place: start)
    if recording.tape.count <= start { recording.tape.append(Token(.empty, key: key)) }
    recording.tape[start].set(Token.Flags.dead)
    close(toDepth: outside.depth)
  }

  /// Lets the place at `start`, whose value threw, await one again.
  @inline(never)
  private func reopen(_ start: Int, _ outside: Surroundings) {
    // A reservation for which nothing was recorded awaits its value still.
    if state.disturbances == outside.disturbances, recording.isUnfilled(start) { return }
    recording.needsNormalizing = true
    forgetSlots(since: outside, place: start)
    if recording.tape.count > start { recording.dropAnnouncement() }
    // The token of a value that recorded nothing.
    if recording.tape.count == start + 1, recording.tape[start].kind == .empty { recording.tape.removeLast() }
    if recording.tape.count <= start {
      state.open.truncate(to: outside.depth)
      state.open.replaceLast(~start)
      return
    }
    close(toDepth: outside.depth)
    recording.failReservation(at: start)
  }

  /// Takes back the slots of keys that came up in a value that threw.
  ///
  /// What it wrote out of turn to anything but itself and its place may have them: then they stay.
  ///
  /// - Parameter place: The place that the value was to take.
  private func forgetSlots(since outside: Surroundings, place: Int) {
    guard recording.keyTables.slotCount > outside.slots else { return }
    if state.disturbances != outside.disturbances, recording.reachesOut(from: outside.start, place: place) {
      return
    }
    recording.keyTables.forgetSlots(from: outside.slots)
  }

  // What escaped from its message may be written to on any thread.
  private var isStackLow: Bool { state.stack.isLow(isElsewhere: isOver) }

  @inline(never)
  private func noRoom<Value>(_ value: Value, key: TokenKey, parent: Int) -> EncodingError {
    let description =
      "Encoding calls itself \(state.calls) levels deep, and no more fit on the stack of this thread."
    let path = recording.path(parent: parent, key: key, start: recording.tape.count)
    return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
  }

  @inline(never)
  private func tooDeep<Value>(_ value: Value, _ path: [any CodingKey]) -> EncodingError {
    let description =
      "The value nests more than \(state.maximumDepth) levels deep, or contains itself (see maximumDepth)."
    return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
  }
}

/// What stands open while a value records itself, outermost first: a container is the token that begins it, and a place
/// that awaits its value is the complement of the token that will be there.
struct OpenContainers: ~Copyable {
  private var entries = GrowableBuffer<Int>(capacity: 64)
  /// The innermost entry: what a write must find here to be in line.
  private(set) var current = OpenContainers.top
  /// The first entry that belongs to the running `encode(to:)`; what is below is not its own to close.
  var frame = 0

  private static let top = Int.min

  init() { entries.append(Self.top) }

  var isAtTop: Bool { current == Self.top }

  var count: Int { entries.count }

  /// How many containers are open in the last one that was continued, which is not in those before it.
  var innermost: (count: Int, continued: Int?) {
    var containers = 0
    for index in (0..<count).reversed() where entries[index] >= 0 {
      if entries[index] >= Self.continued { return (containers, Self.identity(entries[index])) }
      containers += 1
    }
    return (containers, nil)
  }

  /// Marks an entry as a container that was left and is continued, or came late.
  private static let continued = 1 << (Int.bitWidth - 2)
  /// Stands for a container that is not open, around one that is continued.
  private static let padding = ~(1 << (Int.bitWidth - 3))

  private static func identity(_ entry: Int) -> Int { entry >= 0 ? entry & ~continued : entry }

  @inline(__always)
  mutating func push(_ entry: Int) {
    entries.append(entry)
    current = entry
  }

  /// Lets the entries be no fewer than `depth`.
  mutating func pad(to depth: Int) {
    while count < depth { push(Self.padding) }
  }

  /// Opens a container that is not in the one before it: that was left, or comes late.
  @inline(__always)
  mutating func pushContinued(_ entry: Int) {
    entries.append(entry | Self.continued)
    current = entry
  }

  /// Takes the last entry, of which there is at least one above the bottom.
  @inline(__always)
  mutating func pop() -> Int {
    precondition(count > 1)
    let last = Self.identity(entries.takeLast())
    current = Self.identity(entries[count &- 1])
    return last
  }

  mutating func replaceLast(_ entry: Int) {
    entries[count &- 1] = entry
    current = entry
  }

  /// The index of the last `entry` that the running `encode(to:)` opened.
  func lastIndex(of entry: Int) -> Int? { lastIndex { Self.identity($0) == entry } }

  /// The index of the container that the running `encode(to:)` continued, of which there is one at most.
  var continuedIndex: Int? { lastIndex { $0 >= Self.continued } }

  private func lastIndex(where isWanted: (Int) -> Bool) -> Int? {
    (frame..<max(frame, count)).last { isWanted(entries[$0]) }
  }

  mutating func truncate(to count: Int) {
    precondition(count > 0)
    entries.truncate(to: count)
    current = Self.identity(entries[count - 1])
  }

  mutating func removeAll() {
    if !isAtTop { truncate(to: 1) }
    frame = 0
  }
}
