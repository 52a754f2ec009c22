#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that is one object, in which there are only scalars and no string stands twice, and that was not written
/// while it was recorded (`LoneWriter`): because the last one had other keys, or for a date.
///
/// It has no symbols and no shape, so that there is nothing to plan, and no containers to keep track of while it is
/// written; and a prediction of its keys that was right need not be settled. It takes a seventh less instructions.
extension EncodingSession {
  /// The bytes of the message if it is a lone object.
  func emitLoneObject() -> Data? {
    let isLone = tape[0].kind == .object && !tape.hasInnerContainers && activeKeyTables.count == 1
    guard isLone, !needsNormalizing else { return nil }
    return activeKeyTables.borrow(0) { keyTable in
      guard strings.areSingleValues, !keyTable.sharesKeys(with: &strings) else { return nil }
      return emitter.emitLone(keyTable, self)
    }
  }
}

extension Emitter {
  fileprivate mutating func emitLone(_ keyTable: KeyTable, _ session: EncodingSession) -> Data {
    let tape = session.tape.view
    writer.restart(capacity: estimate(session))
    // The object's own tokens are the first and the last.
    var index = tape.tokens.count - 2
    while index > 0 {
      writer.reserve(BackwardWriter.margin)
      let token = tape[index]
      write(value: token, tape, session)
      write(textAt: token.slot, of: keyTable)
      index &-= 1
    }
    writer.reserve(BackwardWriter.margin)
    writer.header(length: writer.count, short: Tag.shortMap, limit: Tag.shortMapLimit, long: Tag.map)
    return finished()
  }
}
