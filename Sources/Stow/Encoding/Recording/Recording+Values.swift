// How scalars, and the keys of maps, get onto the tape.

extension Recording {
  // MARK: scalars

  /// Records a scalar in the current container.
  @inline(__always)
  mutating func record<Value: RecordableScalar>(_ value: Value, key: TokenKey) {
    value.record(in: &self, key: key)
  }

  /// Records a URL, whose absolute string this is.
  mutating func record(url text: String, key: TokenKey) {
    let index = strings.intern(text)
    strings.countValueUse(index)
    tape.append(Token(.url, key: key, index: index))
  }

  mutating func retain(_ value: RetainedValue, as kind: Token.Kind, key: TokenKey) {
    tape.append(Token(kind, key: key, index: retained.count))
    retained.append(value)
  }

  /// A nil that stands `level` optionals deep.
  mutating func recordNil(level: Int, key: TokenKey) {
    tape.append(level == 0 ? Token(.null, key: key) : Token(.nestedNil, key: key, index: level))
  }

  // MARK: keys that are strings, where no key table knows them

  /// Records the key of the next value, and returns its string.
  @discardableResult
  mutating func recordKey(_ name: String) -> Int {
    let string = strings.intern(name)
    recordKey(string)
    return string
  }

  /// The same for a string of the pool.
  @inline(__always)
  mutating func recordKey(_ string: Int) {
    strings.countKeyUses(string)
    tape.append(Token(.key, index: string))
  }

  /// Records a key that most likely is the one that came after `previous` the last time, and returns its string; −1 if
  /// it is another.
  ///
  /// Most maps have the keys of an earlier one, in that order, so that this comes before a hash and a table.
  @inline(__always)
  mutating func recordFollower(_ name: borrowing String, of previous: Int) -> Int {
    let follower = strings.follower(of: previous)
    guard follower >= 0, strings.holds(name, at: follower) else { return -1 }
    recordKey(follower)
    return follower
  }

  /// Records a key that may have come before, and returns its string.
  ///
  /// - Parameters:
  ///   - integer: What the key has as an integer.
  ///   - previous: What this returned for the key before it in its map; −1 for the first.
  @inline(never)
  mutating func recordFreeKey(_ name: String, _ integer: Int?, after previous: Int) -> Int {
    let startsInteger = PathKey.startsInteger(name)
    if integer != nil || startsInteger, integer != Int(name) { integerKeys[tape.count] = integer }
    let string = recordKey(name)
    // What could be an integer is looked at every time.
    if previous >= 0, !startsInteger { strings.setFollower(string, of: previous) }
    return string
  }

  /// Whether the last token is a key, whose value is to come.
  var endsWithKey: Bool { tape.count > 0 && tape[tape.count - 1].kind == .key }

  /// Takes back what announced a value that then threw: its key, or the mark that it came late.
  mutating func dropAnnouncement() {
    guard tape.count > 0 else { return }
    let last = tape[tape.count - 1]
    guard last.kind == .key || last.kind == .fill else { return }
    if last.kind == .fill { tape[last.index].index = Token.unfilled }
    if !integerKeys.isEmpty { integerKeys[tape.count - 1] = nil }
    tape.removeLast()
  }
}
