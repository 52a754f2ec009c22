/// The contexts that messages may rely on (FORMAT.md, "Contexts").
final class DecodingContexts: Sendable {
  /// By their ids; nil where several have one.
  private let named: [UInt32: DecodingDefinitions?]
  /// What messages rely on that name none.
  private let implicit: DecodingDefinitions?

  init(named: [UInt32: DecodingDefinitions?], implicit: DecodingDefinitions?) {
    self.named = named
    self.implicit = implicit
  }

  /// Returns what a message relies on, or nil if that is nothing; moves `start` past the name of the context.
  func context(of message: ByteReader, _ start: inout Int) throws(FormatError) -> DecodingDefinitions? {
    guard try message.byte(at: 0) == MessageTables.otherMessage, message.count > 1,
      message.base[1] == MessageTables.contextMessage
    else { return implicit }
    let id = try message.halfWord(at: 2)
    guard let found = named[id] else { try fail(.reserved, at: 0) }
    guard let context = found else { try fail(.ambiguous, at: 0) }
    start = 6
    return context
  }
}
