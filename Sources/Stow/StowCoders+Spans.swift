// Messages in spans: memory whose lifetime the compiler checks, used without copying.

extension StowDecoder {
  /// Decodes a value, or a part of it, from a message in a span, without copying the message.
  ///
  /// ```swift
  /// let person = try decoder.decode(Person.self, from: buffer.readableBytesSpan)
  /// ```
  ///
  /// Takes the time of `decode(_:from:at:)` for other bytes, and throws the same.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from span: RawSpan, at path: StowPath = []
  ) throws -> Value {
    try span.withUnsafeBytes { try decode(type, from: $0, at: path) }
  }

  /// Opens a message in a span, to be read in parts. The message keeps a copy of the bytes.
  ///
  /// ```swift
  /// let message = try decoder.message(from: buffer.readableBytesSpan)
  /// ```
  ///
  /// - Throws: What `message(from:)` for other bytes throws.
  public func message(from span: RawSpan) throws -> StowMessage {
    try span.withUnsafeBytes { try message(from: $0) }
  }
}

extension StowEncoder {
  /// Encodes a value, lends the message to `body` as a span, which cannot outlive the call, and returns what `body`
  /// returns.
  ///
  /// ```swift
  /// try encoder.withEncodedSpan(value) { buffer.writeBytes($0) }
  /// ```
  ///
  /// - Throws: What `encode(_:)` throws, and what `body` throws.
  @discardableResult
  public func withEncodedSpan<Value: Encodable, Result>(
    _ value: Value, _ body: (RawSpan) throws -> Result
  ) throws -> Result {
    try withEncoded(value) { try body($0.bytes) }
  }

  /// Encodes a value to the end of an output span.
  ///
  /// ```swift
  /// try buffer.writeWithOutputRawSpan(minimumWritableBytes: 4096) { try encoder.encode(value, into: &$0) }
  /// ```
  ///
  /// The message is made elsewhere and copied, because its length is known only once it is complete.
  ///
  /// - Throws: `EncodingError.invalidValue` if the message takes more bytes than are free, and what `encode(_:)`
  ///   throws. Nothing is written then.
  public func encode<Value: Encodable>(_ value: Value, into output: inout OutputRawSpan) throws {
    try output.withUnsafeMutableBytes { memory, count in
      try withEncoded(value) { bytes in
        guard bytes.count <= memory.count - count else {
          throw EncodingError.invalid(
            value, path: [],
            "The message takes \(bytes.count) bytes, and \(memory.count - count) are free in the output.")
        }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
      }
    }
  }
}
