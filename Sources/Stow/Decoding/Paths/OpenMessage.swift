#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that was opened once, to be read in parts: its bytes, and what its prelude defines. Threads share it.
final class OpenMessage: Sendable {
  private let data: Data
  private let userInfo: UserInfo
  private let maximumDepth: Int
  /// Nil if there is no prelude, nor a context.
  private let definitions: DecodingDefinitions?
  private let scope: DecodingDefinitions.Scope
  let marks = ElementMarks()

  /// The place of the whole value.
  var place: ValuePlace { ValuePlace(content: .value(at: scope.body), depth: 0) }

  /// Opens a message.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the prelude is not valid, or the value does not end with the message.
  init(
    _ data: Data, userInfo: UserInfo, maximumDepth: Int, _ contexts: DecodingContexts?
  ) throws {
    var opened: (definitions: DecodingDefinitions?, scope: DecodingDefinitions.Scope)?
    try data.lendBytes { bytes in
      try DecodingSession.run(
        userInfo,
        open: { message throws(FormatError) in
          opened = try message.openForParts(bytes, maximumDepth: maximumDepth, contexts)
        }, { _ in })
    }
    guard let opened else { preconditionFailure("a message that is neither open nor refused") }
    (definitions, scope) = opened
    self.data = data
    self.userInfo = userInfo
    self.maximumDepth = maximumDepth
  }

  /// Opens a record whose prelude was added to definitions. From now on nothing may be added to these.
  init(
    ofRecord record: UnsafeRawBufferPointer, userInfo: UserInfo, maximumDepth: Int,
    relyingOn definitions: DecodingDefinitions, _ scope: DecodingDefinitions.Scope
  ) throws {
    data = Data.copy(record)
    self.userInfo = userInfo
    self.maximumDepth = maximumDepth
    self.definitions = definitions
    self.scope = scope
    definitions.noteEscape()
    // Throws if the value does not end with the record.
    try read { _ in }
  }

  /// Runs `body` with the message open.
  func read<Result>(_ body: (DecodingSession) throws -> Result) throws -> Result {
    try data.lendBytes { bytes in
      try DecodingSession.run(
        userInfo,
        open: { message throws(FormatError) in
          try message.open(bytes, maximumDepth: maximumDepth, relyingOn: definitions, scope)
        }, body)
    }
  }
}
