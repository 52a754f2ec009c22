#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encodes `Encodable` values as Stow messages: compact, self-describing and canonical.
///
/// A drop-in replacement for `JSONEncoder`:
///
/// ```swift
/// let data = try StowEncoder().encode(trip)
/// ```
///
/// The same sequence of encoding calls gives the same bytes on every machine. An encoder may be used from
/// many threads at once, and from inside an `encode(to:)` that it is itself running. Making one costs next to
/// nothing: what is learnt about types is kept by the process, not by the encoder. That includes the names of
/// keys whose type is an enumeration: the `stringValue` of such a key must not change.
///
/// FORMAT.md specifies the bytes.
public final class StowEncoder: Sendable {
  /// Options for the output. The format leaves little choice.
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Sorts every map by the UTF-8 of its keys: dictionaries, and objects whose key type does not have fixed
    /// cases. Makes the bytes independent of the arbitrary order of dictionaries.
    public static let sortedKeys = OutputFormatting(rawValue: 1 << 0)
  }

  private struct Options {
    var userInfo = UserInfo()
    var formatting: OutputFormatting = []
    var maximumDepth = DepthLimit.standard
    var context: StowContext?
    var contextIdentification = ContextIdentification.id
  }

  private let options = SharedOptions(Options())
  private static let sessions = SessionPool { EncodingSession(makePlan) }

  /// Returns how values of a type are encoded without their own `encode(to:)`. Here the ways to do so are put together.
  static func makePlan(of type: Any.Type) -> AnyEncodingPlan? {
    AnyEncodingPlan.known(type) ?? (type as? any StowFields.Type)?.makeFieldsEncodingPlan()
  }

  /// Makes an encoder with the default options.
  public init() {}

  /// The values that every `encode(to:)` finds in its encoder. Empty by default.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { options.current.userInfo.values }
    set { options.update { $0.userInfo.values = newValue } }
  }

  /// The types that `Polymorphic` properties and `encode(polymorphic:)` write by name; none by default.
  ///
  /// The same as `userInfo[.typeRegistry]`.
  public var types: TypeRegistry {
    get { TypeRegistry(userInfo: userInfo) }
    set { options.update { $0.userInfo.values[.typeRegistry] = newValue } }
  }

  /// Options for the output. None by default.
  public var outputFormatting: OutputFormatting {
    get { options.current.formatting }
    set { options.update { $0.formatting = newValue } }
  }

  /// How deeply containers may be nested; 512 by default.
  ///
  /// A value that nests deeper, such as an object that contains itself, is an `EncodingError.invalidValue`.
  /// The error carries that value, or the whole value if only containers nest too deeply. Every level takes
  /// room on the stack: raise this only if there is enough.
  public var maximumDepth: Int {
    get { options.current.maximumDepth }
    set { options.update { $0.maximumDepth = DepthLimit.clamped(newValue) } }
  }

  /// The context that messages rely on; none by default.
  ///
  /// Decoding them requires the same context (`StowDecoder.contexts`).
  public var context: StowContext? {
    get { options.current.context }
    set { options.update { $0.context = newValue } }
  }

  /// How a message says which context it relies on. Later versions may add ways.
  public enum ContextIdentification: Sendable {
    /// By its id, in six bytes.
    case id
    /// Not at all: for connections and files whose context was agreed on beforehand. The receiver must know
    /// it, and set `StowDecoder.implicitContext`.
    case none
  }

  /// How messages say which context they rely on; by its id, unless set otherwise.
  public var contextIdentification: ContextIdentification {
    get { options.current.contextIdentification }
    set { options.update { $0.contextIdentification = newValue } }
  }

  /// Encodes a value.
  ///
  /// Takes time and memory in proportion to the value. While it runs, it needs 12 to 20 bytes for each value inside and
  /// 36 for each container, twice that if keys are sorted or come out of order, in buffers that grow as they fill.
  /// Strings and the output come on top.
  ///
  /// - Throws: `EncodingError.invalidValue` if the value encodes nothing or nests too deeply, and whatever
  ///   an `encode(to:)` throws.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data { try write(value) { $0.finish() } }

  /// Encodes a value of a registered type, with the name of its type.
  ///
  /// ```swift
  /// let data = try encoder.encode(polymorphic: shape)  // {"circle": {"radius": 2}}
  /// ```
  ///
  /// The value may also be an array, a dictionary or an optional of such values, as in a `Polymorphic` property.
  ///
  /// - Throws: `EncodingError.invalidValue` if the type of a value is not registered in `types`, and what
  ///   `encode(_:)` throws.
  public func encode<Value>(polymorphic value: Value) throws -> Data { try encode(Polymorphic(wrappedValue: value)) }

  /// Encodes a value, lends the message to `body` instead of making a `Data` of it, and returns what `body` returns.
  ///
  /// A server copies the bytes from there into the buffer that it sends:
  ///
  /// ```swift
  /// try encoder.withEncoded(value) { buffer.writeBytes($0) }
  /// ```
  ///
  /// The bytes are valid until `body` returns. `body` may use the encoder itself. Time and memory are those of
  /// `encode(_:)`, without the `Data`.
  ///
  /// - Throws: What `encode(_:)` throws, and what `body` throws.
  @discardableResult
  public func withEncoded<Value: Encodable, Result>(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try withMessage(of: value, relyingOn: nil, body)
  }

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

  /// Encodes a value, and lends the message to `body`.
  ///
  /// - Parameter definitions: What earlier records defined, and this one may rely on; from then on they include its
  ///   own, whether `body` throws or not. Nil for a message, which may be in the encoder's context.
  package func withMessage<Value: Encodable, Result>(
    of value: Value, relyingOn definitions: EncodingDefinitions?,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try write(value, relyingOn: definitions) { try $0.finish(lendingTo: body) }
  }

  /// Writes a value, and passes the session to `finish`.
  @inline(__always)
  private func write<Value: Encodable, Result>(
    _ value: Value, relyingOn definitions: EncodingDefinitions? = nil,
    _ finish: (EncodingSession) throws -> Result
  ) throws -> Result {
    try options.read { options in
      let planning = PlanningOptions(
        sortsKeys: options.formatting.contains(.sortedKeys),
        definitions: definitions ?? options.context?.encoding,
        context: definitions == nil && options.contextIdentification == .id ? options.context?.id : nil)
      return try EncodingSession.run(
        in: Self.sessions, value, maximumDepth: options.maximumDepth, options.userInfo, planning, finish)
    }
  }
}
