import Stow

/// Encodes the records of a scope, each as a message that relies on the definitions of those before it.
///
/// Every record is a message of its own for now, which defines nothing for later ones.
final class RecordEncoder {
  private let encoder = StowEncoder()

  /// Forgets all definitions: a new scope begins.
  func begin() {}

  /// Encodes a record, lends it to `body`, and keeps its definitions for later ones. Nothing is kept if this throws.
  func encode<Value: Encodable, Result>(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try encoder.withEncoded(value, body)
  }

  /// Forgets what the last record defined: it was not written.
  func undo() {}
}

/// Decodes the records of a scope.
final class RecordDecoder {
  private let decoder = StowDecoder()

  /// Forgets all definitions: a new scope begins.
  func begin() {}

  /// Takes in what a record defines, without decoding it. If this throws, nothing was taken in.
  func takeDefinitions(from record: UnsafeRawBufferPointer) throws {}

  /// Decodes a record with the definitions that were taken in so far, and takes in its own, even if its value cannot
  /// be decoded. If its definitions cannot be read, this and all later calls throw until the next `begin()`.
  func decode<Value: Decodable>(_ type: Value.Type, from record: UnsafeRawBufferPointer) throws -> Value {
    try decoder.decode(type, from: record)
  }
}

/// Copies records from one scope into another, of which it knows no types.
///
/// A record that is copied brings along what the records defined that it relies on and that were not copied.
final class RecordCopier {
  /// Forgets everything: the records that follow are of another scope of the old log.
  func beginReading() {}

  /// The records that follow go into a new scope, which has no definitions.
  func begin() {}

  /// Takes in what a record defines that is not copied.
  func skip(_ record: UnsafeRawBufferPointer) throws {}

  /// Lends a record as it is to be written. Nothing is kept if this throws.
  func copy<Result>(_ record: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result)
    throws -> Result
  {
    try body(record)
  }

  /// The last record was not written.
  func undo() {}
}
