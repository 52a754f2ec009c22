/// Which shapes of some definitions the objects of each key type are records of, as far as that was looked up.
///
/// Most messages of a program have objects of the same types, and the same keys: a few answers for each type are enough,
/// and nothing of the definitions is walked again.
struct ShapeMatches: ~Copyable {
  struct Answer: BitwiseCopyable {
    /// The shape that has all keys; −1 if there is none.
    let shape: Int
    /// What an object takes that is a record of it, besides its length and values.
    let cost: Int
    fileprivate let version: UInt64
    fileprivate let keys: Part
    fileprivate let positions: Part
    /// The answer before this one for the same key table; −1 if it is the first.
    fileprivate let previous: Int
  }

  /// Where the keys or the positions of an answer are.
  struct Part: BitwiseCopyable {
    let start: Int
    let end: Int
  }

  private var answers = GrowableBuffer<Answer>(capacity: 16)
  /// By the index of the key table: its last answer, −1 if there is none.
  private var last = GrowableBuffer<Int>(capacity: 16)
  /// The bytes of the keys that answers are for.
  private var keys = GrowableBuffer<UInt8>(capacity: 64)
  /// For each key of a shape, which of the keys with values it is; −1 if it is none.
  private var positions = GrowableBuffer<Int>(capacity: 64)

  private static let mostAnswers = 1024

  /// The shape that has all present keys of a table.
  @inline(__always)
  mutating func answer(for table: KeyTable.Reference, _ definitions: EncodingDefinitions) -> Answer {
    let index = table.pointee.index
    var number = index < last.count ? last[index] : -1
    while number >= 0 {
      let answer = answers[number]
      let bytes = UnsafeBufferPointer(rebasing: keys.buffer[answer.keys.start..<answer.keys.end])
      if answer.version == definitions.version, table.pointee.hasPresentBytes(bytes) { return answer }
      number = answer.previous
    }
    return find(table, definitions)
  }

  /// The positions of an answer.
  @inline(__always)
  func positions(of answer: Answer) -> UnsafeBufferPointer<Int> {
    UnsafeBufferPointer(rebasing: positions.buffer[answer.positions.start..<answer.positions.end])
  }

  @inline(never)
  private mutating func find(_ table: KeyTable.Reference, _ definitions: EncodingDefinitions) -> Answer {
    if answers.count == Self.mostAnswers { removeAll() }
    let index = table.pointee.index
    while last.count <= index { last.append(-1) }
    let match = definitions.match(table.pointee.presentNames, isExact: false)
    let (firstKey, firstPosition) = (keys.count, positions.count)
    for byte in table.pointee.presentBytes { keys.append(byte) }
    for position in match?.positions ?? [] { positions.append(position) }
    let answer = Answer(
      shape: match?.shape ?? -1, cost: match?.cost ?? 0, version: definitions.version,
      keys: Part(start: firstKey, end: keys.count),
      positions: Part(start: firstPosition, end: positions.count), previous: last[index])
    last[index] = answers.count
    answers.append(answer)
    return answer
  }

  private mutating func removeAll() {
    answers.removeAll()
    last.removeAll()
    keys.removeAll()
    positions.removeAll()
  }
}
