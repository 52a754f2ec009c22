/// Finds out what a context should hold, from samples (`StowContext.init(learningFrom:)`).
struct ContextLearner {
  private struct Shape {
    let keyType: ObjectIdentifier
    var names: [ExactString] = []
    var uses = 0
  }

  /// The shapes of key types.
  private var shapes: [Shape] = []
  /// How many samples have each list of free keys, and each string.
  private var lists = [[ExactString]: Int]()
  private var strings = [ExactString: Int]()

  /// Below this many bytes a text is hardly longer than a reference to it.
  private static let shortestText = 3

  /// - Parameters:
  ///   - makePlan: Makes the plan of a type; nil if its own `encode(to:)` encodes values.
  ///   - recordSample: Has each sample recorded, or another value in its place. Of several values the last
  ///     one counts.
  static func learn(
    from samples: [any Encodable], _ userInfo: UserInfo, _ maximumDepth: Int,
    _ makePlan: @escaping (Any.Type) -> AnyEncodingPlan?,
    recording recordSample: (any Encodable, (any Encodable) throws -> Void) throws -> Void
  ) throws -> ContextMessage {
    var learner = ContextLearner()
    for sample in samples {
      var last: TapeBuilder?
      // What is written later to a container that was kept is discarded.
      defer { last?.detach() }
      try recordSample(sample) { value in
        last?.detach()
        let builder = TapeBuilder(reusesContainers: false, makePlan)
        last = builder
        try builder.record(value, maximumDepth: maximumDepth, userInfo)
      }
      if let last { learner.take(&last.recorded) }
    }
    return learner.content
  }

  private var content: ContextMessage {
    var uses = [[ExactString]: Int]()
    for (names, samples) in lists where samples > 1 { uses[names] = samples }
    // Several key types may have the same keys.
    for shape in shapes { uses[shape.names] = max(shape.uses, uses[shape.names] ?? 0) }
    var shapes: [(names: [ExactString], uses: Int)] = []
    for (names, uses) in uses where !names.isEmpty { shapes.append((names, uses)) }
    // Equal uses are ordered by bytes, because the order of dictionaries differs from process to process.
    let shapeOrder = sortedIndices(shapes.count) {
      shapes[$0].uses != shapes[$1].uses
        ? shapes[$0].uses > shapes[$1].uses
        : shapes[$0].names.lexicographicallyPrecedes(shapes[$1].names, by: isBefore)
    }
    var symbols: [(text: ExactString, uses: Int)] = []
    for (text, uses) in strings where uses > 1 && KeyText.bytes(of: text.string).count >= Self.shortestText {
      symbols.append((text, uses))
    }
    let symbolOrder = sortedIndices(symbols.count) {
      symbols[$0].uses != symbols[$1].uses
        ? symbols[$0].uses > symbols[$1].uses : isBefore(symbols[$0].text, symbols[$1].text)
    }
    return ContextMessage(
      symbols: symbolOrder.map { symbols[$0].text.string },
      shapes: shapeOrder.map { shapes[$0].names.map(\.string) })
  }

  private mutating func take(_ message: inout RecordedMessage) {
    let asked = message.keyTables.active.buffer.map {
      ($0, names: Self.names(of: $0) { _ in true }, isSame: $0.pointee.slotsOfFirst >= $0.pointee.slotCount)
    }
    let hasMaps = message.maps.count > 0
    // Of several values for a key, only the last is in a message. The entries of dictionaries come in any
    // order, and so do the keys that the values in them use.
    if !message.isInOrder || hasMaps {
      var order = DocumentOrder()
      order.restore(&message, sortsKeys: hasMaps)
    }
    var maps = KeyLists()
    if maps.collect(&message) {
      // Maps with the same keys in another order have another list.
      var distinct: Set<[ExactString]> = []
      for list in 0..<maps.lists.count { distinct.insert(Self.sortedNames(of: maps.keys(ofList: list), message)) }
      for names in distinct { lists[names, default: 0] += 1 }
    }
    for (keys, names, isSame) in asked {
      // If every object asks for the same keys, the type has them in that order.
      if hasMaps, !isSame { _ = note(Self.names(of: keys) { keys.pointee.hasValue(atSlot: $0) }, of: keys) }
      shapes[note(names, of: keys)].uses += keys.pointee.uses
    }
    for index in 0..<message.strings.count { strings[ExactString(message.strings.string(index)), default: 0] += 1 }
  }

  private static func sortedNames(of list: some Sequence<Int>, _ message: borrowing RecordedMessage) -> [ExactString] {
    let names = list.map { ExactString(message.strings.string($0)) }
    return sortedIndices(names.count) { isBefore(names[$0], names[$1]) }.map { names[$0] }
  }

  /// Returns the keys that objects of one type used, in the order of their slots.
  private static func names(of keys: KeyTable.Reference, where isWanted: (_ slot: Int) -> Bool) -> [ExactString] {
    (0..<keys.pointee.slotCount).filter(isWanted).map { ExactString(keys.pointee.name(atSlot: $0)) }
  }

  /// Adds keys that objects of one type used, whether they had values or not, and returns the index of their shape. A
  /// new key comes after the one that was used before it.
  private mutating func note(_ names: [ExactString], of keys: KeyTable.Reference) -> Int {
    let index = shapes.firstIndex { $0.keyType == keys.pointee.keyType } ?? shapes.count
    if index == shapes.count { shapes.append(Shape(keyType: keys.pointee.keyType)) }
    var place = 0
    for name in names {
      if let known = shapes[index].names.firstIndex(of: name) {
        place = known + 1
      } else {
        shapes[index].names.insert(name, at: place)
        place += 1
      }
    }
    return index
  }
}

private func isBefore(_ one: ExactString, _ other: ExactString) -> Bool {
  one.string.utf8.lexicographicallyPrecedes(other.string.utf8)
}
