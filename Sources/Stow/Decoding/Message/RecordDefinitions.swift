// What records define, for whoever reads files and streams of them: errors of the format become those that users see.

extension DecodingDefinitions {
  /// Adds what a record defines, if it does.
  ///
  /// Not while another thread reads a record that relies on these definitions (``extensible(by:)``).
  ///
  /// - Parameter limit: The most bytes of preludes that there may be.
  /// - Throws: `DecodingError.dataCorrupted` if its prelude is not valid, and `TooMany` if there would be more than the
  ///   limit; then nothing is added.
  package func add(record: UnsafeRawBufferPointer, limit: Int = .max) throws -> Scope {
    try reading(record) { reader throws(FormatError) in try add(reader, limit: limit) }
  }

  /// A record defines more than there may be.
  package struct TooMany: Error {}
}

extension RecordPrelude {
  /// The prelude that a record begins with, if there is one.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if it is not valid.
  package init(of record: UnsafeRawBufferPointer) throws {
    self = try reading(record) { reader throws(FormatError) in try RecordPrelude(reader) }
  }
}

private func reading<Result>(
  _ record: UnsafeRawBufferPointer, _ body: (ByteReader) throws(FormatError) -> Result
) throws -> Result {
  do throws(FormatError) {
    return try body(ByteReader(record))
  } catch {
    if error.kind == .tooManyDefinitions { throw DecodingDefinitions.TooMany() }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: [], debugDescription: "The definitions of a record break the format.")
    )
  }
}
