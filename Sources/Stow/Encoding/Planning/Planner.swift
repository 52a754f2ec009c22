/// What a message depends on besides its value.
struct PlanningOptions {
  var sortsKeys = false
  /// The definitions that the reader has before it begins to read; nil if it has nothing.
  var definitions: EncodingDefinitions?
  /// The id of the context that the message names.
  var context: UInt32?
}

/// Decides what goes into the prelude of a message: which key lists become shapes, and which strings become
/// symbols (Format/Canonical.md, "Which key lists are shapes", "Which strings are symbols").
///
/// Works on what was counted while the message was recorded; only the values of maps are looked at, if their keys may
/// recur.
struct Planner: ~Copyable {
  var plan = MessagePlan()
  private var order = DocumentOrder()
  private var candidates: [Candidate] = []
  /// Whether the plan of the last message may have left something here.
  private var isUsed = false

  // Gains have 64 bits: a string that is written a thousand times could take more bytes than `Int` counts elsewhere.

  private struct Candidate {
    let string: Int
    let uses: Int64
    let shortGain: Int64
    /// The gain if a reference to it does not fit into a tag.
    let longGain: Int64
    var isShort = true
  }

  /// The shortest text worth defining: for a shorter one, a reference takes hardly fewer bytes.
  private static let shortestDefined = 4

  /// The size of a prelude without its symbols and shapes, and the gain of what is defined for later messages.
  private static let preludeSize: Int64 = 3
  private static let worthPrelude = preludeSize + 1

  /// Plans a message, and puts its tape in order first.
  @inline(__always)
  mutating func makePlan(_ message: inout RecordedMessage, _ options: PlanningOptions) {
    // Nothing is left from the message before, and nothing can be shared.
    if !isUsed, message.isInOrder, !options.sortsKeys, options.definitions == nil, message.isPlain() { return }
    makeWholePlan(&message, options)
  }

  @inline(never)
  private mutating func makeWholePlan(_ message: inout RecordedMessage, _ options: PlanningOptions) {
    if !message.isInOrder || options.sortsKeys && (message.maps.count > 0 || message.hasLatePlaces) {
      order.restore(&message, sortsKeys: options.sortsKeys)
    }
    plan.context = options.context
    isUsed = options.definitions != nil || !message.isPlain()
    if choose(&message, options) { return }
    order.restore(&message, sortsKeys: options.sortsKeys)
    let isPlanned = choose(&message, options)
    assert(isPlanned)
  }

  /// Chooses shapes and symbols for a tape that is in order. Returns false if a map has a key twice.
  private mutating func choose(_ message: inout RecordedMessage, _ options: PlanningOptions) -> Bool {
    let definitions = options.definitions
    if plan.hasPrelude || plan.maps.lists.count > 0 { plan.removeAll() }
    if !candidates.isEmpty { candidates.removeAll(keepingCapacity: candidates.capacity <= MessagePlan.mostKept) }
    (plan.firstSymbol, plan.firstShape) = definitions?.counts ?? (0, 0)
    // A single map gets no shape, unless a context has one for it.
    let mostMaps = definitions.map { $0.grows ? 1 : 0 } ?? 1
    if message.maps.count > mostMaps || message.hasFreeKeys {
      guard plan.maps.collect(&message) else { return false }
      // The keys of a single map only had to be distinct.
      if message.maps.count <= mostMaps { plan.maps.removeAll() }
    }
    let hasKeys = message.keyTables.active.count > 0 || plan.maps.lists.count > 0
    if hasKeys, !knowsShapes(of: &message, definitions) {
      chooseShapes(&message, definitions)
      countKeyUses(&message)
    }
    if hasKeys || message.strings.hasRepeats || definitions != nil { chooseSymbols(&message, definitions) }
    if plan.shapes.isEmpty, candidates.isEmpty { return true }
    let gain =
      plan.shapes.reduce(0) { $0 + $1.gain }
      + candidates.reduce(0) { $0 + ($1.isShort ? $1.shortGain : $1.longGain) }
    if gain > Self.preludeSize {
      number(&message, room: definitions?.room ?? .max)
    } else {
      dropTables(message)
    }
    return true
  }

  private mutating func chooseShapes(_ message: inout RecordedMessage, _ definitions: EncodingDefinitions?) {
    for keys in message.keyTables.active.buffer {
      if takeKnownShape(keys, definitions) { continue }
      keys.pointee.shape = -1
      keys.pointee.collectPresent()
      // For later messages, the keys without a value join.
      let isDefined = definitions?.takesMore ?? false && keys.pointee.present.count > 0
      if isDefined { keys.pointee.collectPresent(all: true) }
      considerShape(
        .keyTable(keys.pointee.index), textSize: keys.pointee.textSize, uses: keys.pointee.uses,
        firstUse: keys.pointee.firstUse, isDefined: isDefined)
    }
    for index in 0..<plan.maps.lists.count where plan.maps.lists[index].uses > 1 || definitions != nil {
      let keys = plan.maps.keys(ofList: index)
      if let match = definitions?.match(keys.map { message.strings.utf8($0) }, isExact: true) {
        plan.maps.lists[index].shape = match.number
        continue
      }
      considerShape(
        .list(index), textSize: keys.reduce(0) { $0 + KeyText.measure(message.strings.utf8($1)).size },
        uses: plan.maps.lists[index].uses, firstUse: plan.maps.lists[index].firstUse)
    }
    if plan.shapes.count > 1 {
      let shapes = plan.shapes
      let order = sortedIndices(shapes.count) {
        (-shapes[$0].uses, shapes[$0].firstUse) < (-shapes[$1].uses, shapes[$1].firstUse)
      }
      plan.shapes = order.map { shapes[$0] }
    }
    for (number, shape) in plan.shapes.enumerated() { assign(plan.firstShape + number, to: shape, message) }
  }

  /// Returns whether the reader knows the shapes of all objects and maps.
  private mutating func knowsShapes(of message: inout RecordedMessage, _ definitions: EncodingDefinitions?) -> Bool {
    if plan.maps.lists.count > 0 { return false }
    for keys in message.keyTables.active.buffer where !takeKnownShape(keys, definitions) { return false }
    return true
  }

  /// Makes objects records of a shape that the reader knows, if there is one and no other way takes fewer bytes.
  private mutating func takeKnownShape(_ keys: KeyTable.Reference, _ definitions: EncodingDefinitions?) -> Bool {
    // The definitions are unwrapped only where they are used, so that no reference to them is counted.
    guard let version = definitions?.version,
      let match = keys.pointee.match(version: version) ?? definitions.map({ keys.pointee.findMatch($0) })
    else { return false }
    let uses = keys.pointee.uses
    let textSize = keys.pointee.matches[match].textSize
    let gain = Int64(uses) * Int64(textSize - keys.pointee.matches[match].cost)
    guard keys.pointee.matches[match].shape >= 0, gain > 0,
      gain >= Self.gain(textSize: textSize, uses: uses)
    else { return false }
    keys.pointee.take(match: match)
    return true
  }

  /// Returns how many bytes a shape saves. Every use saves the keys and takes a byte for the shape; the shape
  /// itself takes the keys once.
  private static func gain(textSize: Int, uses: Int) -> Int64 { Int64(uses - 1) * Int64(textSize) - Int64(uses) - 1 }

  private mutating func considerShape(
    _ source: MessagePlan.Shape.Source, textSize: Int, uses: Int, firstUse: Int, isDefined: Bool = false
  ) {
    let gain = isDefined ? Self.worthPrelude : Self.gain(textSize: textSize, uses: uses)
    if gain > 0 { plan.shapes.append(MessagePlan.Shape(source: source, uses: uses, firstUse: firstUse, gain: gain)) }
  }

  private mutating func assign(_ number: Int, to shape: MessagePlan.Shape, _ message: borrowing RecordedMessage) {
    switch shape.source {
    case .keyTable(let index): message.keyTables[index].pointee.shape = number
    case .list(let index): plan.maps.lists[index].shape = number
    }
  }

  /// Returns whether the reader knows a shape before it begins to read.
  private func isKnown(shape: Int) -> Bool { shape >= 0 && shape < plan.firstShape }

  /// Counts how often keys are written: keys in shapes once, or not at all if the reader knows the shape;
  /// others once for every object.
  private mutating func countKeyUses(_ message: inout RecordedMessage) {
    for keys in message.keyTables.active.buffer where !isKnown(shape: keys.pointee.shape) {
      keys.pointee.internKeys(&message.strings)
    }
    for index in 0..<plan.maps.lists.count where plan.maps.lists[index].shape >= 0 {
      let list = plan.maps.lists[index]
      let change = (isKnown(shape: list.shape) ? 0 : 1) - list.uses
      for key in plan.maps.keys(ofList: index) { message.strings[key].keyUses &+= UInt32(truncatingIfNeeded: change) }
    }
  }

  private mutating func chooseSymbols(_ message: inout RecordedMessage, _ definitions: EncodingDefinitions?) {
    for index in 0..<message.strings.count {
      if definitions != nil, isShared(index, &message.strings, definitions) { continue }
      considerSymbol(index, message.strings)
    }
    let shortPlaces = max(0, Symbols.shortLimit - plan.firstSymbol)
    if candidates.count > shortPlaces {
      shortenMostUsed(shortPlaces)
      candidates.removeAll { !$0.isShort && $0.longGain <= 0 }
    }
  }

  /// Leaves the references of one byte to the `count` most used strings, of equal ones the first.
  private mutating func shortenMostUsed(_ count: Int) {
    var best: [(uses: Int64, index: Int)] = []
    for index in candidates.indices {
      candidates[index].isShort = false
      let uses = candidates[index].uses
      let place = best.lastIndex { $0.uses >= uses }.map { $0 + 1 } ?? 0
      if place == count { continue }
      best.insert((uses, index), at: place)
      if best.count > count { best.removeLast() }
    }
    for (_, index) in best { candidates[index].isShort = true }
  }

  /// Makes a string a symbol if it recurs often enough.
  @inline(__always)
  private mutating func considerSymbol(_ index: Int, _ strings: borrowing StringPool) {
    let entry = strings[index]
    let (values, keys) = (Int64(entry.valueUses), Int64(entry.keyUses))
    guard values + keys > 1 else { return }
    let text = Int64(KeyText.measure(strings.utf8(index)).size)
    let inline = Int64(entry.length + (entry.length < Strings.shortLimit ? 1 : 1 + Varint.size(entry.length)))
    let gain = values * inline + keys * text - text - values - keys
    guard gain > 0 else { return }
    let longGain = gain - (values + keys) * Int64(Varint.size(plan.firstSymbol))
    candidates.append(Candidate(string: index, uses: values + keys, shortGain: gain, longGain: longGain))
  }

  /// Returns whether earlier messages settle a string: as a symbol that the reader knows, or as one for later messages.
  @inline(__always)
  private mutating func isShared(
    _ index: Int, _ strings: inout StringPool, _ definitions: EncodingDefinitions?
  ) -> Bool {
    let uses = Int64(strings[index].valueUses) + Int64(strings[index].keyUses)
    guard uses > 0 else { return true }
    guard let known = definitions?.entry(of: strings.utf8(index)) else { return false }
    if known.symbol == 0 {
      guard definitions?.takesMore ?? false,
        KeyText.measure(strings.utf8(index)).size >= Self.shortestDefined
      else { return false }
      candidates.append(Candidate(string: index, uses: uses, shortGain: Self.worthPrelude, longGain: Self.worthPrelude))
    } else if known.mark != 0 {
      // Otherwise a text takes fewer bytes.
      strings[index].symbol = known.symbol
    }
    return true
  }

  /// - Parameter room: How many bytes the prelude may have.
  private mutating func number(_ message: inout RecordedMessage, room: Int) {
    for isShort in [true, false] {
      for candidate in candidates where candidate.isShort == isShort { plan.symbols.append(candidate.string) }
    }
    if room < .max, plan.preludeBound(message) > room {
      plan.symbols.removeAll(keepingCapacity: true)
      return dropTables(message)
    }
    for (number, string) in plan.symbols.enumerated() {
      message.strings[string].symbol = UInt32(truncatingIfNeeded: plan.firstSymbol + number + 1)
    }
  }

  /// Drops the prelude, which would cost more than it saves, or has no room.
  private mutating func dropTables(_ message: borrowing RecordedMessage) {
    for shape in plan.shapes { assign(-1, to: shape, message) }
    plan.shapes.removeAll(keepingCapacity: true)
  }
}

/// The contents of a message's prelude, as the planner decided. The symbols of strings are noted in the
/// string pool, the shapes of objects in their key tables.
struct MessagePlan: ~Copyable {
  /// The shapes of the message, in the order of their numbers.
  var shapes: [Shape] = []
  /// The strings that are symbols, in the order of their numbers.
  var symbols: [Int] = []
  var maps = KeyLists()
  /// The numbers of the first shape and the first symbol of the message: lower ones belong to its definitions.
  var firstShape = 0
  var firstSymbol = 0
  var context: UInt32?

  /// The most shapes or symbols whose memory is kept for the next message.
  static let mostKept = 1 << 14

  struct Shape {
    enum Source {
      case keyTable(Int)
      case list(Int)
    }

    let source: Source
    let uses: Int
    let firstUse: Int
    let gain: Int64
  }

  var hasPrelude: Bool { !symbols.isEmpty || !shapes.isEmpty }

  /// Returns the keys of a shape of the message, as strings of the pool.
  func keys(of shape: Shape, _ message: borrowing RecordedMessage) -> [Int] {
    switch shape.source {
    case .keyTable(let index):
      let keys = message.keyTables[index]
      return keys.pointee.present.map { keys.pointee.string(atSlot: $0) }
    case .list(let index): return Array(maps.keys(ofList: index))
    }
  }

  /// Returns the shape of a map; −1 if it has none.
  func shape(ofMap container: TapeContainer) -> Int {
    container.keys < maps.lists.count ? maps.lists[Int(container.keys)].shape : -1
  }

  func preludeBound(_ message: borrowing RecordedMessage) -> Int {
    guard hasPrelude else { return 0 }
    // The tag and two counts; the text of each symbol; of each shape the count, and of each key the text or a
    // reference.
    var size = 1 + 2 * Varint.longest
    for symbol in symbols { size += KeyText.measure(message.strings.utf8(symbol)).size }
    for shape in shapes {
      size += Varint.longest
      for key in keys(of: shape, message) {
        size += max(KeyText.measure(message.strings.utf8(key)).size, 1 + Varint.longest)
      }
    }
    return size
  }

  mutating func removeAll() {
    shapes.removeAll(keepingCapacity: shapes.count <= Self.mostKept)
    symbols.removeAll(keepingCapacity: symbols.count <= Self.mostKept)
    maps.removeAll()
  }
}

/// The sequences of keys that the maps of a message have: each distinct one may become a shape.
struct KeyLists: ~Copyable {
  struct List: BitwiseCopyable {
    let firstUse: Int
    var uses = 1
    /// The number of the shape in the message; −1 if the maps stay maps.
    var shape = -1
  }

  var lists = GrowableBuffer<List>(capacity: 16)
  /// The keys of each list, strings of the message's pool, as the bytes of their indices.
  private var keys = StringPool()
  /// The keys of the map that is being looked at.
  private var mapKeys = GrowableBuffer<UInt32>(capacity: 64)

  mutating func removeAll() {
    lists.removeAll()
    keys.removeAll()
  }

  /// Returns the keys of a list, as strings of the message's pool.
  func keys(ofList index: Int) -> some Collection<Int> {
    let bytes = keys.utf8(index)
    return (0..<bytes.count / 4).lazy.map { Int(bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)) }
  }

  /// Gives every map of the message its list. Returns false if a map has a key twice.
  mutating func collect(_ message: inout RecordedMessage) -> Bool {
    for map in message.maps.buffer {
      mapKeys.removeAll()
      message.tape.forEachBackwards(in: Int(map)) {
        mapKeys.append(UInt32(truncatingIfNeeded: message.tape.keyString(at: $0)))
      }
      if mapKeys.count == 0 { continue }
      var keys = mapKeys.buffer
      keys.reverse()
      guard let list = list(of: keys, &message.strings, map: map) else { return false }
      message.tape.setKeys(list, of: Int(map))
    }
    return true
  }

  /// Returns the list with these keys, which is added if it is new; nil if a key repeats.
  private mutating func list(
    of keys: UnsafeMutableBufferPointer<UInt32>, _ strings: inout StringPool, map: UInt32
  ) -> Int? {
    let index = self.keys.add(UnsafeRawBufferPointer(keys))
    if index < lists.count {
      lists[index].uses &+= 1
      return index
    }
    lists.append(List(firstUse: Int(map)))
    for key in keys {
      if strings[Int(key)].mark == map { return nil }
      strings[Int(key)].mark = map
    }
    return index
  }
}
