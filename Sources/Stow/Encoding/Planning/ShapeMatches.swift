/// Which shapes of some definitions the objects of each key type are records of, as far as that was looked up.
///
/// Most messages of a program have objects of the same types, and the same keys: a few answers for each type are enough,
/// and nothing of the definitions is walked again.
struct ShapeMatches {
  private struct Answer {
    let version: UInt64
    /// The bytes of the keys that have values, in order.
    let keys: [UInt8]
    let match: EncodingDefinitions.Match?
  }

  /// By the index of the key table.
  private var answers: [[Answer]] = []
  /// The answer that is forgotten next, when there are too many.
  private var next = 0

  private static let mostAnswers = 16

  /// The shape that has all present keys of a table; nil if there is none.
  mutating func match(
    _ keys: KeyTable.Reference, _ definitions: EncodingDefinitions
  ) -> EncodingDefinitions.Match? {
    let index = keys.pointee.index
    while answers.count <= index { answers.append([]) }
    for answer in answers[index]
    where answer.version == definitions.version && keys.pointee.hasPresentBytes(answer.keys) {
      return answer.match
    }
    let match = definitions.match(keys.pointee.presentNames, isExact: false)
    note(
      Answer(version: definitions.version, keys: keys.pointee.presentBytes, match: match), at: index)
    return match
  }

  private mutating func note(_ answer: Answer, at index: Int) {
    if answers[index].count < Self.mostAnswers {
      answers[index].append(answer)
    } else {
      answers[index][next % Self.mostAnswers] = answer
      next &+= 1
    }
  }
}
