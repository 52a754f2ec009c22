import Stow

extension RecordLogReader {
  /// A record of a log, not decoded yet.
  ///
  /// A record may be kept, and decoded later, repeatedly, as another type, and on any thread. It keeps its
  /// block in memory, of up to 64 KB, or all of its own bytes if it is larger; a record looked up by its
  /// number keeps less.
  ///
  /// ```swift
  /// for record in log.records {
  ///   let event = try record.decode(Event.self)
  /// }
  /// ```
  public struct Record: Sendable {
    let store: RecordStore
    let index: Int

    /// The number of the record in its log: 0 for the first one appended, and one more for each that follows.
    public var number: Int { store.numbers.number(at: index) }

    /// The size of the encoded record, in bytes.
    public var size: Int { store.withBytes(of: index) { $0.count } }

    /// Decodes the record.
    ///
    /// Takes time in proportion to the record. The first call for one of the records that were read together also takes in
    /// what all of them define.
    ///
    /// - Throws: `DecodingError` if the record holds no value of the type, and whatever an `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try store.open(at: index) { try $0.decode(type) }
    }

    /// Decodes a record that may lack some of its keys, for example because an earlier version of the type
    /// wrote it. What is missing is taken from a template.
    ///
    /// ```swift
    /// let event = try record.decode(Event.self, defaults: Event(date: .distantPast, place: "unknown"))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value, and of the template.
    ///   - template: A value that supplies what the record lacks.
    ///   - strategy: Whether the template also replaces values of the record that do not fit.
    /// - Throws: What ``decode(_:)`` throws, and what encoding the template throws.
    public func decode<Value: Codable>(
      _ type: Value.Type, defaults template: Value, strategy: StowDecoder.DefaultsStrategy = .strict
    ) throws -> Value {
      try store.open(at: index) { try $0.decode(type, defaults: template, strategy) }
    }

    /// Opens the record as a message, to read parts of it.
    ///
    /// ```swift
    /// let place = try record.message().decode(String.self, at: ["place", "name"])
    /// ```
    ///
    /// The message holds a copy of the record's bytes. Of the rest of its block it keeps only keys and
    /// strings.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the record is not a message.
    public func message() throws -> StowMessage { try store.open(at: index) { try $0.message() } }
  }
}
