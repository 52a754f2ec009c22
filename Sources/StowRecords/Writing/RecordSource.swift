/// What a record is made of: a value that is to be encoded, or a record of another file.
protocol RecordSource {
  /// The record begins a scope.
  func begin()
  /// Makes the message, relative to the records before it in its scope, and lends it.
  func withMessage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
  /// The message was not written. A new scope begins next.
  func undo()
}

/// A value, as a record.
struct ValueSource<Value: Encodable>: RecordSource {
  let value: Value
  let encoder: RecordEncoder

  func begin() { encoder.begin() }

  func withMessage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    try encoder.encode(value, body)
  }

  // A new scope has no definitions, neither of this record nor of others.
  func undo() {}
}

/// A record of another file.
struct CopySource: RecordSource {
  let record: RecordLog.Record
  let copier: RecordCopier

  func begin() { copier.begin() }

  func withMessage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    try record.store.withBytes(of: record.index) { try copier.copy($0, body) }
  }

  func undo() { copier.undo() }
}
