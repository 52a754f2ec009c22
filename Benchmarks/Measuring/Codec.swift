import Foundation
import Stow

/// A way to turn values into bytes and back, with the same face for all that are compared.
protocol Codec: Sendable {
  init()
  func encode<Value: Encodable>(_ value: Value) throws -> Data
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// The library that is measured. One encoder and one decoder serve all calls.
struct StowCodec: Codec {
  private let encoder = StowEncoder()
  private let decoder = StowDecoder()

  init() {}

  /// The same, where messages rely on a context that they do not name.
  init(_ context: StowContext) {
    encoder.context = context
    encoder.contextIdentification = .none
    decoder.implicitContext = context
  }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  /// The bytes of all messages with sorted keys: in whatever order dictionaries have their entries, it is the same in
  /// every run.
  func size<Value: Encodable>(of values: [Value]) throws -> Int {
    encoder.outputFormatting = .sortedKeys
    defer { encoder.outputFormatting = [] }
    return try values.reduce(0) { try $0 + encoder.encode($1).count }
  }

  /// Encodes a value and has the bytes lent, instead of made into a `Data`.
  func lend<Value: Encodable>(_ value: Value) throws {
    try encoder.withEncoded(value) { blackHole($0) }
  }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// Foundation's JSON, without the backslashes before slashes it adds of itself.
struct JSONCodec: Codec {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  init() { encoder.outputFormatting = .withoutEscapingSlashes }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// Foundation's property lists in their binary form.
struct PropertyListCodec: Codec {
  private let encoder = PropertyListEncoder()
  private let decoder = PropertyListDecoder()

  init() { encoder.outputFormat = .binary }

  func encode<Value: Encodable>(_ value: Value) throws -> Data { try encoder.encode(value) }

  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try decoder.decode(type, from: data)
  }
}

/// The two codecs that are compared in processes of their own, by the names a child process is told.
enum CodecName: String, CaseIterable {
  case stow, json

  /// A codec of this name.
  func make() -> any Codec {
    switch self {
    case .stow: StowCodec()
    case .json: JSONCodec()
    }
  }
}
