import Stow
import StowNotation

/// `diff`: what differs between the values of two files.
enum Diff {
  static let verb = Verb(
    name: "diff", operands: "[options] A B", files: 2...2,
    summary: "print the differences between two values, by path",
    details: """
      "-" marks what only A has, "+" what only B has, and "~" what differs, including the order of keys. Lists are compared
      element by element between their common beginning and end. How values are encoded makes no difference.
      """,
    options: Contents.options
  ) { arguments in
    var differences = Differences()
    let large = try arguments.files.compactMap { try Contents.largeMessage(in: $0, arguments) }
    if large.count == 2 {
      do {
        try differences.compareParts(large[0], large[1], [])
      } catch let error as DecodingError {
        for path in arguments.files {
          let input = try Input(path)
          if let fault = try Walks.fault(in: input, Walks.context(arguments)) {
            throw Failure("\(input.name): \(fault)", .differs)
          }
        }
        throw Failure("one of the two: \(Contents.reason(error))", .differs)
      }
      differences.output.flush()
      return differences.count == 0 ? .fine : .differs
    }
    var values: [[(value: StowValue, record: Int?)]] = []
    var isWhole = true
    for path in arguments.files {
      var of: [(StowValue, Int?)] = []
      isWhole = try Contents.forEach(in: path, arguments) { of.append(($0, $1)) } && isWhole
      values.append(of)
    }
    let (left, right) = (values[0], values[1])
    if case (let one, nil)? = left.first, case (let other, nil)? = right.first {
      differences.compare(one, other, [])
    } else {
      let numbered = [left, right].map { values in
        Dictionary(values.map { ($0.record ?? 0, $0.value) }) { $1 }
      }
      for number in Set(numbered.flatMap(\.keys)).sorted() {
        differences.compareIfThere(numbered[0][number], numbered[1][number], [.record(number)])
      }
    }
    differences.output.flush()
    return differences.count == 0 && isWhole ? .fine : .differs
  }
}

/// Writes what differs between values.
struct Differences {
  let output = Output()
  private(set) var count = 0

  private static let longest = 60

  /// Compares two parts of large messages: long arrays element by element, so that only one of each is held.
  mutating func compareParts(_ left: StowMessage, _ right: StowMessage, _ places: [Place]) throws {
    switch (try left.kind(), try right.kind()) {
    case (.array, .array) where try left.count() > Self.mostWhole && right.count() > Self.mostWhole:
      try compareElements(left, right, places)
    case (.object, .object) where try left.count() <= Self.mostKeys && right.count() <= Self.mostKeys:
      let (keys, others) = (try left.keys(), try right.keys())
      let known = Set(others.map(ExactString.init))
      for key in keys {
        let place = places + [.entry(key)]
        if known.contains(ExactString(key)) {
          try compareParts(left.part(at: [.key(key)]), right.part(at: [.key(key)]), place)
        } else {
          compareIfThere(try left.decode(StowValue.self, at: [.key(key)]), .none, place)
        }
      }
      let common = Set(keys.map(ExactString.init))
      for key in others where !common.contains(ExactString(key)) {
        compareIfThere(.none, try right.decode(StowValue.self, at: [.key(key)]), places + [.entry(key)])
      }
      compareOrder(
        keys.filter { known.contains(ExactString($0)) }, others.filter { common.contains(ExactString($0)) },
        places)
    default: compare(try left.decode(StowValue.self), try right.decode(StowValue.self), places)
    }
  }

  /// Arrays with more elements than this are compared element by element, and objects with at most this many
  /// keys are looked into.
  private static let (mostWhole, mostKeys) = (1000, 64)

  private mutating func compareElements(_ left: StowMessage, _ right: StowMessage, _ places: [Place]) throws {
    let (leftCount, rightCount) = (try left.count(), try right.count())
    let shorter = min(leftCount, rightCount)
    func areSame(_ left: StowMessage, _ right: StowMessage) throws -> Bool {
      Self.areSame(try left.decode(StowValue.self), try right.decode(StowValue.self))
    }
    var start = 0
    for (one, other) in zip(try left.elements(), try right.elements()) {
      guard try areSame(one, other) else { break }
      start += 1
    }
    var end = 0
    while end < shorter - start,
      try areSame(left.part(at: [.index(leftCount - 1 - end)]), right.part(at: [.index(rightCount - 1 - end)]))
    {
      end += 1
    }
    var lefts = try left.elements().dropFirst(start).makeIterator()
    var rights = try right.elements().dropFirst(start).makeIterator()
    for index in start..<max(leftCount, rightCount) - end {
      let place = places + [.element(index)]
      let one = index < leftCount - end ? lefts.next() : nil
      let other = index < rightCount - end ? rights.next() : nil
      if let one, let other {
        compare(try one.decode(StowValue.self), try other.decode(StowValue.self), place)
      } else {
        compareIfThere(
          try one.map { try $0.decode(StowValue.self) }, try other.map { try $0.decode(StowValue.self) },
          place)
      }
    }
  }

  /// Compares two values, either of which may be missing.
  mutating func compareIfThere(_ left: StowValue?, _ right: StowValue?, _ places: [Place]) {
    switch (left, right) {
    case (let left?, let right?): compare(left, right, places)
    case (let left?, nil): say("-", places, short(left))
    case (nil, let right?): say("+", places, short(right))
    case (nil, nil): break
    }
  }

  mutating func compare(_ left: StowValue, _ right: StowValue, _ places: [Place]) {
    switch (left, right) {
    case (.array(let left), .array(let right)): compare(left, right, places)
    case (.object(let left), .object(let right)): compare(left, right, places)
    default: if !Self.areSame(left, right) { say("~", places, "\(short(left)) → \(short(right))") }
    }
  }

  private mutating func compare(_ left: [StowValue], _ right: [StowValue], _ places: [Place]) {
    let shorter = min(left.count, right.count)
    let start = (0..<shorter).first { !Self.areSame(left[$0], right[$0]) } ?? shorter
    let same = (0..<(shorter - start)).first { !Self.areSame(left[left.count - 1 - $0], right[right.count - 1 - $0]) }
    let end = same ?? shorter - start
    let (lefts, rights) = (left[start..<(left.count - end)], right[start..<(right.count - end)])
    for index in start..<max(lefts.endIndex, rights.endIndex) {
      compareIfThere(
        lefts.indices.contains(index) ? .some(lefts[index]) : .none,
        rights.indices.contains(index) ? .some(rights[index]) : .none, places + [.element(index)])
    }
  }

  private mutating func compare(_ left: StowObject, _ right: StowObject, _ places: [Place]) {
    for (key, value) in left { compareIfThere(value, right[key], places + [.entry(key)]) }
    for (key, value) in right where left[key] == nil { compareIfThere(.none, value, places + [.entry(key)]) }
    compareOrder(left.keys.filter { right[$0] != nil }, right.keys.filter { left[$0] != nil }, places)
  }

  private mutating func compareOrder(_ common: [String], _ order: [String], _ places: [Place]) {
    if !zip(common, order).allSatisfy({ $0.utf8.elementsEqual($1.utf8) }) {
      say("~", places, "the keys are in another order, or spelled otherwise")
    }
  }

  /// Returns whether two values are the same down to the bytes of every string and the order of every object.
  private static func areSame(_ left: StowValue, _ right: StowValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)), (.url(let left), .url(let right)):
      left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy(areSame)
    case (.object(let left), .object(let right)):
      left.count == right.count
        && zip(left, right).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && areSame($0.value, $1.value) }
    default: left == right
    }
  }

  private mutating func say(_ sign: String, _ places: [Place], _ text: String) {
    count += 1
    output.line("\(sign) \(Path(places)): \(text)")
  }

  /// Returns the beginning of a value, in notation.
  private func short(_ value: StowValue) -> String {
    var writer = NotationWriter()
    writer.most = 4 * Self.longest
    if value.array != nil || value.object != nil { writer.depth = 2 }
    let text = writer.text(of: value)
    let beginning = text.unicodeScalars.prefix(Self.longest)
    return beginning.endIndex == text.endIndex ? text : String(beginning) + "…"
  }
}
