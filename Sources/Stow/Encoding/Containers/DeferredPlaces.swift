// Places whose value comes later, or never.

extension EncodingSession {
  /// Reserves the place of a value in the current container.
  func deferValue(key: UInt64, parent: Int) -> RecordingEncoder {
    let start = tape.count
    disturb()
    tape.append(Token(.deferred, key: key, index: Token.unfilled))
    return RecordingEncoder(session: self, start: start, parent: parent, key: key)
  }

  /// Whether the place at `start` was reserved and has no value yet.
  func isUnfilled(_ start: Int) -> Bool {
    start < tape.count && tape[start].kind == .deferred && tape[start].index == Token.unfilled
  }

  /// Lets a place whose value encoded nothing await one again.
  ///
  /// - Parameter isKeyed: Whether an object is to come: that continues even a value which has been settled on
  ///   as an empty object, because a single-value container was given it.
  func reopenEmpty(_ start: Int, isKeyed: Bool) {
    guard start < tape.count else { return }
    let isLate = tape[start].kind == .deferred && tape[start].index != Token.unfilled
    let value = isLate ? tape[start].index : start
    let token = tape[value]
    guard token.kind == .empty, isKeyed || !token.has(Token.Flags.nested) else { return }
    disturb()
    guard isLate else {
      let isDead = token.has(Token.Flags.dead)
      tape[start] = Token(
        .deferred, key: token.key, flags: isDead ? Token.Flags.dead : 0, index: Token.unfilled)
      return
    }
    tape[value].set(Token.Flags.dead)
    // A container that failed here has its end on the tape still.
    tape[start].index = Token.unfilled
  }

  /// Makes the next value the one of the reserved place at `start`.
  func fill(_ start: Int) {
    deferAwaited()
    disturb()
    tape.append(Token(.fill, index: start))
    tape[start].index = tape.count
  }
}
