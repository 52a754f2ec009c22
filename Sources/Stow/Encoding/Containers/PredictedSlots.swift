/// The first object of a message is predicted to ask for the keys for which the first one of the last message asked, in
/// the same order.
///
/// Then no slot has to be given out key by key, which was an eighth of the time of encoding a small message. The
/// container expects the slots of the last message, which are marked in the keyTable's table so that no other container
/// meets them. The first key that was not predicted, and whatever begins within the object, settles how far the
/// prediction was right: so many are slots of the message, as if they had been given out one by one, and the others are
/// forgotten.
extension EncodingSession {
  /// Lets the container of the message's first object expect the predicted slots.
  @inline(__always)
  func predict(_ keyTable: KeyTable, _ cursor: Unmanaged<ObjectWriter>) {
    guard keyTable.predictedCount > 0 else { return }
    keyTable.adoptPrediction()
    predicting = cursor
    lone.begin()
    cursor._withUnsafeGuaranteedRef { $0.adoptPrediction() }
  }

  /// Makes those of the predicted slots that were asked for slots like others.
  @inline(__always)
  func settleSlots() {
    if let predicting { settleSlots(of: predicting) }
  }

  @inline(never)
  private func settleSlots(of cursor: Unmanaged<ObjectWriter>) {
    predicting = nil
    endLone()
    let (keyTable, count) = cursor._withUnsafeGuaranteedRef { $0.settle() }
    for _ in 0..<count { newSlots.append(keyTable) }
  }

  /// Forgets the slots of the message, but those of its first object are predicted for the next.
  ///
  /// A prediction that was right, and that nothing had to settle, is that for the next message as it is.
  @inline(__always)
  func resetKeyTables() {
    if let cursor = predicting {
      if cursor._withUnsafeGuaranteedRef({ $0.isPredictionRight }) { predicting = nil } else { settleSlots() }
    }
    activeKeyTables.borrowEach { $0.reset(predicts: $0.firstUse == 0) }
    activeKeyTables.removeAll()
  }
}
