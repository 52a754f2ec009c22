#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keys and strings that both sides hold, so that small messages need not bring them.
///
/// A message by itself carries the names of its keys, which outweigh the values of small ones. With a context it
/// names the context, or nothing at all, and carries the values:
///
/// ```swift
/// let context = try StowContext(learningFrom: [Reading.sample, Command.sample])
/// encoder.context = context
/// decoder.contexts = [context]
/// ```
///
/// A context is an immutable list of *shapes*, the keys of objects, and *symbols*, strings. Any value can be encoded
/// with any context: what it does not hold is written as without one. Make a context once, keep its `data` as a
/// resource of both programs or send it first, and make it again from there:
///
/// ```swift
/// let context = try StowContext(from: data)
/// ```
///
/// Do not learn a context anew in each program: the next version of a type may teach another one.
public struct StowContext: Sendable, Hashable {
  private let storage: Storage

  private final class Storage: Sendable {
    let content: ContextMessage
    let data: Data
    let id: UInt32
    let encoding: EncodingDefinitions
    let decoding: DecodingDefinitions

    init(_ content: ContextMessage) {
      self.content = content
      data = Data(content.bytes)
      id = content.bytes.withUnsafeBytes { Checksum.of($0) }
      encoding = EncodingDefinitions(content)
      decoding = DecodingDefinitions(ofContext: content.bytes)
    }
  }

  /// Makes the context that bytes hold.
  ///
  /// Takes time and memory in proportion to the bytes.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not a context, or not its `data`.
  public init(from bytes: some ContiguousBytes) throws {
    do {
      storage = Storage(
        try bytes.withUnsafeBytes { try ContextMessage.read(ByteReader($0, extents: Tag.extents)) })
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "The bytes are not a context."))
    }
  }

  /// Learns a context from samples of what is to be encoded.
  ///
  /// The context has the keys of every type in the samples, and of dictionaries those lists that at least two samples
  /// have; and the strings that occur in at least two samples, keys of dictionaries among them. Strings of a single
  /// character are left out. A sample need not be a whole message: one value of every type, and as many values of those
  /// whose strings recur as show which, are enough. The same samples always teach the same, in whatever order
  /// dictionaries have their entries.
  ///
  /// Samples with `Polymorphic` properties need an encoder with their `types`. A sample with `Shared` properties is learnt as
  /// the root of a `SharedGraph`, because only so it is encoded.
  ///
  /// ```swift
  /// let context = try StowContext(learningFrom: [Drawing.sample], encoder: encoder)
  /// ```
  ///
  /// Takes time and memory in proportion to the samples.
  ///
  /// - Parameters:
  ///   - samples: Values as those that are to be encoded.
  ///   - encoder: Encodes the samples, with its `userInfo`, `types` and `maximumDepth`.
  /// - Throws: What encoding one of them throws.
  public init(learningFrom samples: [any Encodable], encoder: StowEncoder = StowEncoder()) throws {
    storage = Storage(
      try ContextLearner.learn(
        from: samples, UserInfo(encoder.userInfo), encoder.maximumDepth, recording: recordShared))
  }

  package init(symbols: [String], shapes: [[String]]) {
    storage = Storage(ContextMessage(symbols: symbols, shapes: shapes))
  }

  /// The bytes of the context: a Stow message whose value is nil.
  ///
  /// Equal contexts have equal bytes.
  public var data: Data { storage.data }

  /// What messages name the context by: the CRC-32C of its `data`.
  public var id: UInt32 { storage.id }

  /// The keys of its shapes, by their numbers.
  public var shapes: [[String]] { storage.content.shapes }

  /// Its symbols, by their numbers.
  public var symbols: [String] { storage.content.symbols }

  var encoding: EncodingDefinitions { storage.encoding }
  var decoding: DecodingDefinitions { storage.decoding }

  public static func == (left: StowContext, right: StowContext) -> Bool {
    left.storage === right.storage || left.storage.content.bytes == right.storage.content.bytes
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension StowContext {
  /// A decoder was to have two different contexts with the same id.
  public struct RepeatedID: LocalizedError, CustomStringConvertible {
    /// The id of both.
    public let id: UInt32

    public var description: String { "Two different contexts have the id \(ContextMessage.text(ofID: id))." }

    /// The same as `description`.
    public var errorDescription: String? { description }
  }
}

extension StowContext: CustomStringConvertible {
  /// The id in hexadecimal, and how many shapes and symbols there are.
  public var description: String {
    "context \(ContextMessage.text(ofID: id)): \(shapes.count) shapes, \(symbols.count) symbols"
  }
}
