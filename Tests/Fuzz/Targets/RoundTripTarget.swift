import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What was decoded is encoded and decoded again, and must stay what it is.
enum RoundTripTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    if let value = try Decoding.attempt({ try decode(GenericValue.self, Message(bytes: bytes)) }) {
      let copy = try again(value)
      guard copy == value else { throw Finding("\(value) comes back as \(copy)") }
    }
    if let value = try Decoding.attempt({ try decode(StowValue.self, Message(bytes: bytes)) }) {
      let copy = try again(value)
      guard copy == value else { throw Finding("\(value) comes back as \(copy)") }
    }
    for type in Decoding.recordTypes {
      if let type = type as? any Codable.Type { try repeated(type, bytes) }
    }
  }

  private static func repeated<Value: Codable>(_ type: Value.Type, _ bytes: UnsafeRawBufferPointer) throws {
    guard let value = try Decoding.attempt({ try decode(type, Message(bytes: bytes)) }) else { return }
    _ = try again(value)
  }

  /// The value as it comes back. The bytes, which are canonical, must be the same from then on.
  private static func again<Value: Codable>(_ value: Value) throws -> Value {
    do {
      let copy = try decode(Value.self, encode(value))
      let message = try encode(copy)
      let second = try encode(decode(Value.self, message))
      guard message == second else { throw Finding("\(value) is \(Array(message)), and then \(Array(second))") }
      return copy
    } catch let error as EncodingError {
      throw Finding("\(value) cannot be encoded: \(error)")
    } catch let error as DecodingError {
      throw Finding("\(value) cannot be decoded again: \(error)")
    }
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: some ContiguousBytes) throws
    -> Value
  {
    try StowDecoder().decode(type, from: bytes)
  }

  private static func encode(_ value: some Encodable) throws -> Data {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(value)
  }
}
