import Stow

extension RecordLogReader {
  /// A record of a log, not decoded yet.
  ///
  /// It may be kept, and decoded late, twice, as another type, and on any thread. It keeps the block that it is in,
  /// of up to 64 KB, or all of its own bytes if it is larger; one that was looked up by its number keeps less.
  ///
  /// ```swift
  /// for record in log.records {
  ///   let event = try record.decode(Event.self)
  /// }
  /// ```
  public struct Record: Sendable {
    let store: RecordStore
    let index: Int

    /// The number of the record in its log: 0 for the first that was appended, and one more for each that followed.
    public var number: Int { store.numbers.number(at: index) }

    /// The size of the encoded record, in bytes.
    public var size: Int { store.withBytes(of: index) { $0.count } }

    /// Decodes the record.
    ///
    /// Takes time in proportion to the record, and to the definitions of keys in the records of its block that were not
    /// decoded before it.
    ///
    /// - Throws: `DecodingError` if the record holds no value of the type, and whatever an `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try store.open(at: index) { try $0.decode(type) }
    }

    /// Decodes a record that may lack some of its keys, as one that an earlier version of the type wrote does; these are
    /// taken from a template.
    ///
    /// ```swift
    /// let event = try record.decode(Event.self, defaults: Event(date: .distantPast, place: "unknown"))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value, and of the template.
    ///   - template: A value that has what records may lack.
    ///   - strategy: Whether values of the record that do not fit are taken from the template, too.
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
    /// The message has a copy of the record's bytes, and keeps nothing else of its block but keys and strings.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the record is not a message.
    public func message() throws -> StowMessage { try store.open(at: index) { try $0.message() } }
  }
}
