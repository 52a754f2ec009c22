#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Combine)
  import Combine
#endif

// Files, and other features of Foundation's coders: types that are coded with a configuration, as
// `AttributedString` is, and Combine.

extension StowEncoder {
  /// Encodes a value into a file, which is replaced atomically: readers see either the old message or the new
  /// one.
  ///
  /// ```swift
  /// try encoder.encode(settings, to: URL(filePath: "settings.stow"))
  /// ```
  ///
  /// - Throws: What `encode(_:)` throws, and the error of the system if the file cannot be written.
  public func encode<Value: Encodable>(_ value: Value, to file: URL) throws {
    try encode(value).write(to: file, options: .atomic)
  }

  /// Encodes a value with a configuration.
  ///
  /// ```swift
  /// let configuration = AttributeScopes.FoundationAttributes.encodingConfiguration
  /// let data = try encoder.encode(text, configuration: configuration)
  /// ```
  ///
  /// - Throws: What `encode(_:)` throws.
  public func encode<Value: EncodableWithConfiguration>(
    _ value: Value, configuration: Value.EncodingConfiguration
  ) throws -> Data {
    try encode(ConfiguredValue(value: value, configuration: configuration))
  }
}

extension StowDecoder {
  /// Decodes a value, or a part of it, from the message in a file. For a part, the file is mapped and little of it is
  /// read.
  ///
  /// ```swift
  /// let settings = try decoder.decode(Settings.self, from: URL(filePath: "settings.stow"))
  /// ```
  ///
  /// - Throws: What `decode(_:from:at:)` for bytes throws, and the error of the system if the file cannot be read.
  public func decode<Value: Decodable>(_ type: Value.Type, from file: URL, at path: StowPath = []) throws
    -> Value
  {
    try decode(type, from: Data(contentsOf: file, options: path.steps.isEmpty ? [] : .alwaysMapped), at: path)
  }

  /// Decodes a value with a configuration.
  ///
  /// ```swift
  /// let text = try decoder.decode(AttributedString.self, from: data, configuration: configuration)
  /// ```
  ///
  /// - Throws: What `decode(_:from:at:)` throws.
  public func decode<Value: DecodableWithConfiguration>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [],
    configuration: Value.DecodingConfiguration
  ) throws -> Value {
    try bytes.withUnsafeBytes { bytes in
      try decode(bytes, at: path) { try Value(from: $0, configuration: configuration) }
    }
  }
}

private struct ConfiguredValue<Value: EncodableWithConfiguration>: Encodable {
  let value: Value
  let configuration: Value.EncodingConfiguration

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, configuration: configuration) }
}

#if canImport(Combine)
  /// Lets `Publisher.encode(encoder:)` take a `StowEncoder`.
  extension StowEncoder: TopLevelEncoder {
    /// The type of encoded messages.
    public typealias Output = Data
  }

  /// Lets `Publisher.decode(type:decoder:)` take a `StowDecoder`.
  extension StowDecoder: TopLevelDecoder {
    /// The type of messages to decode.
    public typealias Input = Data
  }
#endif
