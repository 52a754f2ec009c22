/// What containers record to: the recording of one message, and the containers and places that are open in
/// it.
///
/// Containers record; nothing is written before the value is complete. Usually recording stays in line: a
/// container is written to while it is the innermost open one. If something else is written to (a container
/// that was left, a place that is filled late), the tape continues there, and is put in order afterwards
/// (`ValueTree`).
///
/// Recorders are reused: what belongs to types (key tables, type encoders, containers) stays, what belongs to
/// a message goes.
final class Recorder {
  // Each access to these properties is a few loads and stores, and runs no user code; checking that at run time, for every
  // value, would cost more than the accesses.
  @exclusivity(unchecked) var recording = Recording()
  @exclusivity(unchecked) var encoders = TypeEncoders()
  @exclusivity(unchecked) var pools: EncoderPools
  @exclusivity(unchecked) private var open = OpenContainers()
  /// How many `encode(to:)` are running, and the key of the value that the innermost of them encodes.
  @exclusivity(unchecked) private var calls = 0
  @exclusivity(unchecked) private var pendingKey = TokenKey()
  /// The containers and places at which the tape continued elsewhere.
  @exclusivity(unchecked) private var disturbances: [Int] = []
  @exclusivity(unchecked) private var stack = StackGuard()
  /// The containers that are nested too deeply, and the places at the maximum depth. A place without a value becomes an
  /// empty object, which is one level too deep.
  @exclusivity(unchecked) private var deepest: [(parent: Int, key: TokenKey, start: Int)] = []
  /// Tells encoders and containers whether their message is still being recorded.
  @exclusivity(unchecked) private(set) var cell = RecorderCell.take()
  @exclusivity(unchecked) private(set) var generation: UInt32
  /// The options of the encoder when the call began.
  @exclusivity(unchecked) private(set) var userInfo = UserInfo()
  @exclusivity(unchecked) private var maximumDepth = 0

  init(reusesContainers: Bool) {
    pools = EncoderPools(reusesContainers: reusesContainers)
    generation = cell.generation
    cell.assign(self)
  }

  deinit { cell.giveBack() }

  var isOver: Bool { generation == RecorderCell.none }

  @inline(__always)
  func begin(maximumDepth: Int, _ userInfo: UserInfo) {
    self.maximumDepth = maximumDepth
    // Assigning an empty dictionary would take two calls of the runtime.
    if !userInfo.isEmpty { self.userInfo = userInfo }
  }

  /// Ends the message: encoders and containers that are still held discard everything from now on.
  func finish() {
    endMessage()
    generation = RecorderCell.none
  }

  /// Tells encoders and containers that the message is over.
  private func endMessage() {
    if !cell.advance() {
      cell = RecorderCell.take()
      cell.assign(self)
    }
    generation = cell.generation
  }

  @inline(__always)
  func reset() {
    endMessage()
    recording.removeAll()
    pools.removeUses()
    open.restart(outside: 0)
    stack.reset()
    if !userInfo.isEmpty { userInfo = UserInfo() }
    if !disturbances.isEmpty { disturbances = [] }
    if !deepest.isEmpty { deepest = [] }
    calls = 0
  }

  /// Prepares to be written to after the message is over, because a container escaped: those that are made
  /// from now on hold the recorder themselves.
  func detach() {
    pools.reusesContainers = false
    // Another thread may release the recorder at any time, once the keyed containers are gone.
    finish()
  }

  /// Throws if containers were nested too deeply by calls that cannot throw. The error carries the whole value.
  @inline(__always)
  func checkNesting(of value: borrowing some Any) throws {
    if deepest.isEmpty { return }
    guard
      let place = deepest.first(where: {
        recording.tape[$0.start].isContainer || recording.isUnfilled($0.start)
      })
    else { return }
    throw tooDeep(copy value, recording.path(parent: place.parent, key: place.key, start: place.start))
  }

  // MARK: calls of `encode(to:)`

  /// The state when a value begins, to be restored when it is complete or throws.
  private struct Surroundings {
    /// How many tokens there are, and how many places and containers are open.
    let start: Int
    let depth: Int
    let floor: Int
    /// How many times the tape has continued elsewhere.
    let disturbances: Int
    /// How many slots the message has given to keys.
    let slots: Int
  }

  private var surroundings: Surroundings {
    Surroundings(
      start: recording.tape.count, depth: open.count, floor: open.floor,
      disturbances: disturbances.count, slots: recording.keyTables.slotCount)
  }

  /// Lets `body` encode a value to the place that begins with the next token, `start`, if one more may nest here. If it
  /// throws, the recording is undone.
  @inline(__always)
  func call<Value>(
    of value: borrowing Value, key: TokenKey, parent: Int,
    _ body: (borrowing Value, _ start: Int) throws -> Void
  ) throws {
    let outside = surroundings
    guard !nests(deeperThan: maximumDepth), calls <= 2 &* maximumDepth else {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: outside.start))
    }
    if stack.isDue(calls), isStackLow { throw noRoom(copy value, key: key, parent: parent) }
    open.push(.place(at: outside.start))
    open.floor = outside.depth
    pendingKey = key
    calls &+= 1
    do {
      try body(value, outside.start)
    } catch {
      calls &-= 1
      rollBack(to: outside, parent: parent)
      throw error
    }
    calls &-= 1
    if isDisturbed(since: outside) { return comeBack(to: parent, from: outside.start) }
    open.floor = outside.floor
    if recording.tape.count == outside.start { appendPlace(key: key) }
    close(toDepth: outside.depth)
  }

  /// Lets `body` encode the value of a single-value container to the place that begins at `start`.
  func nestCall<Value>(
    of value: Value, key: TokenKey, parent: Int, start: Int, _ body: () throws -> Void
  ) throws {
    guard calls <= 2 * maximumDepth else {
      throw tooDeep(value, recording.path(parent: parent, key: key, start: start))
    }
    if stack.isDue(calls), isStackLow { throw noRoom(value, key: key, parent: parent) }
    calls += 1
    defer { calls -= 1 }
    try body()
    settle(start, key: key)
  }

  /// Notes that a value was encoded to the place at `start`, even if it recorded nothing.
  func settle(_ start: Int, key: TokenKey) {
    if awaits(start) {
      appendPlace(key: key, flags: .settled)
    } else if recording.isUnfilled(start) {
      recording.tape[start].set(.settled)
    }
  }

  /// Lets `body` encode to the place of `encoder`, which awaits a value again if `body` throws.
  ///
  /// A container that is already there is continued, and keeps what `body` encoded to it.
  func attempt(_ encoder: RecordingEncoder, _ body: () throws -> Void) throws {
    let outside = surroundings
    do {
      try body()
    } catch {
      if recording.hasContainer(encoder.start, before: outside.start) {
        recording.isOutOfOrder = true
      } else {
        reopen(encoder, outside)
      }
      leave(outside)
      throw error
    }
  }

  /// Records a value as a container with the elements that `elements` records. If one of them throws, the
  /// recording is undone.
  @inline(__always)
  func recordContainer<Value>(
    of value: borrowing Value, _ container: ContainerStart, _ elements: (_ begin: Int) throws -> Void
  ) throws {
    let outside = surroundings
    try checkDepth(of: value, key: container.key, parent: container.parentToken)
    let begin = openNested(container)
    open.floor = outside.depth
    do {
      try elements(begin)
    } catch {
      rollBack(to: outside, parent: container.parentToken)
      throw error
    }
    if isDisturbed(since: outside) { return comeBack(to: container.parentToken, from: begin) }
    leave(outside)
  }

  /// The same for a container that may hold others of its kind without a call of `encode(to:)` in between.
  @inline(__always)
  func recordNest<Value>(
    of value: borrowing Value, _ container: ContainerStart, _ elements: (_ begin: Int) throws -> Void
  ) throws {
    if stack.isDue(calls), isStackLow {
      throw noRoom(copy value, key: container.key, parent: container.parentToken)
    }
    calls &+= 1
    defer { calls &-= 1 }
    try recordContainer(of: value, container, elements)
  }

  /// Whether there is room for one more call and its container, without another look.
  var hasRoom: Bool {
    !nests(deeperThan: maximumDepth &- 1) && calls <= 2 &* maximumDepth && !stack.isDue(calls)
  }

  /// Checks that a value may be recorded here as one more container.
  @inline(__always)
  func checkDepth<Value>(of value: borrowing Value, key: TokenKey, parent: Int) throws {
    if nests(deeperThan: maximumDepth &- 1) {
      throw tooDeep(copy value, recording.path(parent: parent, key: key, start: recording.tape.count))
    }
  }

  /// Returns whether the next value is in more than `limit` containers. That is `maximumDepth`, or one fewer if the
  /// value is itself a container.
  private func nests(deeperThan limit: Int) -> Bool { open.containers > limit }

  /// The token of the current container; negative if a place awaits its value, or nothing is open.
  var currentContainer: Int { open.current.container ?? -1 }

  func isCurrent(_ begin: Int) -> Bool { open.current == .container(at: begin) }

  /// Returns whether the place that begins at `start` still awaits its value, with nothing in between.
  func awaits(_ start: Int) -> Bool {
    open.current == .place(at: start) && recording.tape.count == start
  }

  /// Opens a container as the value of the place that `awaits` it. The call that made the place could not check the depth,
  /// because it did not know whether its value would be a container.
  @inline(__always)
  func occupy(_ container: ContainerStart) {
    _ = open.pop()
    _ = openNested(container)
  }

  /// Opens a container within the current one, and returns where it begins.
  @inline(__always)
  func openNested(_ container: ContainerStart) -> Int {
    let begin = recording.tape.count
    recording.tape.append(container)
    open.push(.container(at: begin))
    if nests(deeperThan: maximumDepth) { noteDepth(container.parentToken, container.key, begin) }
    return begin
  }

  @inline(never)
  private func noteDepth(_ parent: Int, _ key: TokenKey, _ start: Int) {
    deepest.append((parent, key, start))
  }

  /// Appends a place in the current container, whose value comes later or never.
  @inline(never)
  func appendPlace(key: TokenKey, flags: Token.Flags = []) {
    if nests(deeperThan: maximumDepth &- 1) { noteDepth(open.innermost, key, recording.tape.count) }
    recording.tape.append(Token(.place, key: key, flags: flags, index: Token.unfilled))
  }

  @inline(__always)
  private func close(toDepth depth: Int) {
    while open.count > depth {
      if let begin = open.pop().container { recording.tape.append(Token(.end, index: begin)) }
    }
  }

  /// Closes what a value left open, if the value recorded everything in line.
  private func leave(_ outside: Surroundings) {
    if isDisturbed(since: outside) { return }
    open.floor = outside.floor
    close(toDepth: outside.depth)
  }

  // MARK: what comes out of order

  @inline(__always)
  private func isDisturbed(since outside: Surroundings) -> Bool {
    disturbances.count != outside.disturbances
  }

  /// Makes the container that begins at `begin` the current one again.
  ///
  /// Leaving what was opened inside it is in line; coming back to a container that was left is not.
  @inline(never)
  func resume(_ begin: Int) {
    deferAwaited()
    if let depth = open.lastIndex(of: .container(at: begin)) {
      close(toDepth: depth + 1)
    } else {
      goOn(in: begin)
    }
  }

  /// Goes on in the container of a value that recorded something out of order.
  ///
  /// - Parameter start: The value; nil if it threw. It counts even if it has recorded another one for its key.
  @inline(never)
  private func comeBack(to parent: Int, from start: Int? = nil) {
    deferAwaited()
    if parent < 0 { return }
    goOn(in: parent)
    if let start, !isOver { recording.makeLast(start, in: parent) }
  }

  /// Continues the tape in a container that was left.
  private func goOn(in begin: Int) {
    disturb(begin, outside: recording.depth(ofContainer: begin, atMost: maximumDepth &+ 1) - 1)
    if !isOver { recording.continueTape(in: begin) }
    open.push(.container(at: begin))
  }

  /// Makes the next value that of the place at `start`, which has no value and is in the container `parent`.
  func fill(_ start: Int, parent: Int) {
    deferAwaited()
    let depth = parent < 0 ? 0 : recording.depth(ofContainer: parent, atMost: maximumDepth &+ 1)
    disturb(start, outside: depth, in: parent)
    recording.fill(start)
  }

  /// Notes that the tape continues elsewhere, in something that is inside `depth` containers.
  ///
  /// - Parameter parent: The container of a place; −1 at the top.
  private func disturb(_ target: Int, outside depth: Int, in parent: Int = -1) {
    disturbances.append(target)
    recording.isOutOfOrder = true
    for token in open.inner { recording.noteUnfinished(token) }
    open.restart(outside: depth, in: parent)
  }

  /// If a value is awaited at the current place, lets it come later.
  private func deferAwaited() {
    guard open.current == .place(at: recording.tape.count) else { return }
    recording.isOutOfOrder = true
    appendPlace(key: pendingKey)
  }

  // MARK: values that throw

  /// Undoes what a value that threw has recorded.
  ///
  /// Its tokens stay, without meaning, so that what escaped from it never refers to those of another value.
  @inline(never)
  private func rollBack(to outside: Surroundings, parent: Int) {
    let start = outside.start
    recording.isOutOfOrder = true
    deferAwaited()
    forgetDepths(ofValueAt: start, from: start)
    if !isOver {
      forgetSlots(since: outside, place: start)
      if recording.tape.count > start { recording.tape[start].set(.dead) }
    }
    if isDisturbed(since: outside) { comeBack(to: parent) } else { leave(outside) }
  }

  /// Makes the place of an encoder, whose value threw, await one again.
  @inline(never)
  private func reopen(_ encoder: RecordingEncoder, _ outside: Surroundings) {
    let (start, parent) = (encoder.start, encoder.parent)
    // A value that has recorded nothing is still awaited.
    if !isDisturbed(since: outside), recording.tape.count == start { return }
    recording.isOutOfOrder = true
    forgetDepths(ofValueAt: start, from: max(outside.start, start + 1))
    recording.keepKeys(from: outside.start)
    forgetSlots(since: outside, place: start)
    recording.empty(start)
    // An earlier place was noted when it was appended.
    guard start >= outside.start, parent >= 0 else { return }
    let depth = recording.depth(ofContainer: parent, atMost: maximumDepth)
    if depth >= maximumDepth { noteDepth(parent, encoder.key, start) }
  }

  /// Forgets how deeply a value that threw nests, but not what it has recorded elsewhere.
  ///
  /// - Parameter first: The first token that it has recorded.
  private func forgetDepths(ofValueAt start: Int, from first: Int) {
    let own = recording.value(at: start)
    deepest.removeAll {
      $0.start >= first && ($0.start == own || recording.isContainer($0.parent, within: own))
    }
  }

  /// Takes back the slots of keys that were new in a value that threw.
  ///
  /// They stay if the value wrote out of order to anything other than itself and its place, which may use
  /// them.
  ///
  /// - Parameter place: The place that the value was to take.
  private func forgetSlots(since outside: Surroundings, place: Int) {
    guard recording.keyTables.slotCount > outside.slots else { return }
    let since = disturbances[outside.disturbances...]
    if since.contains(where: { $0 < outside.start && $0 != place }) { return }
    // Its tokens refer to the slots.
    recording.readTape()
    recording.keepKeys(from: outside.start)
    recording.keyTables.forgetSlots(from: outside.slots)
  }

  // What escaped from a message may be written to on any thread. The recorder of such a container reuses none.
  private var isStackLow: Bool { stack.isLow(isElsewhere: isOver || !pools.reusesContainers) }

  @inline(never)
  private func noRoom<Value>(_ value: Value, key: TokenKey, parent: Int) -> EncodingError {
    .invalid(
      value, path: recording.path(parent: parent, key: key, start: recording.tape.count),
      "Encoding calls itself \(calls) levels deep, and no more fit on the stack of this thread.")
  }

  @inline(never)
  private func tooDeep<Value>(_ value: Value, _ path: [any CodingKey]) -> EncodingError {
    .invalid(
      value, path: path,
      "The value nests more than \(maximumDepth) levels deep, or contains itself (see maximumDepth).")
  }
}

/// The keyed containers of a recorder, and the tables of their keys.
typealias EncoderPools = ContainerPools<ObjectWriter, KeyTable.Reference>

/// The containers and places that are open while a value records itself, outermost first.
struct OpenContainers: ~Copyable {
  /// A container, by the token that begins it, or a place, by the token that its value is to be.
  struct Entry: Equatable, BitwiseCopyable {
    /// The token of a container, or the complement of that of a place.
    private let bits: Int

    /// The entry below the outermost one.
    static let top = Entry(bits: .min)

    static func container(at token: Int) -> Entry { Entry(bits: token) }
    static func place(at token: Int) -> Entry { Entry(bits: ~token) }

    /// The token of the container; nil if this is a place.
    var container: Int? { bits < 0 ? nil : bits }
    /// The token of either.
    var token: Int { bits < 0 ? ~bits : bits }
  }

  private var entries = GrowableBuffer<Entry>(capacity: 64)
  /// The innermost entry, which a write must find here to be in line.
  private(set) var current = Entry.top
  /// The first entry that belongs to the running `encode(to:)`, which must not close those below.
  var floor = 0
  /// How many containers are around the next value. A place may stand for one, or be in another place.
  private(set) var containers = 0
  /// The token of the innermost container that the first entry is in, if the entry is a place.
  private var parent = -1

  init() { entries.append(.top) }

  var count: Int { entries.count }

  /// The token of the innermost container; −1 if there is no container.
  var innermost: Int { entries.buffer.lazy.compactMap(\.container).last ?? parent }

  /// The tokens of the containers and places that are open inside another.
  var inner: some Sequence<Int> { entries.buffer.lazy.dropFirst(2).map(\.token) }

  @inline(__always)
  mutating func push(_ entry: Entry) {
    entries.append(entry)
    if entry.container != nil { containers &+= 1 }
    current = entry
  }

  /// Removes the last entry, which must be above the bottom one, and returns it.
  @inline(__always)
  mutating func pop() -> Entry {
    precondition(count > 1)
    let last = entries.takeLast()
    if last.container != nil { containers &-= 1 }
    current = entries[count &- 1]
    return last
  }

  /// Returns the index of the last `entry` that the running `encode(to:)` opened.
  func lastIndex(of entry: Entry) -> Int? {
    (floor..<max(floor, count)).last { entries[$0] == entry }
  }

  /// Closes everything, to begin with something that is inside `depth` containers.
  mutating func restart(outside depth: Int, in parent: Int = -1) {
    entries.truncate(to: 1)
    current = .top
    floor = 0
    containers = depth
    self.parent = parent
  }
}
