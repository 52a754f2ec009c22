// What stands before the body of a message: its symbols and shapes (FORMAT.md, "Prelude").

extension Emitter {
  /// Writes the symbols and shapes of the message, before its body.
  mutating func writePrelude(_ recording: inout Recording, _ plan: borrowing MessagePlan) {
    for shape in plan.shapes.reversed() {
      switch shape.source {
      case .keyTable(let index): writeShape(of: recording.keyTables[index], &recording)
      case .list(let index): writeShape(of: plan.lists.keys(of: index), &recording)
      }
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(plan.shapes.count)
    for string in plan.symbols.reversed() { writer.text(recording.strings.utf8(string)) }
    writer.reserve(BackwardWriter.margin)
    writer.varint(plan.symbols.count)
    writer.byte(MessageTables.tag)
  }

  /// Writes which context the message relies on, before everything else.
  mutating func writeContext(_ id: UInt32) {
    writer.reserve(BackwardWriter.margin)
    writer.littleEndian(UInt64(id), width: 4)
    writer.byte(MessageTables.contextMessage)
    writer.byte(MessageTables.otherMessage)
  }

  private mutating func writeShape(of keys: KeyTable.Reference, _ recording: inout Recording) {
    for slot in keys.pointee.presentSlots.reversed() {
      writer.reserve(BackwardWriter.margin)
      write(keyAt: Int(slot), of: keys, &recording)
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(keys.pointee.presentCount)
  }

  private mutating func writeShape(of keys: ArraySlice<UInt32>, _ recording: inout Recording) {
    for key in keys.reversed() {
      writer.reserve(BackwardWriter.margin)
      write(key: Int(key), &recording)
    }
    writer.reserve(BackwardWriter.margin)
    writer.varint(keys.count)
  }
}
