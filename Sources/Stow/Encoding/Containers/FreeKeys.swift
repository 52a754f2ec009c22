// Keys that are strings: of maps, where no keyTable knows them.

extension EncodingSession {
  /// Records the key of the next value, and returns its string.
  @discardableResult
  func recordKey(_ name: String) -> Int {
    let string = strings.intern(name)
    recordKey(string)
    return string
  }

  /// The same for a string of the pool.
  @inline(__always)
  func recordKey(_ string: Int) {
    strings.countKeyUses(string)
    tape.append(Token(.key, index: string))
  }

  /// The same for a key that may have come before, perhaps in another spelling.
  ///
  /// Most maps have the keys of an earlier one, in that order. So the key that came after the last one before is
  /// compared first, without a hash and a table.
  ///
  /// - Parameter previous: What this returned for the key before it in its map; −1 for the first.
  @inline(__always)
  func recordFreeKey<Key: CodingKey>(_ key: Key, after previous: Int) -> Int {
    let follower = strings.follower(of: previous)
    let name = key.stringValue
    guard follower >= 0, strings.holds(name, at: follower), key.intValue == nil else {
      return recordFreeKey(key, name, after: previous)
    }
    recordKey(follower)
    return follower
  }

  @inline(never)
  private func recordFreeKey<Key: CodingKey>(_ key: Key, _ name: String, after previous: Int) -> Int {
    let known = strings.count
    let integer = key.intValue
    let startsInteger = PathKey.startsInteger(name)
    if integer != nil || startsInteger, integer != Int(name) { integerKeys[tape.count] = integer }
    let string = recordKey(name)
    // Strings are equal if they are canonically equivalent, which bytes do not show beyond ASCII.
    if strings.count > known, !name.utf8.allSatisfy({ $0 < 0x80 }) { needsNormalizing = true }
    // What could be an integer is looked at every time.
    if previous >= 0, !startsInteger { strings.setFollower(string, of: previous) }
    return string
  }
}
