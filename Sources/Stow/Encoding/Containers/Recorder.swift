/// What containers record to: the recording of one message, and what stands open in it.
///
/// Containers record; nothing is written before the value is complete. What is usual is a straight line:
/// a container is written to while it is the innermost open one. Where something else is written to (a container that was
/// left, a place that is filled late), the tape goes on there, and is put in order afterwards (`ValueTree`).
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
    /// The containers and places at which the tape went on out of line.
    var disturbances: [Int] = []
    var stack = StackGuard()
    /// Whether the message has been written, and a container escaped from it.
    var isOver = false
    /// The path of the first container that is nested too deeply, and its token.
    var overflow: [any CodingKey]?
    var overflowStart = 0
    /// The places at the maximum depth, in the order of their tokens. One that gets no value becomes an empty object, which is
    /// one level too deep.
    var innermostPlaces: [(parent: Int, key: TokenKey, start: Int)] = []
    /// What tells encoders and containers whether their message is still going on.
    var cell = RecorderCell.take()
    var generation: UInt32 = 0
    /// The options of the encoder, as they were when the call began. The depth is 0 in a recorder that only discards, for
    /// which no call begins: nothing nests in it.
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
    // Assigning an empty dictionary would take two calls of the runtime.
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
    if !state.disturbances.isEmpty { state.disturbances = [] }
    if state.overflow != nil { state.overflow = nil }
    if !state.innermostPlaces.isEmpty { state.innermostPlaces = [] }
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
    if let place = state.innermostPlaces.first(where: { recording.isUnfilled($0.start) }) {
      throw tooDeep(copy value, recording.path(parent: place.parent, key: place.key, start: place.start))
    }
  }

  // MARK: calls of `encode(to:)`

  /// What a value finds when it begins, to be restored when it is complete or throws. The defaults are those of an empty
  /// message.
  struct Surroundings {
    /// How many tokens there are, and how many places and containers stand open.
    var start = 0
    var depth = 1
    var frame = 0
    /// How many times the tape has gone on out of line.
    var disturbances = 0
    /// How many slots the message has given to keys.
    var slots = 0
  }

  private var surroundings: Surroundings {
    Surroundings(
      start: recording.tape.count, depth: state.open.count, frame: state.open.frame,
      disturbances: state.disturbances.count, slots: recording.keyTables.slotCount)
  }

  /// Checks that one more value may encode itself, to the place that begins with the next token.
  /// Returns what is to be restored.
  @inline(__always)
  func beginCall<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws -> Surroundings {
    let outside = surroundings
    let limit = state.maximumDepth
    guard !nests(deeperThan: limit), state.calls <= 2 &* limit else {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: outside.start))
    }
    if StackGuard.isDue(state.calls), isStackLow { throw noRoom(copy value, key: key, parent: parent) }
    enter(key: key, outside)
    return outside
  }

  @inline(__always)
  func enter(key: TokenKey, _ outside: Surroundings) {
    state.open.push(.place(at: outside.start))
    state.open.frame = outside.depth
    state.pendingKey = key
    state.calls &+= 1
  }

  @inline(__always)
  func endCall(key: TokenKey, parent: Int, _ outside: Surroundings) {
    state.calls &-= 1
    if isDisturbed(since: outside) { return comeBack(to: parent) }
    state.open.frame = outside.frame
    if recording.tape.count == outside.start { appendPlace(key: key) }
    close(toDepth: outside.depth)
  }

  @inline(never)
  func failCall(parent: Int, _ outside: Surroundings) {
    state.calls &-= 1
    rollBack(to: outside, parent: parent)
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
    if awaits(start) {
      appendPlace(key: key, flags: Token.Flags.nested)
    } else if recording.isUnfilled(start) {
      recording.tape[start].set(Token.Flags.nested)
    }
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
      state.calls = outerCalls
      if recording.hasContainer(start, before: outside.start) {
        recording.isOutOfOrder = true
      } else {
        reopen(start, outside)
      }
      leave(outside)
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
      rollBack(to: outside, parent: container.parentToken)
      throw error
    }
    if isDisturbed(since: outside) { return comeBack(to: container.parentToken) }
    leave(outside)
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
    state.open.depth <= state.maximumDepth && state.calls <= 2 &* state.maximumDepth
      && !StackGuard.isDue(state.calls)
  }

  /// Checks that a value may be recorded here as one more container.
  @inline(__always)
  func checkDepth<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws {
    if nests(deeperThan: state.maximumDepth &- 1) {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: recording.tape.count))
    }
  }

  /// Whether the next value stands in more containers than that.
  private func nests(deeperThan limit: Int) -> Bool {
    // Places stand open, too. Only what may be too deep has its containers counted.
    state.open.depth > limit &+ 1 && hasContainers(moreThan: limit)
  }

  @inline(never)
  private func hasContainers(moreThan limit: Int) -> Bool { state.open.containers > limit }

  /// The token of the container that is written to; negative if a place awaits its value, or nothing is open.
  var currentContainer: Int { state.open.current.container ?? -1 }

  func isCurrent(_ begin: Int) -> Bool { state.open.current == .container(at: begin) }

  /// Whether the place that begins at `start` still awaits its value, and nothing came between.
  func awaits(_ start: Int) -> Bool {
    state.open.current == .place(at: start) && recording.tape.count == start
  }

  /// Opens a container as the value of the place that `awaits` it. The call that made the place could not check the depth,
  /// because it did not know whether its value would be a container.
  @inline(__always)
  func occupy(_ container: ContainerStart) {
    let begin = recording.tape.count
    recording.tape.append(container)
    state.open.replaceLast(.container(at: begin))
    if nests(deeperThan: state.maximumDepth) { noteOverflow(at: begin) }
  }

  /// Opens a container within the current one.
  @inline(__always)
  func openNested(_ container: ContainerStart) -> Int {
    let begin = recording.tape.count
    recording.tape.append(container)
    state.open.push(.container(at: begin))
    if nests(deeperThan: state.maximumDepth) { noteOverflow(at: begin) }
    return begin
  }

  @inline(never)
  private func noteOverflow(at begin: Int) {
    if state.overflow != nil { return }
    state.overflow = recording.path(ofContainer: begin)
    state.overflowStart = begin
  }

  /// Appends a place in the current container, whose value comes later or never.
  @inline(never)
  func appendPlace(key: TokenKey, flags: UInt64 = 0) {
    if nests(deeperThan: state.maximumDepth &- 1) {
      state.innermostPlaces.append((state.open.innermost, key, recording.tape.count))
    }
    recording.tape.append(Token(.place, key: key, flags: flags, index: Token.unfilled))
  }

  @inline(__always)
  private func close(toDepth depth: Int) {
    while state.open.count > depth {
      if let begin = state.open.pop().container { recording.tape.append(Token(.end, index: begin)) }
    }
  }

  /// Closes what a value left open that recorded everything in line.
  private func leave(_ outside: Surroundings) {
    if isDisturbed(since: outside) { return }
    state.open.frame = outside.frame
    close(toDepth: outside.depth)
  }

  // MARK: what comes out of line

  @inline(__always)
  private func isDisturbed(since outside: Surroundings) -> Bool {
    state.disturbances.count != outside.disturbances
  }

  /// Makes the container that begins at `begin` the current one again.
  ///
  /// Leaving what was opened inside it is in line; coming back to what was left is not.
  @inline(never)
  func resume(_ begin: Int) {
    deferAwaited()
    if let depth = state.open.lastIndex(of: .container(at: begin)) {
      close(toDepth: depth + 1)
    } else {
      goOn(in: begin)
    }
  }

  /// Makes the container current in which a value stands that is complete, but did not record everything in line.
  @inline(never)
  private func comeBack(to parent: Int) {
    deferAwaited()
    if parent >= 0 { goOn(in: parent) }
  }

  /// Lets the tape go on in a container that was left.
  private func goOn(in begin: Int) {
    disturb(begin, outside: recording.depth(ofContainer: begin, atMost: state.maximumDepth &+ 1) - 1)
    if !isOver { recording.continueTape(in: begin) }
    state.open.push(.container(at: begin))
  }

  /// Makes the next value the one of the place at `start`, which has none and is in the container `parent`.
  func fill(_ start: Int, parent: Int) {
    deferAwaited()
    let depth = parent < 0 ? 0 : recording.depth(ofContainer: parent, atMost: state.maximumDepth &+ 1)
    disturb(start, outside: depth)
    recording.fill(start)
  }

  /// Opens a container as the value of the place at `start`, and returns where it begins.
  func openLate(_ container: ContainerStart, start: Int) -> Int {
    fill(start, parent: container.parentToken)
    return openNested(container)
  }

  /// Notes that the tape goes on elsewhere, in something that is in so many containers.
  private func disturb(_ target: Int, outside depth: Int) {
    state.disturbances.append(target)
    recording.isOutOfOrder = true
    state.open.restart(outside: depth)
  }

  /// Where a value is awaited at the current place, lets it come later.
  private func deferAwaited() {
    guard state.open.current == .place(at: recording.tape.count) else { return }
    recording.isOutOfOrder = true
    appendPlace(key: state.pendingKey)
  }

  // MARK: values that throw

  /// Undoes what a value recorded that threw.
  ///
  /// Its tokens stay, so that what escaped from it never names those of another value, but stand for nothing.
  @inline(never)
  private func rollBack(to outside: Surroundings, parent: Int) {
    let start = outside.start
    recording.isOutOfOrder = true
    if state.overflow != nil, state.overflowStart >= start { state.overflow = nil }
    deferAwaited()
    forgetPlaces(from: start)
    if !isOver {
      forgetSlots(since: outside, place: start)
      if recording.tape.count > start { recording.tape[start].set(Token.Flags.dead) }
    }
    if isDisturbed(since: outside) { comeBack(to: parent) } else { leave(outside) }
  }

  /// Lets the place at `start`, whose value threw, await one again.
  @inline(never)
  private func reopen(_ start: Int, _ outside: Surroundings) {
    // A value that has recorded nothing is awaited still.
    if !isDisturbed(since: outside), recording.tape.count == start { return }
    recording.isOutOfOrder = true
    forgetPlaces(from: max(outside.start, start + 1))
    forgetSlots(since: outside, place: start)
    recording.empty(start)
  }

  /// Forgets the places in what a value recorded that threw.
  private func forgetPlaces(from start: Int) {
    while let last = state.innermostPlaces.last, last.start >= start { state.innermostPlaces.removeLast() }
  }

  /// Takes back the slots of keys that came up in a value that threw.
  ///
  /// What it wrote out of turn to anything but itself and its place may have them: then they stay.
  ///
  /// - Parameter place: The place that the value was to take.
  private func forgetSlots(since outside: Surroundings, place: Int) {
    guard recording.keyTables.slotCount > outside.slots else { return }
    let since = state.disturbances[outside.disturbances...]
    if since.contains(where: { $0 < outside.start && $0 != place }) { return }
    // Its tokens name the slots.
    recording.readTape()
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

/// What stands open while a value records itself, outermost first.
struct OpenContainers: ~Copyable {
  /// A container, by the token that begins it, or a place, by the token that its value is to be.
  struct Entry: Equatable, BitwiseCopyable {
    /// The token of a container, or the complement of that of a place.
    private let bits: Int

    /// Stands below what is outermost.
    static let top = Entry(bits: .min)

    static func container(at token: Int) -> Entry { Entry(bits: token) }
    static func place(at token: Int) -> Entry { Entry(bits: ~token) }

    /// Nil if this is not a container.
    var container: Int? { bits < 0 ? nil : bits }
  }

  private var entries = GrowableBuffer<Entry>(capacity: 64)
  /// The innermost entry: what a write must find here to be in line.
  private(set) var current = Entry.top
  /// The first entry that belongs to the running `encode(to:)`; what is below is not its own to close.
  var frame = 0
  /// How many containers the first entry is in.
  private var outside = 0

  init() { entries.append(.top) }

  private var isAtTop: Bool { current == .top }

  var count: Int { entries.count }

  /// How many containers and places the next value stands in at most.
  var depth: Int { entries.count &+ outside }

  /// The token of the innermost container; −1 if only places stand open.
  var innermost: Int { entries.buffer.lazy.compactMap(\.container).last ?? -1 }

  /// How many containers the next value stands in. A place may stand for one, or be in another place.
  var containers: Int { outside + entries.buffer.count { $0.container != nil } }

  @inline(__always)
  mutating func push(_ entry: Entry) {
    entries.append(entry)
    current = entry
  }

  /// Takes the last entry, of which there is at least one above the bottom.
  @inline(__always)
  mutating func pop() -> Entry {
    precondition(count > 1)
    let last = entries.takeLast()
    current = entries[count &- 1]
    return last
  }

  mutating func replaceLast(_ entry: Entry) {
    entries[count &- 1] = entry
    current = entry
  }

  /// The index of the last `entry` that the running `encode(to:)` opened.
  func lastIndex(of entry: Entry) -> Int? {
    (frame..<max(frame, count)).last { entries[$0] == entry }
  }

  /// Closes everything, to begin with something that is in so many containers.
  mutating func restart(outside depth: Int) {
    entries.truncate(to: 1)
    current = .top
    frame = 0
    outside = depth
  }

  mutating func removeAll() { if !isAtTop || outside != 0 || frame != 0 { restart(outside: 0) } }
}
