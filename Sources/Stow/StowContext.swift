#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keys and strings that both sides hold, so that small messages need not carry them.
///
/// ```swift
/// let context = try StowContext(from: data)  // a resource of both programs
/// encoder.context = context
/// decoder.contexts = [context]
/// ```
///
/// A context is an immutable list of *shapes*, the keys of objects, and *symbols*, strings. Any value can be
/// encoded with any context: what the context lacks is written as without one. Learn a context once and ship its
/// ``data``, because the next version of a type may lead to a different one. See <doc:SmallMessages>.
public struct StowContext: Sendable, Hashable, CustomStringConvertible {
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

  /// Makes a context from its bytes, in time and memory in proportion to them.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not a context, or not its `data`.
  public init(from bytes: some ContiguousBytes) throws {
    do {
      storage = Storage(try bytes.withUnsafeBytes { try ContextMessage.read(ByteReader($0)) })
    } catch {
      throw DecodingError.corrupted("The bytes are not a context.", path: [])
    }
  }

  /// Learns a context from samples of the values to encode.
  ///
  /// ```swift
  /// let context = try StowContext(learningFrom: [Reading.sample, Command.sample])
  /// ```
  ///
  /// The context has the keys of every type in the samples, the key lists of dictionaries that at least two
  /// samples have, and the strings of more than one byte of UTF-8 that occur in at least two samples, keys of
  /// dictionaries among them. A sample with `Shared` properties is learnt as the root of a `SharedGraph`. Takes
  /// time and memory in proportion to the samples.
  ///
  /// - Parameters:
  ///   - samples: Values like those to be encoded.
  ///   - encoder: Encodes the samples, with its `userInfo`, `types` and `maximumDepth`.
  /// - Throws: What encoding a sample throws.
  public init(learningFrom samples: [any Encodable], encoder: StowEncoder = StowEncoder()) throws {
    storage = Storage(
      try ContextLearner.learn(
        from: samples, UserInfo(encoder.userInfo), encoder.maximumDepth, StowEncoder.makePlan,
        recording: recordShared))
  }

  package init(symbols: [String], shapes: [[String]]) {
    storage = Storage(ContextMessage(symbols: symbols, shapes: shapes))
  }

  /// The bytes of the context, the same for equal ones: a Stow message whose value is nil.
  public var data: Data { storage.data }

  /// The identifier of the context in messages: the CRC-32C of its `data`.
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

  /// The error of adding a context to a decoder that has a different one with the same id.
  public struct RepeatedID: LocalizedError, CustomStringConvertible {
    /// The id of both.
    public let id: UInt32

    public var description: String { "Two different contexts have the id \(ContextMessage.text(ofID: id))." }

    /// The same as `description`.
    public var errorDescription: String? { description }
  }

  /// The id in hexadecimal, and how many shapes and symbols there are.
  public var description: String {
    func number(_ count: Int, _ name: String) -> String { "\(count) \(name)\(count == 1 ? "" : "s")" }
    let counts = "\(number(shapes.count, "shape")), \(number(symbols.count, "symbol"))"
    return "context \(ContextMessage.text(ofID: id)): \(counts)"
  }
}
