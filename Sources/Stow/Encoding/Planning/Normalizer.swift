/// Brings a tape with anything out of line into the form of one where everything came in order.
///
/// Containers that were continued become whole, late values stand in their places, values that failed are
/// gone, the last of several values for a key counts, and what was counted is counted anew. Linear in the
/// length of the tape. No message needs this that is encoded the usual way.
///
/// In between, the message is a tree.
struct Normalizer: ~Copyable {
  /// A container, an array that was retained whole, or a place that is filled late.
  private struct Node {
    /// The token that began it.
    let token: Int
    /// Whether it is, or is in, a value that threw. What it recorded may name slots that were given to others.
    let isDead: Bool
    var entries: [Entry] = []
    /// The entry of each key, once there are many.
    var entryOfKey: [Int: Int] = [:]
    /// A late value.
    var content: Entry?
  }

  private struct Entry {
    /// The string of the key; −1 in an array.
    let key: Int
    /// The slot of the key, if it has one in the key table of the object; −1 if it is free.
    var slot: Int
    var token: Int
    /// The node of a container; −1 for a scalar.
    var node: Int
  }

  /// What is normalized, lent for as long as it takes.
  private var recording = Recording()
  private let sortsKeys: Bool
  private var nodes: [Node] = []
  private var nodeOfToken: [Int32] = []
  private var top: Entry?
  private var result = Tape()
  private var strings = StringPool()

  /// The key tables whose objects were written, in the order of the first of them.
  private var used: [Int] = []

  private static let longestScan = 8

  private init(sortsKeys: Bool) { self.sortsKeys = sortsKeys }

  /// Puts a recording in line.
  static func normalize(_ recording: inout Recording, sortsKeys: Bool) {
    var normalizer = Normalizer(sortsKeys: sortsKeys)
    swap(&normalizer.recording, &recording)
    normalizer.read()
    normalizer.write()
    swap(&normalizer.recording, &recording)
  }

  private mutating func read() {
    nodeOfToken = Array(repeating: -1, count: recording.tape.count)
    var open: [Scope] = []
    var pendingKey = -1
    var filled = -1
    for index in 0..<recording.tape.count {
      let token = recording.tape[index]
      switch token.kind {
      case .key: pendingKey = token.index
      case .fill: filled = Int(nodeOfToken[token.index])
      case .segment: open.append(scope(of: token.index))
      case .end: open.removeLast()
      default:
        let isInside = filled >= 0 ? nodes[filled].isDead : open.last?.isDead ?? false
        let isDead = isInside || token.has(Token.Flags.dead)
        let node = makeNode(index, token, isDead: isDead)
        if !isDead {
          let entry = Entry(key: pendingKey, slot: -1, token: index, node: node)
          if filled >= 0 { nodes[filled].content = entry } else { attach(entry, to: open.last, token) }
        }
        pendingKey = -1
        filled = -1
        if token.begins { open.append(scope(of: index)) }
      }
    }
  }

  /// An open container: which one, and the key table whose slots its tokens name.
  private struct Scope {
    let node: Int
    let keyTable: Int
    let isDead: Bool
  }

  private func scope(of begin: Int) -> Scope {
    let token = recording.tape[begin]
    let node = Int(nodeOfToken[begin])
    // What a place held that awaits its value again stands for nothing.
    let isDead = nodes[node].isDead || token.kind == .deferred
    return Scope(node: node, keyTable: token.kind == .object ? token.index : -1, isDead: isDead)
  }

  private mutating func makeNode(_ index: Int, _ token: Token, isDead: Bool) -> Int {
    switch token.kind {
    case .object, .map, .array, .deferred, .integers, .doubles, .bools:
      nodes.append(Node(token: index, isDead: isDead))
      nodeOfToken[index] = Int32(nodes.count - 1)
      return nodes.count - 1
    default: return -1
    }
  }

  private mutating func attach(_ entry: Entry, to scope: Scope?, _ token: Token) {
    guard let scope else {
      top = entry
      return
    }
    let parent = scope.node
    let container = recording.tape[nodes[parent].token]
    guard container.kind == .object || container.kind == .map else {
      nodes[parent].entries.append(entry)
      return
    }
    var entry = entry
    if entry.key < 0 {
      let name = recording.keyTables[scope.keyTable].pointee.utf8(atSlot: token.slot)
      let isOwn = container.kind == .object && container.index == scope.keyTable
      entry = Entry(
        key: recording.strings.intern(name), slot: isOwn ? token.slot : -1,
        token: entry.token,
        node: entry.node)
    }
    guard let existing = find(entry.key, in: parent) else {
      nodes[parent].entries.append(entry)
      if nodes[parent].entries.count > Self.longestScan { indexLast(parent) }
      return
    }
    if token.has(Token.Flags.nested), merge(entry, into: nodes[parent].entries[existing], token) { return }
    nodes[parent].entries[existing].token = entry.token
    nodes[parent].entries[existing].node = entry.node
  }

  /// Makes a nested container the continuation of one that stands under the same key.
  private mutating func merge(_ entry: Entry, into existing: Entry, _ token: Token) -> Bool {
    // What encoded nothing as a single value is no container that was asked for.
    guard existing.node >= 0, token.kind != .empty else { return false }
    // The value of a late place is what it was filled with.
    if let content = nodes[existing.node].content { return merge(entry, into: content, token) }
    let other = recording.tape[existing.token]
    guard other.isArray || other.isContainer else { return false }
    precondition(
      other.isArray == (token.kind == .array),
      "Attempt to continue a container of another kind, which was already encoded for this key.")
    nodeOfToken[entry.token] = Int32(existing.node)
    return true
  }

  private func find(_ key: Int, in node: Int) -> Int? {
    if nodes[node].entries.count <= Self.longestScan {
      return nodes[node].entries.firstIndex { $0.key == key }
    }
    return nodes[node].entryOfKey[key]
  }

  private mutating func indexLast(_ node: Int) {
    let count = nodes[node].entries.count
    let first = count == Self.longestScan + 1 ? 0 : count - 1
    for index in first..<count { nodes[node].entryOfKey[nodes[node].entries[index].key] = index }
  }

  private mutating func write() {
    for keys in recording.keyTables.active.buffer {
      keys.pointee.clearPresent()
      keys.pointee.uses = 0
    }
    recording.maps.removeAll()
    recording.needsNormalizing = false
    recording.hasFreeKeys = false
    guard let top else { return }
    writeAll(top)
    reorderKeyTables()
    for (index, order) in slotOrders { recording.keyTables[index].pointee.reorder(order.slots) }
    swap(&recording.tape, &result)
    swap(&recording.strings, &strings)
  }

  /// The string in the pool of the new tape, where strings stand in the order of that.
  private mutating func moved(_ index: Int) -> Int {
    let utf8 = recording.strings.utf8(index)
    return strings.intern(utf8)
  }

  private struct Open {
    let begin: Int
    let entries: [Entry]
    let usesSlots: Bool
    var next = 0
  }

  private mutating func writeAll(_ top: Entry) {
    var open: [Open] = []
    if let container = writeValue(top, slot: 0) { open.append(container) }
    while var container = open.popLast() {
      guard container.next < container.entries.count else {
        result.append(Token(.end, index: container.begin))
        continue
      }
      let entry = container.entries[container.next]
      container.next += 1
      let usesSlots = container.usesSlots
      open.append(container)
      if entry.key >= 0, !usesSlots {
        let key = moved(entry.key)
        strings.countKeyUses(key)
        result.append(Token(.key, index: key))
      }
      if let inner = writeValue(entry, slot: usesSlots ? entry.slot : 0) { open.append(inner) }
    }
  }

  /// Writes a scalar, or the beginning of a container, whose entries are then to be written.
  private mutating func writeValue(_ entry: Entry, slot: Int) -> Open? {
    var token = recording.tape[entry.token]
    token.clear(Token.Flags.dead | Token.Flags.nested | Token.Flags.failedContainer)
    token.slot = slot
    switch token.kind {
    case .string, .url:
      let index = moved(token.index)
      strings.countValueUse(index)
      token.index = index
    case .deferred:
      // Nested places are few and shallow: they come from super encoders of super encoders.
      if let content = nodes[entry.node].content {
        return writeValue(Entry(key: -1, slot: slot, token: content.token, node: content.node), slot: slot)
      }
      token = Token(.empty, key: TokenKey(slot: slot))
    case .integers, .doubles, .bools:
      if nodes[entry.node].entries.isEmpty { break }
      let begin = result.count
      result.append(Token(.array, key: TokenKey(slot: slot)))
      expand(recording.retained[token.index])
      return Open(begin: begin, entries: nodes[entry.node].entries, usesSlots: false)
    case .array:
      result.append(token)
      return Open(begin: result.count - 1, entries: nodes[entry.node].entries, usesSlots: false)
    case .object, .map: return writeObject(entry, token)
    case _ where token.hasWord:
      result.append(token.kind, key: token.key, word: recording.tape.view.number(token))
      return nil
    default: break
    }
    result.append(token)
    return nil
  }

  private mutating func writeObject(_ entry: Entry, _ token: Token) -> Open {
    var token = token
    var entries = nodes[entry.node].entries
    let usesSlots = token.kind == .object && entries.allSatisfy { $0.slot >= 0 }
    let begin = result.count
    if usesSlots {
      let keys = recording.keyTables[token.index]
      if keys.pointee.uses == 0 {
        keys.pointee.firstUse = begin
        used.append(token.index)
      }
      keys.pointee.uses += 1
      if sortsKeys {
        renumber(&entries, token.index)
      } else {
        entries.sort { $0.slot < $1.slot }
        for entry in entries { keys.pointee.markPresent(slot: entry.slot) }
      }
    } else {
      recording.noteMap(at: begin)
      token = Token(.map, key: token.key)
      if sortsKeys { sort(&entries) }
    }
    result.append(token)
    return Open(begin: begin, entries: entries, usesSlots: usesSlots)
  }

  /// Key types come in the order of their first objects.
  private mutating func reorderKeyTables() {
    var unused: [Int] = []
    for keys in recording.keyTables.active.buffer where keys.pointee.uses == 0 {
      unused.append(keys.pointee.index)
    }
    recording.keyTables.reorder(used + unused)
  }

  /// Slots in the order in which keys come up on the new tape: that of the old one is as arbitrary as the
  /// order of a dictionary.
  private mutating func renumber(_ entries: inout [Entry], _ keys: Int) {
    var order = slotOrders[keys] ?? SlotOrder()
    for index in entries.indices { entries[index].slot = order.number(entries[index].slot) }
    entries.sort { $0.slot < $1.slot }
    slotOrders[keys] = order
  }

  private struct SlotOrder {
    private(set) var slots: [Int] = []
    private var numbers: [Int: Int] = [:]

    mutating func number(_ slot: Int) -> Int {
      if let number = numbers[slot] { return number }
      slots.append(slot)
      numbers[slot] = slots.count - 1
      return slots.count - 1
    }
  }

  private var slotOrders: [Int: SlotOrder] = [:]

  /// By the UTF-8 of the keys.
  private func sort(_ entries: inout [Entry]) {
    let names = Dictionary(entries.map { ($0.key, Array(recording.strings.utf8($0.key))) }) { first, _ in
      first
    }
    entries.sort { (names[$0.key] ?? []).lexicographicallyPrecedes(names[$1.key] ?? []) }
  }

  /// Writes the elements of an array that was retained whole, because others follow.
  private mutating func expand(_ value: RetainedValue) {
    switch value {
    case .doubles(let values): for value in values { value.record(on: &result, key: TokenKey()) }
    case .bools(let values): for value in values { value.record(on: &result, key: TokenKey()) }
    case .ints(let values): for value in values { value.record(on: &result, key: TokenKey()) }
    case .integers(let values): for value in values { value.record(on: &result, key: TokenKey()) }
    case .data: break
    }
  }
}
