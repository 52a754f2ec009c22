/// Finds out what a context should hold, from samples (`StowContext.init(learningFrom:)`).
struct ContextLearner {
  /// What was met, in the order in which it came, and how often.
  private struct Tally<Key: Hashable, Content> {
    var all: [(content: Content, uses: Int)] = []
    private var numbers: [Key: Int] = [:]

    /// Counts uses, and returns the place in `all`.
    @discardableResult
    mutating func note(_ key: Key, _ content: Content, uses: Int = 1) -> Int {
      let number = numbers[key] ?? all.count
      if number == all.count {
        numbers[key] = number
        all.append((content, 0))
      }
      all[number].uses += uses
      return number
    }

    mutating func forgetKeys() { numbers = [:] }
  }

  /// The keys of each key table, and how many objects have them.
  private var shapes = Tally<Int, [String]>()
  /// How many samples have each list of free keys, and each string.
  private var lists = Tally<[ExactString], [String]>()
  private var strings = Tally<ExactString, String>()

  /// Below this many bytes a text is hardly longer than a reference to it.
  private static let shortestText = 3

  static func learn(from samples: [any Encodable]) throws -> ContextMessage {
    // Optional, because it must be known to be the only reference (`ContainerPool`).
    var recorder: Recorder? = Recorder(reusesContainers: false)
    var learner = ContextLearner()
    for sample in samples {
      if let recorder { try learner.take(sample, recorder) }
      if isKnownUniquelyReferenced(&recorder) { continue }
      // What a container writes that was kept beyond its sample is of no other. Key tables are those of one recorder.
      recorder?.detach()
      recorder = Recorder(reusesContainers: false)
      learner.shapes.forgetKeys()
    }
    return learner.content
  }

  private mutating func take(_ sample: any Encodable, _ recorder: Recorder) throws {
    recorder.begin(maximumDepth: DepthLimit.standard, UserInfo())
    defer { recorder.reset() }
    try recorder.record(sample)
    take(&recorder.recording)
  }

  private var content: ContextMessage {
    // Of equal uses by their bytes: in which order dictionaries have their entries differs from process to process.
    var shapes = (self.shapes.all + lists.all.filter { $0.uses > 1 }).filter { !$0.content.isEmpty }
    shapes.sort {
      $0.uses != $1.uses ? $0.uses > $1.uses : $0.content.lexicographicallyPrecedes($1.content, by: isBefore)
    }
    var shared = strings.all.filter { $0.uses > 1 }
    shared.sort { $0.uses != $1.uses ? $0.uses > $1.uses : isBefore($0.content, $1.content) }
    let symbols = shared.map(\.content)
    var distinct = Set<[ExactString]>()
    return ContextMessage(
      symbols: symbols.filter { KeyText.bytes(of: $0).count >= Self.shortestText },
      shapes: shapes.map(\.content).filter { distinct.insert($0.map(ExactString.init)).inserted })
  }

  /// Takes in the recording of a sample.
  private mutating func take(_ recording: inout Recording) {
    if recording.isOutOfOrder { recording.putInOrder(sortsKeys: false) }
    var walk = MapWalk()
    var maps = KeyLists()
    let areDistinct = maps.collect(
      UnsafeBufferPointer(recording.maps.buffer), &recording.tape, &recording.strings, &walk)
    if areDistinct { for list in maps.lists.indices { note(list: maps.keys(of: list), recording) } }
    for keys in recording.keyTables.active.buffer { note(keys) }
    for index in 0..<recording.strings.count {
      let string = recording.strings.string(index)
      strings.note(ExactString(string), string)
    }
  }

  private mutating func note(list: ArraySlice<UInt32>, _ recording: borrowing Recording) {
    var names: [String] = []
    for key in list { names.append(recording.strings.string(Int(key))) }
    names.sort(by: isBefore)
    lists.note(names.map(ExactString.init), names)
  }

  /// Takes in the keys that objects of one type were asked for, whether they had values or not. A key that is new
  /// comes after the one that was asked for before it.
  private mutating func note(_ keys: KeyTable.Reference) {
    let number = shapes.note(keys.pointee.index, [], uses: keys.pointee.uses)
    var names = shapes.all[number].content
    var place = 0
    for slot in 0..<keys.pointee.slotCount {
      let name = String(decoding: keys.pointee.utf8(atSlot: slot), as: UTF8.self)
      if let known = names.firstIndex(where: { $0.hasSameBytes(as: name) }) {
        place = known + 1
      } else {
        names.insert(name, at: place)
        place += 1
      }
    }
    shapes.all[number].content = names
  }
}

/// Whether the UTF-8 of a string comes before that of another.
private func isBefore(_ one: String, _ other: String) -> Bool {
  one.utf8.lexicographicallyPrecedes(other.utf8)
}
