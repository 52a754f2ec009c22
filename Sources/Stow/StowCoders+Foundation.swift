#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Combine)
  import Combine
#endif

// Files, and other features of Foundation's coders: types that are coded with a configuration, as
// `AttributedString` is, Combine, and options, which are not needed here.

extension StowEncoder {
  /// Encodes a value into a file, which is replaced atomically.
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
  /// - Throws: What `encode(_:)` throws.
  public func encode<Value: EncodableWithConfiguration>(
    _ value: Value, configuration: Value.EncodingConfiguration
  ) throws -> Data {
    try encode(ConfiguredValue(value: value, configuration: configuration))
  }

  /// Encodes a value with the configuration that another type provides.
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
  /// Decodes a value from the message in a file, or a part of it, for which little of the file is read.
  ///
  /// ```swift
  /// let settings = try decoder.decode(Settings.self, from: URL(filePath: "settings.stow"))
  /// ```
  ///
  /// - Throws: What `decode(_:from:at:)` for bytes throws, and the error of the system if the file cannot be read.
  public func decode<Value: Decodable>(_ type: Value.Type, from file: URL, at path: StowPath = []) throws -> Value {
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

  /// Decodes a value with the configuration that another type provides.
  ///
  /// ```swift
  /// let text = try decoder.decode(
  ///   AttributedString.self, from: data, configuration: AttributeScopes.FoundationAttributes.self)
  /// ```
  ///
  /// - Throws: What `decode(_:from:at:)` throws.
  public func decode<Value: DecodableWithConfiguration, Provider: DecodingConfigurationProviding>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [], configuration: Provider.Type
  ) throws -> Value where Value.DecodingConfiguration == Provider.DecodingConfiguration {
    try decode(type, from: bytes, at: path, configuration: Provider.decodingConfiguration)
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

// Declared so that the compiler tells users of options of Foundation's JSON coders what to do instead.

@available(*, unavailable, message: "Delete this line: dates, data, NaN and keys are encoded as they are.")
extension StowEncoder {
  /// Not needed: dates are exact.
  public var dateEncodingStrategy: JSONEncoder.DateEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: data is encoded as it is.
  public var dataEncodingStrategy: JSONEncoder.DataEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: NaN and the infinities are numbers like others.
  public var nonConformingFloatEncodingStrategy: JSONEncoder.NonConformingFloatEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: keys are encoded as the type names them.
  public var keyEncodingStrategy: JSONEncoder.KeyEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }
}

@available(*, unavailable, message: "Delete this line: dates, data, NaN and keys are decoded as they are.")
extension StowDecoder {
  /// Not needed: dates are exact.
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: data is encoded as it is.
  public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: NaN and the infinities are numbers like others.
  public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: keys are encoded as the type names them.
  public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }
}
