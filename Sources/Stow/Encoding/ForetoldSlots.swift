/// What the first object of a message is foretold: that it asks for the keys that it asked for in the last message, in
/// the same order.
///
/// Then no slot has to be given out key by key, which was an eighth of the time of encoding a small message. The
/// container expects the slots of the last message, which are marked in the schema's table so that no other container
/// meets them. The first thing that is not foretold, or that begins within the object, settles how many of them came
/// true: those are the slots of the message, as if they had been given out one by one, and the others are forgotten.
extension EncodingSession {
  /// Lets the container of the message's first object expect the foretold slots.
  @inline(never)
  func believe(_ schema: Schema, _ cursor: Unmanaged<KeyedCursor>) {
    guard schema.foretoldCount > 0 else { return }
    schema.believe()
    believer = cursor
    cursor._withUnsafeGuaranteedRef { $0.believe() }
  }

  /// Makes those of the foretold slots that came true slots like others.
  @inline(__always)
  func settleSlots() {
    if let believer { settleSlots(of: believer) }
  }

  @inline(never)
  private func settleSlots(of cursor: Unmanaged<KeyedCursor>) {
    believer = nil
    let (schema, count) = cursor._withUnsafeGuaranteedRef { $0.settle() }
    for _ in 0..<count { newSlots.append(schema) }
  }

  /// Settles the slots of a message that is complete.
  @inline(__always)
  func settleLastSlots() {
    guard let believer else { return }
    // Where all came true, nobody has to tell them from others any more.
    if !believer._withUnsafeGuaranteedRef({ $0.isFulfilled }) { settleSlots(of: believer) }
    self.believer = nil
  }

  /// Forgets the slots of the message, but those of its first object are foretold to the next.
  func resetSchemas() {
    believer = nil
    activeSchemas.borrowEach { $0.reset(foretells: $0.firstUse == 0) }
    activeSchemas.removeAll()
  }
}
