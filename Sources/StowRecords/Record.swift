import Stow

extension RecordLog {
  /// A record of a log, not decoded yet.
  ///
  /// It may be kept, and decoded late, twice, as another type, and on any thread. It keeps the block that it is in,
  /// of up to 64 KB, or all of its own bytes if it is larger.
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
    public var number: Int { store.number(of: index) }

    /// The size of the encoded record, in bytes.
    public var size: Int { store.withBytes(of: index) { $0.count } }

    /// Decodes the record.
    ///
    /// Takes time in proportion to the record, and to the definitions of keys in the records of its block that were not
    /// decoded before it.
    ///
    /// - Throws: `DecodingError` if the record holds no value of the type, and whatever an `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try store.decode(at: index) { try $0.decode(type, from: $1) }
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
      try store.decode(at: index) { try $0.decode(type, from: $1, defaults: template, strategy) }
    }
  }
}
