import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Drives an encoder and then a decoder through a sequence of calls that the input chooses, and a model of
/// what JSON coders do beside them.
enum ContainersTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    try writeShallowly(bytes)
    let choices = Choices(bytes)
    let encoder = StowEncoder()
    if choices.next() & 1 == 1 { encoder.outputFormatting = .sortedKeys }
    let script = WritingScript(choices)
    defer { script.forget() }
    let node = Node()
    guard let message = try write(script, node, encoder) else { return }
    try writeAgain(bytes, message, encoder)
    let value = try StowDecoder().decode(GenericValue.self, from: message)
    guard value == node.value else { throw Finding("written: \(node.value), read: \(value)") }
    try read(node, message, Choices(bytes.reversed()))
  }

  /// Writes the same once more: what was encoded before must not tell from the bytes.
  private static func writeAgain(_ bytes: UnsafeRawBufferPointer, _ message: Data, _ encoder: StowEncoder) throws {
    // Equal dictionaries may be in different orders.
    guard encoder.outputFormatting == .sortedKeys else { return }
    let choices = Choices(bytes)
    _ = choices.next()
    let script = WritingScript(choices)
    defer { script.forget() }
    guard try write(script, Node(), encoder) == message else { throw Finding("the same is written otherwise") }
  }

  /// Writes only, where every so many calls one refuses, and compares what is read with the model.
  static func runWriting(_ bytes: UnsafeRawBufferPointer) throws {
    let choices = Choices(bytes)
    let encoder = StowEncoder()
    let options = choices.next()
    if options & 1 == 1 { encoder.outputFormatting = .sortedKeys }
    let script = WritingScript(choices, callsPerRefusal: Int(options >> 1 & 31), writesHierarchies: true)
    defer { script.forget() }
    let node = Node()
    guard let message = try write(script, node, encoder) else { return }
    let value = try StowDecoder().decode(GenericValue.self, from: message)
    guard value == node.value else { throw Finding("written: \(node.value), read: \(value)") }
    try compareWithJSON(bytes)
  }

  /// Makes the calls that JSON's encoder has no trap for with both encoders, and compares what they write.
  private static func compareWithJSON(_ bytes: UnsafeRawBufferPointer) throws {
    let json = JSONEncoder()
    json.outputFormatting = .sortedKeys
    json.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let written = Written { encoder in
      let script = WritingScript(Choices(bytes), writesHierarchies: true, isOrderly: true)
      try script.fill(encoder, Node(), path: [], depth: 0)
    }
    guard let message = try? StowEncoder().encode(written) else { return }
    let expected = try json.encode(written)
    let read = try json.encode(StowDecoder().decode(GenericValue.self, from: message))
    guard read == expected else {
      throw Finding(
        "JSON: \(String(decoding: expected, as: UTF8.self)), read: \(String(decoding: read, as: UTF8.self))")
    }
  }

  /// The message; nil if the script ends in an error that it must end in.
  private static func write(_ script: WritingScript, _ node: Node, _ encoder: StowEncoder) throws -> Data? {
    do {
      return try encoder.encode(Written { try script.fill($0, node, path: [], depth: 0) })
    } catch is Refusal {
      return nil
    } catch EncodingError.invalidValue(_, let context) where context.codingPath.isEmpty {
      if case .nothing = node.content { return nil }
      throw Finding("the script has no value, but should have \(node.value)")
    } catch let error as EncodingError {
      throw Finding("encoding throws \(error)")
    }
  }

  /// Writes the same where little may nest, which the model does not know: what is refused for that must not harm what
  /// is written beside it, and what is not may be read where no more may nest.
  private static func writeShallowly(_ bytes: UnsafeRawBufferPointer) throws {
    let choices = Choices(bytes)
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    encoder.maximumDepth = Int(choices.next() >> 1 & 3)
    decoder.maximumDepth = encoder.maximumDepth
    let script = WritingScript(choices)
    defer { script.forget() }
    do {
      let message = try encoder.encode(Written { try script.fill($0, Node(), path: [], depth: 0) })
      _ = try decoder.decode(GenericValue.self, from: message)
    } catch is Refusal {
    } catch is EncodingError {
    } catch is Finding {
    }
  }

  private static func read(_ node: Node, _ message: Data, _ choices: Choices) throws {
    let decoder = StowDecoder()
    let script = ReadingScript(choices)
    defer { script.forget() }
    decoder.userInfo[.script] = script
    script.pending = (node, [])
    do {
      _ = try decoder.decode(Driven.self, from: message)
      try script.finish()
    } catch is Refusal {
      return
    } catch let error as DecodingError {
      throw Finding("decoding throws \(error)")
    }
  }
}

/// The error that scripts throw.
struct Refusal: Error {}

/// A value that is encoded by a script.
struct Written: Encodable {
  let body: (any Encoder) throws -> Void

  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

/// A value that is decoded by the script in the decoder's `userInfo`.
struct Driven: Decodable {
  init(from decoder: any Decoder) throws {
    guard let script = decoder.userInfo[.script] as? ReadingScript else { throw Refusal() }
    try script.read(decoder)
  }
}

extension CodingUserInfoKey {
  static let script = CodingUserInfoKey(rawValue: "script")!
}
