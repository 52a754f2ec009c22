/// The values of each container of a message, if the order of the tape does not tell.
///
/// As long as a value is recorded in order, the tape is enough. When a container that was left is continued,
/// or a value comes late, the tape is read into this tree as far as it has come, and what follows is the
/// first token of something else:
///
///     ["a", ["b"], "c"], and then "d" is added to the inner array
///
///     tape     array "a" array "b" end "c"  │  "d"
///     nodes    0: "a", node 1, "c"             ↑ `open` says that this is an element of node 1
///              1: "b"
///
/// A value that threw stays in the tree, marked as dead, so that anything written to a container that was
/// kept from it is lost with it. In the end the tree is written to a tape on which everything is in order
/// (`Recording.putInOrder`).
struct ValueTree {
  struct Node {
    /// The token that began the container, as it was then: another value may take its place.
    let begin: Token
    var entries: [Entry] = []
    fileprivate var entryOfKey: [Int: Int] = [:]

    fileprivate init(_ begin: Token) { self.begin = begin }

    fileprivate mutating func append(_ entry: Entry) {
      if entry.key >= 0 { entryOfKey[entry.key] = entries.count }
      entries.append(entry)
    }
  }

  struct Entry {
    /// The string of the key; −1 in an array, and if every value of the key threw.
    var key: Int
    /// The slot of the key in the key table of the object; −1 if it has no slot there.
    let slot: Int
    /// The last value.
    var token: Int
  }

  var nodes: [Node] = []
  /// The node of each container, by its token; −1 for other tokens. The count is the number of tokens that
  /// were read.
  fileprivate var nodeOfToken: [Int32] = []
  /// The tokens of the containers around the next token, outermost first.
  fileprivate var open: [Int] = []
  /// The earlier value for the same key that a value replaced, in case the value throws.
  fileprivate var replaced: [Int: Int] = [:]
  /// The keys of objects whose values threw, in the order of their slots, and the token after each value; by the tokens
  /// of the objects. Their slots were given to other keys, but containers that were kept have a path.
  fileprivate(set) var formerKeys: [Int: (keys: [any CodingKey], end: Int)] = [:]

  var isEmpty: Bool { nodeOfToken.isEmpty }

  func node(ofContainer token: Int) -> Int { Int(nodeOfToken[token]) }
}

extension Recording {
  /// Returns the token that began a container. If the container threw in a single-value container, it has left a place.
  func beginning(ofContainer token: Int) -> Token {
    guard tape[token].kind == .place, token < tree.nodeOfToken.count else { return tape[token] }
    let node = tree.node(ofContainer: token)
    return node >= 0 ? tree.nodes[node].begin : tape[token]
  }

  /// Takes what was recorded since the last time into the tree, except a key whose value is yet to come.
  mutating func readTape() {
    let end = endsWithKey ? tape.count - 1 : tape.count
    var key = -1
    for index in tree.nodeOfToken.count..<max(end, tree.nodeOfToken.count) {
      tree.nodeOfToken.append(-1)
      let token = tape[index]
      switch token.kind {
      case .key: key = token.index
      case .end:
        tree.open.removeLast()
        key = -1
      default:
        if let container = tree.open.last { attach(index, token, key: key, to: container) }
        key = -1
        if token.isContainer {
          if tree.nodeOfToken[index] < 0 { makeNode(token, at: index) }
          tree.open.append(index)
        }
      }
    }
  }

  private mutating func makeNode(_ token: Token, at index: Int) {
    tree.nodeOfToken[index] = Int32(tree.nodes.count)
    tree.nodes.append(ValueTree.Node(token))
  }

  /// Makes the next token belong to the container that begins at `begin`, or to no container if that is nil.
  mutating func continueTape(in begin: Int?) {
    dropKey()
    readTape()
    tree.open = begin.map { [$0] } ?? []
  }

  /// - Parameter key: The string of the key, if it is a token before the value; otherwise −1.
  private mutating func attach(_ index: Int, _ token: Token, key: Int, to container: Int) {
    let parent = tree.node(ofContainer: container)
    let object = tree.nodes[parent].begin
    if object.kind == .array {
      return tree.nodes[parent].append(ValueTree.Entry(key: -1, slot: -1, token: index))
    }
    var (key, slot) = (key, -1)
    if key < 0 {
      let keys = keyTable(ofObject: container)
      key = name(ofSlot: token.slot, in: container)
      if object.kind == .object, object.index == keys { slot = token.slot }
    }
    if let existing = tree.nodes[parent].entryOfKey[key] {
      if let last = lastValue(ofEntry: existing, in: parent) {
        if token.has(.nested), token.isContainer, let finished = finished(last),
          merges(index, token, into: finished)
        {
          return
        }
        tree.replaced[index] = last
        tree.nodes[parent].entries[existing].token = index
        return
      }
      tree.nodes[parent].entries[existing].key = -1
    }
    tree.nodes[parent].append(ValueTree.Entry(key: key, slot: slot, token: index))
  }

  /// Returns the string of a key of the object that begins at `begin`.
  private mutating func name(ofSlot slot: Int, in begin: Int) -> Int {
    strings.intern(keyTables[keyTable(ofObject: begin)].pointee.utf8(atSlot: slot))
  }

  /// Returns the key table whose slots the tokens of an object use, which may be another one than that of the
  /// object it continues.
  private func keyTable(ofObject begin: Int) -> Int {
    tape[begin].kind == .object ? tape[begin].index : tree.nodes[tree.node(ofContainer: begin)].begin.index
  }

  /// Makes a nested container the continuation of one under the same key.
  private mutating func merges(_ index: Int, _ token: Token, into last: Int) -> Bool {
    let value = value(at: last)
    guard value < tape.count, tape[value].isContainer || tape[value].isArray else { return false }
    // A programming error, unless it happens in a value that threw: that is known when the tree is written.
    if tape[value].isArray != token.isArray {
      tape[index].set(.mismatched)
      return false
    }
    tree.nodeOfToken[index] = tree.nodeOfToken[value]
    return tree.nodeOfToken[index] >= 0
  }

  /// Returns the keys that have values in the object at the place that begins at `start`; none if there is another value.
  mutating func keys(ofObject start: Int) -> [String] {
    readTape()
    let object = value(at: start)
    guard object < tape.count, tape[object].isContainer else { return [] }
    let node = tree.node(ofContainer: object)
    return tree.nodes[node].entries.indices.compactMap {
      let key = tree.nodes[node].entries[$0].key
      return key >= 0 && lastValue(ofEntry: $0, in: node) != nil ? strings.string(key) : nil
    }
  }

  /// Returns the last value of an entry that did not throw.
  fileprivate mutating func lastValue(ofEntry entry: Int, in node: Int) -> Int? {
    var token = tree.nodes[node].entries[entry].token
    while tape[token].has(.dead) {
      guard let earlier = tree.replaced[token] else { return nil }
      token = earlier
    }
    tree.nodes[node].entries[entry].token = token
    return token
  }

  /// Notes that the value at `start` is being encoded while something else is written to. A nested container has no end.
  mutating func noteUnfinished(_ start: Int) {
    guard start < tape.count else { return }
    if tape[start].kind != .place, tape[start].has(.nested) { return }
    tape[start].set(.unfinished)
  }

  /// Returns a value, or if it is still being encoded, the one for its key before it. A nested container continues
  /// only what is finished.
  private func finished(_ value: Int) -> Int? {
    var value: Int? = value
    while let last = value, tape[last].has([.unfinished, .dead]) {
      value = tree.replaced[last]
    }
    return value
  }

  /// Makes a value that is finished the last one for its key, or the last element, although others came after it began.
  mutating func makeLast(_ value: Int, in container: Int) {
    tape[value].clear(.unfinished)
    let node = tree.node(ofContainer: container)
    if tree.nodes[node].entries.last?.token == value { return }
    if tree.nodes[node].begin.kind == .array {
      guard let index = tree.nodes[node].entries.lastIndex(where: { $0.token <= value }),
        tree.nodes[node].entries[index].token == value
      else { return }
      return tree.nodes[node].entries.append(tree.nodes[node].entries.remove(at: index))
    }
    let before = tape[value - 1]
    let key = before.kind == .key ? before.index : name(ofSlot: tape[value].slot, in: container)
    guard let entry = tree.nodes[node].entryOfKey[key] else { return }
    var token: Int? = tree.nodes[node].entries[entry].token
    while let later = token, later != value { token = tree.replaced[later] }
    if token == value { tree.nodes[node].entries[entry].token = value }
  }

  // MARK: places

  /// Returns the value of the place at `start`: the place itself, or what came late; the next token if that
  /// is yet to come.
  func value(at start: Int) -> Int {
    var value = start
    while value < tape.count, tape[value].kind == .place, tape[value].index != Token.unfilled {
      value = tape[value].index
    }
    return value
  }

  /// Returns whether the value of the place at `start` is a container that begins before the token at
  /// `count`.
  func hasContainer(_ start: Int, before count: Int) -> Bool {
    guard start < count else { return false }
    let value = value(at: start)
    return value < min(count, tape.count) && tape[value].isContainer
  }

  /// Makes the next value that of the place at `start`.
  mutating func fill(_ start: Int) {
    continueTape(in: nil)
    if start > 0, tape[start - 1].kind == .key {
      if let integer = integerKeys[start - 1] { integerKeys[tape.count] = integer }
      tape.append(tape[start - 1])
    }
    tape[start].clear(.settled)
    tape[start].index = tape.count
  }

  /// Keeps the keys of the objects that begin at `start` or later, which threw.
  mutating func keepKeys(from start: Int) {
    for token in start..<tape.count where tape[token].kind == .object && tree.formerKeys[token] == nil {
      tree.formerKeys[token] = (keyTables[tape[token].index].pointee.usedKeys, tape.count)
    }
  }

  /// Makes the place at `start`, whose value threw, await one again. What the value has recorded belongs to
  /// nothing.
  mutating func empty(_ start: Int) {
    dropKey()
    readTape()
    let flags = tape[start].flags.intersection(.unfinished)
    tape[start] = Token(.place, key: tape[start].key, flags: flags, index: Token.unfilled)
  }

  // MARK: arrays

  mutating func elementCount(ofArray begin: Int) -> Int {
    if tape[begin].kind == .array { return tape[begin].index }
    readTape()
    return tree.nodes[tree.node(ofContainer: begin)].entries.count
  }

  /// Counts one more element of an array, and returns how many it had.
  mutating func addElement(toArray begin: Int) -> Int {
    let token = tape[begin]
    guard token.kind == .array else { return elementCount(ofArray: begin) }
    tape[begin].index = token.index &+ 1
    return token.index
  }

  /// Counts one element less, because it threw.
  mutating func removeElement(ofArray begin: Int) {
    if tape[begin].kind == .array { tape[begin].index = max(0, tape[begin].index - 1) }
  }

  /// Returns the array that is the last value for a key of the container that begins at `parent`, if one was
  /// encoded before.
  ///
  /// - Parameter name: The string of the key; −1 if it has a slot.
  mutating func array(forKey key: TokenKey, name: Int, parent: Int) -> Int? {
    // A key that is new to the message, or in its turn, cannot have occurred before. As a string, it may have been a slot.
    let mayRepeat =
      name < 0 ? isOutOfOrder : strings[name].keyUses > 1 || beginning(ofContainer: parent).kind == .object
    guard mayRepeat else { return nil }
    readTape()
    var name = name
    if name < 0 { name = self.name(ofSlot: key.position, in: parent) }
    let node = tree.node(ofContainer: parent)
    guard let entry = tree.nodes[node].entryOfKey[name], let last = lastValue(ofEntry: entry, in: node),
      let finished = finished(last)
    else { return nil }
    let value = value(at: finished)
    return value < tape.count && tape[value].isArray ? value : nil
  }

  /// Turns an array that was retained as a whole into one with its elements on the tape, because others
  /// follow.
  mutating func expand(_ begin: Int) {
    let token = tape[begin]
    guard token.isArray, !token.isContainer else { return }
    readTape()
    let first = tape.count
    switch retained[token.index] {
    case .doubles(let values): for value in values { value.record(in: &self, key: TokenKey()) }
    case .bools(let values): for value in values { value.record(in: &self, key: TokenKey()) }
    case .ints(let values): for value in values { value.record(in: &self, key: TokenKey()) }
    case .integers(let values): for value in values { value.record(in: &self, key: TokenKey()) }
    case .data: break
    }
    tape[begin] = Token(
      .array, key: token.key, flags: token.flags.subtracting(.mismatched), index: tape.count - first)
    makeNode(tape[begin], at: begin)
    for element in first..<tape.count {
      tree.nodeOfToken.append(-1)
      tree.nodes[tree.nodes.count - 1].append(ValueTree.Entry(key: -1, slot: -1, token: element))
    }
  }
}

// MARK: - Putting the tape in order

extension Recording {
  /// Puts everything on the tape in order.
  ///
  /// Continued containers become whole, late values take their places, values that threw are dropped, the
  /// last of several values for a key counts, and counts are made again. Takes time linear in the length of
  /// the tape.
  mutating func putInOrder(sortsKeys: Bool) {
    readTape()
    var writer = TreeWriter(sortsKeys: sortsKeys)
    swap(&writer.recording, &self)
    writer.write()
    swap(&writer.recording, &self)
    tree = ValueTree()
  }
}

private struct TreeWriter: ~Copyable {
  /// The recording to put in order, lent for as long as that takes; an empty one before and after it.
  var recording = Recording()
  private let sortsKeys: Bool
  private var result = Tape()
  /// The pool of the new tape, where strings are in its order.
  private var strings = StringPool()
  /// By key table: if keys are sorted, the slots in the order in which they occur on the new tape. Their
  /// order on the old one is as arbitrary as that of a dictionary.
  private var slotOrders: [Int: [Int]] = [:]
  private var open: [Open] = []

  /// A container that is being written.
  private struct Open {
    let begin: Int
    let entries: [ValueTree.Entry]
    let usesSlots: Bool
    var next = 0
  }

  init(sortsKeys: Bool) { self.sortsKeys = sortsKeys }

  mutating func write() {
    for keys in recording.keyTables.active.buffer {
      keys.pointee.clearPresent()
      keys.pointee.uses = 0
      keys.pointee.firstUse = .max
    }
    recording.maps.removeAll()
    recording.isOutOfOrder = false
    recording.hasFreeKeys = false
    write(0, slot: 0)
    while let container = open.last {
      guard container.next < container.entries.count else {
        result.append(Token(.end, index: container.begin))
        open.removeLast()
        continue
      }
      open[open.count - 1].next += 1
      let entry = container.entries[container.next]
      if entry.key >= 0, !container.usesSlots {
        let key = strings.intern(recording.strings.utf8(entry.key))
        strings[key].keyUses &+= 1
        result.append(Token(.key, index: key))
      }
      write(entry.token, slot: container.usesSlots ? entry.slot : 0)
    }
    recording.keyTables.sortByFirstUse()
    for (index, order) in slotOrders { recording.keyTables[index].pointee.reorder(order) }
    swap(&recording.tape, &result)
    swap(&recording.strings, &strings)
  }

  /// Writes a scalar, or the beginning of a container, whose entries are then to be written.
  private mutating func write(_ place: Int, slot: Int) {
    let index = recording.value(at: place)
    let old = recording.tape[index]
    precondition(
      !old.has(.mismatched),
      "Attempt to continue a container of another kind, which was already encoded for this key.")
    var token = Token(old.kind, key: TokenKey(slot), index: old.index)
    switch token.kind {
    case .string, .url:
      token.index = strings.intern(recording.strings.utf8(token.index))
      strings[token.index].valueUses &+= 1
    case .array: open.append(Open(begin: result.count, entries: entries(of: index), usesSlots: false))
    case .object, .map: return writeObject(token, entries(of: index))
    case _ where token.hasWord:
      return result.append(token.kind, key: token.key, word: recording.tape.view.number(old))
    default: break
    }
    result.append(token)
  }

  /// Returns the entries of a container, without those whose values all threw.
  private mutating func entries(of container: Int) -> [ValueTree.Entry] {
    let node = recording.tree.node(ofContainer: container)
    for entry in recording.tree.nodes[node].entries.indices {
      if recording.lastValue(ofEntry: entry, in: node) == nil {
        recording.tree.nodes[node].entries[entry].token = -1
      }
    }
    let entries = recording.tree.nodes[node].entries
    return entries.contains { $0.token < 0 } ? entries.filter { $0.token >= 0 } : entries
  }

  private mutating func writeObject(_ token: Token, _ entries: [ValueTree.Entry]) {
    var (token, entries) = (token, entries)
    let usesSlots = token.kind == .object && entries.allSatisfy { $0.slot >= 0 }
    if usesSlots {
      let keys = recording.keyTables[token.index]
      keys.pointee.firstUse = min(keys.pointee.firstUse, result.count)
      keys.pointee.uses += 1
      if sortsKeys {
        entries = renumbered(entries, token.index)
      } else {
        for entry in entries { keys.pointee.markPresent(slot: entry.slot) }
      }
      entries.sort { $0.slot < $1.slot }
    } else {
      recording.noteMap(at: result.count)
      token = Token(.map, key: token.key)
      if sortsKeys { sort(&entries) }
    }
    open.append(Open(begin: result.count, entries: entries, usesSlots: usesSlots))
    result.append(token)
  }

  /// Returns the entries with slots in the order in which keys occur on the new tape.
  private mutating func renumbered(_ entries: [ValueTree.Entry], _ keys: Int) -> [ValueTree.Entry] {
    var order = slotOrders[keys] ?? []
    let renumbered = entries.map { entry in
      let slot = order.firstIndex(of: entry.slot) ?? order.count
      if slot == order.count { order.append(entry.slot) }
      return ValueTree.Entry(key: entry.key, slot: slot, token: entry.token)
    }
    slotOrders[keys] = order
    return renumbered
  }

  /// Sorts entries by the UTF-8 of their keys.
  private func sort(_ entries: inout [ValueTree.Entry]) {
    entries.sort {
      recording.strings.utf8($0.key).lexicographicallyPrecedes(recording.strings.utf8($1.key))
    }
  }
}
