import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A context and a message that relies on it, both from anywhere; and what is decoded, in a context learnt from it.
///
/// The first byte says how many bytes the context has; the message follows.
enum ContextTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    if let learnt = try learn(from: bytes) { try relying(bytes, on: learnt) }
    guard let length = bytes.first, bytes.count > Int(length) else { return }
    let context = Data(bytes[1..<1 + Int(length)])
    guard let context = try Decoding.attempt({ try make(context) }) else { return }
    try relying(UnsafeRawBufferPointer(rebasing: bytes[(1 + Int(length))...]), on: context)
  }

  /// The context that a message says, and says it again.
  private static func make(_ message: Data) throws -> StowContext {
    let context = try StowContext(from: message)
    guard context.data == message else { throw Finding("a context of \(Array(message)) is \(Array(context.data))") }
    return context
  }

  /// A context of what the bytes mean without one; nil if that is nothing.
  private static func learn(from bytes: UnsafeRawBufferPointer) throws -> StowContext? {
    var samples: [any Encodable] = []
    for type in Decoding.recordTypes + [GenericValue.self] {
      let value = try Decoding.attempt { try StowDecoder().decode(type, from: Message(bytes: bytes)) }
      if let value = value as? any Encodable { samples += [value, value] }
    }
    if samples.isEmpty { return nil }
    let context = try StowContext(learningFrom: samples)
    guard try make(context.data) == context else { throw Finding("\(context) is another one when read") }
    for sample in samples { try again(sample, context) }
    return context
  }

  /// Encodes a value in the context, which must read as without one.
  private static func again(_ value: some Encodable, _ context: StowContext) throws {
    do {
      let expected = try decode(GenericValue.self, encode(value, nil), nil)
      let copy = try decode(GenericValue.self, encode(value, context), context)
      guard copy == expected else { throw Finding("\(expected) comes back as \(copy)") }
    } catch let error as EncodingError {
      throw Finding("\(value) cannot be encoded: \(error)")
    } catch let error as DecodingError {
      throw Finding("\(value) cannot be decoded again: \(error)")
    }
  }

  /// Reads a message that relies on the context, and writes what it means again.
  private static func relying(_ message: UnsafeRawBufferPointer, on context: StowContext) throws {
    let decoder = StowDecoder()
    decoder.contexts = [context]
    decoder.implicitContext = context
    for type in Decoding.recordTypes {
      _ = try Decoding.attempt { _ = try decoder.decode(type, from: Message(bytes: message)) }
    }
    let value = try Decoding.attempt { try decoder.decode(GenericValue.self, from: Message(bytes: message)) }
    if let value { try again(value, context) }
  }

  private static func encode(_ value: some Encodable, _ context: StowContext?) throws -> Data {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.context = context
    return try encoder.encode(value)
  }

  private static func decode<Value: Decodable>(
    _ type: Value.Type, _ message: Data, _ context: StowContext?
  ) throws -> Value {
    let decoder = StowDecoder()
    decoder.contexts = context.map { [$0] } ?? []
    return try decoder.decode(type, from: message)
  }
}
