// Places whose value comes later, or never, as the tape has them.

extension Recording {
  /// Whether the place at `start` was reserved and has no value yet.
  func isUnfilled(_ start: Int) -> Bool {
    start < tape.count && tape[start].kind == .deferred && tape[start].index == Token.unfilled
  }

  /// Whether the value of the place at `start` is a container that begins before the token at `count`.
  func hasContainer(_ start: Int, before count: Int) -> Bool {
    guard start < count else { return false }
    let value = tape[start].kind == .deferred ? tape[start].index : start
    return value < count && tape[value].isContainer
  }

  /// Lets a place whose value encoded nothing await one again; false if it has one.
  ///
  /// - Parameter isKeyed: Whether an object is to come: that continues even a value which has been settled on
  ///   as an empty object, because a single-value container was given it.
  mutating func reopenEmpty(_ start: Int, isKeyed: Bool) -> Bool {
    guard start < tape.count else { return false }
    let isLate = tape[start].kind == .deferred && tape[start].index != Token.unfilled
    let value = isLate ? tape[start].index : start
    let token = tape[value]
    guard token.kind == .empty, isKeyed || !token.has(Token.Flags.nested) else { return false }
    if isLate {
      tape[value].set(Token.Flags.dead)
      // A container that failed here has its end on the tape still.
      tape[start].index = Token.unfilled
    } else {
      let isDead = token.has(Token.Flags.dead)
      tape[start] = Token(
        .deferred, key: token.key, flags: isDead ? Token.Flags.dead : 0, index: Token.unfilled)
    }
    return true
  }

  /// Makes what was recorded at `start`, which threw, a place that awaits its value.
  mutating func failReservation(at start: Int) {
    var token = tape[start]
    if token.isArray { addedElements[start] = elementCount(ofArray: start) }
    if token.kind == .deferred {
      if token.index != Token.unfilled { tape[token.index].set(Token.Flags.dead) }
    } else {
      token = Token(.deferred, key: token.key, flags: token.isContainer ? Token.Flags.failedContainer : 0)
    }
    token.index = Token.unfilled
    // A value in the same place may have been rolled back before this one.
    token.clear(Token.Flags.dead)
    tape[start] = token
  }

  /// Whether the tokens from `count` on continue or fill what begins before them, other than the place at `place`.
  func reachesOut(from count: Int, place: Int) -> Bool {
    (count..<max(count, tape.count)).contains { index in
      let token = tape[index]
      return (token.kind == .segment || token.kind == .fill) && token.index < count && token.index != place
    }
  }
}
