/// The state of one call of `encode`: the tape, and what stands open on it.
///
/// Containers record; nothing is written before the value is complete. What is usual is a straight line:
/// a container is written to while it is the innermost open one. Whatever is not (writing to a container
/// that was left, a value that failed) is noted on the tape and set right by `Normalizer` afterwards.
///
/// Sessions are used again: what belongs to types (keyTables, plans, containers) stays, what belongs to a
/// message goes.
final class EncodingSession {
  // Every access is a single load, store or call that does not come back here; checking that at run time
  // would cost more than the accesses.
  @exclusivity(unchecked) var tape = Tape()
  @exclusivity(unchecked) var strings = StringPool()
  /// Whole arrays and data, which the tape names by their index.
  @exclusivity(unchecked) var retained: [RetainedValue] = []
  @exclusivity(unchecked) var wideValues = GrowableBuffer<WideValue>(capacity: 4)

  /// What a write must find innermost to be in line: the first token of an open container, or the
  /// complement of the token where a value is awaited.
  @exclusivity(unchecked) private(set) var current = EncodingSession.top
  /// What is open; the last is `current`.
  @exclusivity(unchecked) private var open = OpenStack(bottom: EncodingSession.top)
  /// The first in `open` that belongs to the running `encode(to:)`; what is below is not its own to close.
  @exclusivity(unchecked) private var frame = 0
  /// How many `encode(to:)` are running, and the key of the value that the last of them stands for.
  @exclusivity(unchecked) private var calls = 0
  @exclusivity(unchecked) private var pendingKey: UInt64 = 0
  @exclusivity(unchecked) private var stack = StackGuard()

  /// Whether the message has been written, and a container outlived it.
  @exclusivity(unchecked) private(set) var isOver = false
  /// Whether the tape must be normalized before it is planned.
  @exclusivity(unchecked) var needsNormalizing = false
  /// How many times something out of line was recorded.
  @exclusivity(unchecked) private var disturbances = 0
  /// The tokens where maps begin, which have keys before their values; and whether those could repeat. A tape that is
  /// not in line may have others.
  @exclusivity(unchecked) var maps = GrowableBuffer<UInt32>(capacity: 16)
  @exclusivity(unchecked) var hasFreeKeys = false
  /// The path of the first container that is nested too deeply.
  @exclusivity(unchecked) private var overflow: [any CodingKey]?
  @exclusivity(unchecked) private var overflowStart = 0
  /// By the token of a key: its integer, where that is not what its string says.
  @exclusivity(unchecked) var integerKeys: [Int: Int?] = [:]

  @exclusivity(unchecked) private(set) var keyTables: [KeyTable] = []
  /// The same, to be looked at without counting references.
  @exclusivity(unchecked) private(set) var keyTableList = BorrowedList<KeyTable>()
  /// Those with slots that the message uses; and all whose containers it took.
  @exclusivity(unchecked) var activeKeyTables = BorrowedList<KeyTable>()
  @exclusivity(unchecked) var usedKeyTables = BorrowedList<KeyTable>()
  /// Tells the messages of a session apart.
  @exclusivity(unchecked) private(set) var message = 0
  /// The keyTables of the slots that the message has given to keys, in that order.
  @exclusivity(unchecked) var newSlots = GrowableBuffer<Int>(capacity: 16)
  @exclusivity(unchecked) var keyTablesByType = TypeTable<Unmanaged<KeyTable>>()
  @exclusivity(unchecked) var plans = TypeEncoders()
  /// Whether containers are handed out again; no longer when the message is over.
  @exclusivity(unchecked) private(set) var reusesContainers: Bool

  /// What tells encoders and containers whether their message is still going on.
  @exclusivity(unchecked) private(set) var cell = SessionCell.take()
  @exclusivity(unchecked) private(set) var generation: UInt32

  // The options of the encoder, as they were when the call began.
  @exclusivity(unchecked) private(set) var userInfo = UserInfo()
  @exclusivity(unchecked) private var outputFormatting: StowEncoder.OutputFormatting = []
  /// None without a call: of what goes nowhere, every value would begin to count anew.
  @exclusivity(unchecked) private var maximumDepth = 0

  @exclusivity(unchecked) var planner = Planner()
  @exclusivity(unchecked) var mapWalk = MapWalk()
  @exclusivity(unchecked) var emitter = Emitter()

  private static let top = Int.min

  init(reusesContainers: Bool) {
    self.reusesContainers = reusesContainers
    generation = cell.generation
    cell.assign(self)
  }

  deinit { cell.giveBack() }

  /// Takes the options of an encoder.
  @inline(__always)
  func begin(
    _ outputFormatting: StowEncoder.OutputFormatting, maximumDepth: Int,
    _ sharedUserInfo: borrowing SharedUserInfo
  ) {
    self.outputFormatting = outputFormatting
    self.maximumDepth = maximumDepth
    sharedUserInfo.hand(to: &userInfo)
    message &+= 1
  }

  /// Whether maps are sorted by their keys.
  var sortsKeys: Bool { outputFormatting.contains(.sortedKeys) }

  /// Lets what refers to the session go nowhere from now on.
  @inline(__always)
  private func endMessage() {
    if !cell.advance() {
      cell = SessionCell.take()
      cell.assign(self)
    }
    generation = cell.generation
  }

  /// Forgets the message.
  ///
  /// In line, like what it calls.
  @inline(__always)
  func reset() {
    endMessage()
    tape.removeAll()
    activeKeyTables.borrowEach { $0.reset() }
    activeKeyTables.removeAll()
    newSlots.removeAll()
    usedKeyTables.removeAll()
    stack.reset()
    if !userInfo.isEmpty { userInfo = UserInfo() }
    strings.removeAll()
    if !retained.isEmpty { retained.removeAll() }
    wideValues.removeAll()
    maps.removeAll()
    hasFreeKeys = false
    needsNormalizing = false
    disturbances = 0
    if overflow != nil { overflow = nil }
    if !integerKeys.isEmpty { integerKeys = [:] }
    open.truncate(to: 1)
    current = Self.top
    frame = 0
    calls = 0
  }

  @inline(__always)
  func noteMap(at begin: Int) { maps.append(UInt32(truncatingIfNeeded: begin)) }

  /// Adds what is known of a key type.
  func add(_ keyTable: KeyTable) {
    keyTables.append(keyTable)
    keyTableList.append(keyTable)
  }

  /// Gets ready to be written to when the message is over, because a container was kept: those that are made
  /// from now on hold the session themselves.
  func outlive() {
    isOver = true
    reusesContainers = false
    endMessage()
    // Another thread may let go of the session at any time, once the keyed containers are gone.
    generation = SessionCell.none
  }

  // MARK: values

  /// Records the whole message.
  func record<Value: Encodable>(_ value: Value) throws {
    if plans.entry(for: Value.self).kind == .plain {
      try call(value, key: 0, parent: -1, outside: Surroundings())
    } else {
      try encode(value, key: 0)
    }
    if let overflow { throw tooDeep(overflow) }
    if tape[0].isContainer { return }
    let hasNothing = tape.count == 1 && tape[0].kind == .empty && !tape[0].has(Token.Flags.nested)
    guard hasNothing || isUnfilled(0) else { return }
    let description = "Top-level \(Value.self) did not encode any values."
    throw EncodingError.invalidValue(
      value, EncodingError.Context(codingPath: [], debugDescription: description))
  }

  /// Lets `value` encode itself to the place that begins with the next token.
  @inline(__always)
  func encodePlain<Value: Encodable>(_ value: borrowing Value, key: UInt64, parent: Int) throws {
    let outside = surroundings
    guard outside.depth <= maximumDepth &+ 1 || !exceeds(maximumDepth), calls <= 2 &* maximumDepth else {
      throw tooDeep(path(parent: parent, key: key, start: outside.start))
    }
    if StackGuard.isDue(calls) { try checkStack(parent: parent, key: key) }
    try call(value, key: key, parent: parent, outside: outside)
  }

  /// What a value finds when it begins, to be restored when it is complete or throws. At first that of the whole message.
  private struct Surroundings {
    /// How many tokens there are, and how many places and containers stand open.
    var start = 0
    var depth = 1
    var frame = 0
    var disturbances = 0
    /// How many slots the message has given to keys.
    var slots = 0
  }

  @inline(__always)
  private var surroundings: Surroundings {
    Surroundings(
      start: tape.count, depth: open.count, frame: frame, disturbances: disturbances, slots: newSlots.count)
  }

  @inline(__always)
  private func call<Value: Encodable>(
    _ value: borrowing Value, key: UInt64, parent: Int, outside: Surroundings
  ) throws {
    let start = outside.start
    current = ~start
    open.push(~start)
    frame = outside.depth
    pendingKey = key
    calls &+= 1
    do {
      try value.encode(to: RecordingEncoder(session: self, start: start, parent: parent, key: key))
    } catch {
      calls &-= 1
      frame = outside.frame
      rollBack(to: outside, key: key)
      throw error
    }
    calls &-= 1
    frame = outside.frame
    if tape.count == start { tape.append(Token(.empty, key: key)) }
    close(toDepth: outside.depth)
  }

  /// Lets the value of a single-value container encode itself to the place of that container.
  func encodeNested<Value: Encodable>(_ value: Value, in encoder: RecordingEncoder) throws {
    guard calls <= 2 * maximumDepth else { throw tooDeep(encoder.codingPath) }
    if StackGuard.isDue(calls) { try checkStack(parent: encoder.parent, key: encoder.key) }
    calls += 1
    defer { calls -= 1 }
    try value.encode(to: encoder)
    // The value was one, though it has nothing to say.
    if isUnfilled(encoder.start) { fill(encoder.start) } else if !awaits(encoder.start) { return }
    tape.append(Token(.empty, key: encoder.key, flags: Token.Flags.nested))
  }

  /// Lets `body` encode to the place at `start`, which awaits a value again if that throws.
  ///
  /// Where a container stands already it is continued, and keeps what `body` encoded to it.
  @inline(__always)
  func attempt(_ start: Int, _ body: () throws -> Void) throws {
    let outside = surroundings
    let outerCalls = calls
    do {
      try body()
    } catch {
      frame = outside.frame
      calls = outerCalls
      if hasContainer(start, before: outside.start) {
        needsNormalizing = true
        close(toDepth: outside.depth)
      } else {
        reopen(start, outside)
      }
      throw error
    }
  }

  /// Whether the value of the place at `start` is a container that begins before the token at `count`.
  @inline(never)
  private func hasContainer(_ start: Int, before count: Int) -> Bool {
    guard start < count else { return false }
    let value = tape[start].kind == .deferred ? tape[start].index : start
    return value < count && tape[value].isContainer
  }

  @inline(never)
  private func reopen(_ start: Int, _ outside: Surroundings) {
    // A reserved place for which nothing was recorded awaits its value still.
    if disturbances == outside.disturbances, isUnfilled(start) { return }
    needsNormalizing = true
    forgetSlots(since: outside, place: start)
    if tape.count > start { dropAnnouncement() }
    // The token of a value that recorded nothing.
    if tape.count == start + 1, tape[start].kind == .empty { tape.removeLast() }
    if tape.count <= start {
      open.truncate(to: outside.depth)
      open.replaceLast(~start)
      current = ~start
      return
    }
    close(toDepth: outside.depth)
    var token = tape[start]
    if token.kind == .deferred {
      if token.index != Token.unfilled { tape[token.index].set(Token.Flags.dead) }
    } else {
      token = Token(.deferred, key: token.key, flags: token.isContainer ? Token.Flags.failedContainer : 0)
    }
    token.index = Token.unfilled
    // A value in the same place may have been rolled back before this one.
    token.clear(Token.Flags.dead)
    tape[start] = token
  }

  /// Records a container whose elements are at hand; what it recorded is undone if one of them throws.
  @inline(__always)
  func recordContainer(_ container: ContainerStart, _ elements: (_ begin: Int) throws -> Void) throws {
    let outside = surroundings
    try checkDepth(key: container.key, parent: container.parentToken)
    let begin = openNested(container)
    frame = outside.depth
    do {
      try elements(begin)
    } catch {
      frame = outside.frame
      rollBack(to: outside, key: container.key)
      throw error
    }
    frame = outside.frame
    close(toDepth: outside.depth)
  }

  /// Checks that one more container may be nested here.
  @inline(__always)
  func checkDepth(key: UInt64, parent: Int) throws {
    if open.count > maximumDepth, exceeds(maximumDepth &- 1) {
      throw tooDeep(path(parent: parent, key: key, start: tape.count))
    }
  }

  /// Whether more containers are open. A place may stand for one, or be in another place, so that only this counts.
  @inline(never)
  private func exceeds(_ depth: Int) -> Bool { open.containerCount > depth }

  // MARK: containers

  /// Whether the place that begins at `start` still awaits its value, and nothing came between.
  @inline(__always)
  func awaits(_ start: Int) -> Bool { current == ~start && tape.count == start }

  /// Opens a container as the value of the place that `awaits` it.
  @inline(__always)
  func occupy(_ container: ContainerStart) {
    let begin = tape.count
    tape.append(container)
    current = begin
    open.replaceLast(begin)
    if open.count > maximumDepth &+ 1 { noteOverflow(at: begin) }
  }

  /// Opens a container within the current one.
  @inline(__always)
  func openNested(_ container: ContainerStart) -> Int {
    let begin = tape.count
    tape.append(container)
    push(begin)
    return begin
  }

  @inline(__always)
  private func push(_ begin: Int) {
    current = begin
    open.push(begin)
    if open.count > maximumDepth &+ 1 { noteOverflow(at: begin) }
  }

  @inline(never)
  private func noteOverflow(at begin: Int) {
    guard overflow == nil, exceeds(maximumDepth) else { return }
    overflow = path(ofContainer: begin)
    overflowStart = begin
  }

  @inline(__always)
  private func close(toDepth depth: Int) {
    while open.count > depth {
      let begin = open.pop()
      if begin >= 0 { tape.append(Token(.end, index: begin)) }
    }
    current = open.last
  }

  /// Makes the container that begins at `begin` the current one again.
  ///
  /// Leaving what was opened inside it is in line; coming back to what was left is not.
  @inline(never)
  func resume(_ begin: Int) {
    deferAwaited()
    if let depth = open.lastIndex(of: begin, from: frame) {
      close(toDepth: depth + 1)
      return
    }
    disturb()
    // Continued containers do not stand inside each other.
    if let depth = open.continuedIndex(from: frame) { close(toDepth: depth) }
    tape.append(Token(.segment, index: begin))
    current = begin
    open.pushContinued(begin)
  }

  /// Where a value is awaited at the current place, lets it come later.
  func deferAwaited() {
    guard current < 0, current != Self.top, tape.count == ~current else { return }
    disturb()
    tape.append(Token(.deferred, key: pendingKey, index: Token.unfilled))
  }

  /// Notes that the tape is not in line.
  func disturb() {
    disturbances += 1
    needsNormalizing = true
  }

  // MARK: errors

  @inline(never)
  private func checkStack(parent: Int, key: UInt64) throws {
    // What outlived its message may be written to on any thread.
    guard stack.isLow(isElsewhere: isOver) else { return }
    let path = path(parent: parent, key: key, start: tape.count)
    let description =
      "Encoding calls itself \(calls) levels deep, and no more fit on the stack of this thread."
    throw EncodingError.invalidValue(
      path, EncodingError.Context(codingPath: path, debugDescription: description))
  }

  private func tooDeep(_ path: [any CodingKey]) -> EncodingError {
    let description =
      "The value nests more than \(maximumDepth) levels deep, or contains itself (see maximumDepth)."
    return .invalidValue(path, EncodingError.Context(codingPath: path, debugDescription: description))
  }

  /// Undoes what a value recorded that threw.
  ///
  /// Its tokens stay, so that what was kept of it never names those of another value, but stand for nothing.
  @inline(never)
  private func rollBack(to outside: Surroundings, key: UInt64) {
    let start = outside.start
    needsNormalizing = true
    if overflow != nil, overflowStart >= start { overflow = nil }
    forgetSlots(since: outside, place: start)
    if tape.count <= start { tape.append(Token(.empty, key: key)) }
    tape[start].set(Token.Flags.dead)
    close(toDepth: outside.depth)
  }

  /// Takes back the slots of keys that came up in a value that threw.
  ///
  /// What it wrote out of turn to anything but itself and its place may have them: then they stay.
  ///
  /// - Parameter place: The place that the value was to take.
  private func forgetSlots(since outside: Surroundings, place: Int) {
    guard newSlots.count > outside.slots else { return }
    guard disturbances == outside.disturbances || !reachesOut(from: outside.start, place: place) else {
      return
    }
    while newSlots.count > outside.slots {
      keyTables[newSlots[newSlots.count - 1]].forgetLastSlot()
      newSlots.truncate(to: newSlots.count - 1)
    }
  }

  private func reachesOut(from count: Int, place: Int) -> Bool {
    (count..<max(count, tape.count)).contains { index in
      let token = tape[index]
      return (token.kind == .segment || token.kind == .fill) && token.index < count && token.index != place
    }
  }

  /// Takes back what announced a value that then threw: its key, or the mark that it came late.
  func dropAnnouncement() {
    guard tape.count > 0 else { return }
    let last = tape[tape.count - 1]
    guard last.kind == .key || last.kind == .fill else { return }
    if last.kind == .fill { tape[last.index].index = Token.unfilled }
    if !integerKeys.isEmpty { integerKeys[tape.count - 1] = nil }
    tape.removeLast()
  }
}
