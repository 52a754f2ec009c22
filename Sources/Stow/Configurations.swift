#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Values whose types need something besides to be encoded and decoded, as `AttributedString` does.

extension StowEncoder {
  /// Encodes a value of a type that is encoded with a configuration.
  ///
  /// ```swift
  /// let data = try encoder.encode(text, configuration: AttributeScopes.FoundationAttributes.self)
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - configuration: What is handed to `encode(to:configuration:)`.
  /// - Throws: What `encode(_:)` throws.
  public func encode<Value: EncodableWithConfiguration>(
    _ value: Value, configuration: Value.EncodingConfiguration
  ) throws -> Data {
    try encode(ConfiguredValue(value: value, configuration: configuration))
  }

  /// Encodes a value of a type that is encoded with a configuration, which a type provides.
  ///
  /// ```swift
  /// let data = try encoder.encode(text, configuration: AttributeScopes.FoundationAttributes.self)
  /// ```
  ///
  /// - Throws: What `encode(_:)` throws.
  public func encode<Value: EncodableWithConfiguration, Provider: EncodingConfigurationProviding>(
    _ value: Value, configuration: Provider.Type
  ) throws -> Data where Value.EncodingConfiguration == Provider.EncodingConfiguration {
    try encode(value, configuration: Provider.encodingConfiguration)
  }
}

extension StowDecoder {
  /// Decodes a value of a type that is decoded with a configuration.
  ///
  /// ```swift
  /// let text = try decoder.decode(AttributedString.self, from: data, configuration: configuration)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: The message: `Data`, `[UInt8]` or any other contiguous bytes.
  ///   - path: The way to a part that is decoded instead of the whole value.
  ///   - configuration: What is handed to `init(from:configuration:)`.
  /// - Throws: What `decode(_:from:)` throws, or with a path `decode(_:from:at:)`.
  public func decode<Value: DecodableWithConfiguration>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [],
    configuration: Value.DecodingConfiguration
  ) throws -> Value {
    try bytes.withUnsafeBytes { bytes in
      try decode(bytes, at: path, orMissing: { throw $0 }) {
        try Value(from: $0, configuration: configuration)
      }
    }
  }

  /// Decodes a value of a type that is decoded with a configuration, which a type provides.
  ///
  /// ```swift
  /// let text = try decoder.decode(
  ///   AttributedString.self, from: data, configuration: AttributeScopes.FoundationAttributes.self)
  /// ```
  ///
  /// - Throws: What `decode(_:from:at:configuration:)` for a configuration throws.
  public func decode<Value: DecodableWithConfiguration, Provider: DecodingConfigurationProviding>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [], configuration: Provider.Type
  ) throws -> Value where Value.DecodingConfiguration == Provider.DecodingConfiguration {
    try decode(type, from: bytes, at: path, configuration: Provider.decodingConfiguration)
  }
}

/// A value and what it is encoded with.
private struct ConfiguredValue<Value: EncodableWithConfiguration>: Encodable {
  let value: Value
  let configuration: Value.EncodingConfiguration

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, configuration: configuration) }
}
