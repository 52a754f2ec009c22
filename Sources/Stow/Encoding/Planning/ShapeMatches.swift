/// Which shapes of some definitions the objects of each key type are records of, as far as that was looked up.
///
/// Most messages of a program have objects of the same types, and the same keys: a few answers for each type are enough,
/// and nothing of the definitions is walked again.
struct ShapeMatches: ~Copyable {
  struct Answer: BitwiseCopyable {
    /// The shape that has all keys; −1 if no shape has.
    let shape: Int
    /// What an object takes that is a record of it, besides its length and values.
    let cost: Int
    /// The bytes of the texts of the keys that have values.
    let textSize: Int
    fileprivate let version: UInt64
    /// The slots that the message asked for, as their states.
    fileprivate let states: Part
    /// The slot of each key of the shape.
    fileprivate let slots: Part
    fileprivate let known: KeyTable.ShapeSlots
    /// The answer before this one for the same key table; −1 if it is the first.
    fileprivate let previous: Int
  }

  /// Where the slots of an answer are.
  struct Part: BitwiseCopyable {
    let start: Int
    let end: Int
  }

  private var answers = GrowableBuffer<Answer>(capacity: 16)
  /// By the index of the key table: its last answer; −1 before the first.
  private var last = GrowableBuffer<Int>(capacity: 16)
  private var slots = GrowableBuffer<UInt16>(capacity: 64)

  private static let mostAnswers = 1024

  /// The shape that has all keys of a table that have values.
  @inline(__always)
  mutating func answer(for table: KeyTable.Reference, _ definitions: EncodingDefinitions) -> Answer {
    let (index, version) = (table.pointee.index, definitions.version)
    var number = index < last.count ? last[index] : -1
    while number >= 0 {
      let answer = answers[number]
      if answer.version == version, table.pointee.hasStates(slots(answer.states)) { return answer }
      number = answer.previous
    }
    return find(table, definitions)
  }

  /// Makes the objects of a table records of the shape that is the answer for it.
  @inline(__always)
  func give(_ answer: Answer, to table: KeyTable.Reference) {
    table.pointee.take(shape: answer.shape, slots: slots(answer.slots), answer.known)
  }

  @inline(__always)
  private func slots(_ part: Part) -> UnsafeBufferPointer<UInt16> {
    UnsafeBufferPointer(rebasing: slots.buffer[part.start..<part.end])
  }

  @inline(never)
  private mutating func find(_ table: KeyTable.Reference, _ definitions: EncodingDefinitions) -> Answer {
    if answers.count == Self.mostAnswers { removeAll() }
    let index = table.pointee.index
    while last.count <= index { last.append(-1) }
    table.pointee.collectPresent()
    let names = table.pointee.presentNames
    let match = names.isEmpty ? nil : definitions.match(names, isExact: false)
    let states = add(table.pointee.slotStates)
    let found = match.map { Self.slots($0, table, definitions) } ?? []
    let answer = Answer(
      shape: match?.shape ?? -1, cost: match?.cost ?? 0, textSize: table.pointee.textSize,
      version: definitions.version, states: states, slots: add(found), known: KeyTable.ShapeSlots(found),
      previous: last[index])
    last[index] = answers.count
    answers.append(answer)
    return answer
  }

  /// The slot of each key of a shape. A key that has no value may have a slot too, as that of an optional that is nil.
  private static func slots(
    _ match: EncodingDefinitions.Match, _ table: KeyTable.Reference, _ definitions: EncodingDefinitions
  ) -> [UInt16] {
    let present = table.pointee.presentSlots
    return match.positions.enumerated().map { place, position in
      position >= 0
        ? present[position] : table.pointee.slot(named: definitions.key(place, ofShape: match.shape))
    }
  }

  private mutating func add(_ part: [UInt16]) -> Part {
    let start = slots.count
    for slot in part { slots.append(slot) }
    return Part(start: start, end: slots.count)
  }

  private mutating func removeAll() {
    answers.removeAll()
    last.removeAll()
    slots.removeAll()
  }
}
