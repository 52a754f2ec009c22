#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes `Decodable` values from Stow messages.
///
/// A drop-in replacement for `JSONDecoder`:
///
/// ```swift
/// let trip = try StowDecoder().decode(Trip.self, from: data)
/// ```
///
/// Safe on untrusted bytes: malformed bytes are a `DecodingError`, and the decoder itself takes memory in
/// proportion to the bytes that exist, not to what they claim. A decoder may be used from many threads at
/// once, and from inside an `init(from:)` that it is itself running. The `stringValue` of a key must not change.
public final class StowDecoder: Sendable {
  private struct Options {
    var userInfo = UserInfo()
    var maximumDepth = DepthLimit.standard
    var contexts: ContextChoice?
  }

  private let options = SharedOptions(Options())
  /// The sessions of all decoders. Here the ways to decode values are put together.
  private static let sessions = SessionPool {
    DecodingSession { AnyDecodingPlan.known($0) ?? ($0 as? any StowFields.Type)?.makeFieldsDecodingPlan() }
  }

  /// Makes a decoder with the default options.
  public init() {}

  /// The values that every `init(from:)` finds in its decoder. Empty by default.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { options.current.userInfo.values }
    set { options.update { $0.userInfo.values = newValue } }
  }

  /// The types that messages may name, for polymorphic values; none by default. The same as `userInfo[.typeRegistry]`.
  public var types: TypeRegistry {
    get { TypeRegistry(userInfo: userInfo) }
    set { options.update { $0.userInfo.values[.typeRegistry] = newValue } }
  }

  /// How deeply containers may be nested, including those in skipped values; 512 by default.
  ///
  /// A message that nests deeper is a `DecodingError.dataCorrupted`. Every level takes room on the stack.
  public var maximumDepth: Int {
    get { options.current.maximumDepth }
    set { options.update { $0.maximumDepth = DepthLimit.clamped(newValue) } }
  }

  /// The contexts that messages may rely on; none by default.
  ///
  /// A message names its context by its id. It is a `DecodingError.dataCorrupted` if the decoder has no context of
  /// that id, or two different ones, `implicitContext` included. Add contexts that come from others by `add(_:)`.
  public var contexts: [StowContext] {
    get { options.current.contexts?.contexts ?? [] }
    set { options.update { $0.contexts = ContextChoice(newValue, $0.contexts?.implicit) } }
  }

  /// Adds a context that messages may rely on. Does nothing if the decoder already has it.
  ///
  /// - Throws: `StowContext.RepeatedID` if the decoder has a different context of the same id.
  public func add(_ context: StowContext) throws {
    try options.update { options in
      let (contexts, implicit) = (options.contexts?.contexts ?? [], options.contexts?.implicit)
      if contexts.contains(context) { return }
      if (contexts + [implicit ?? context]).contains(where: { $0.id == context.id && $0 != context }) {
        throw StowContext.RepeatedID(id: context.id)
      }
      options.contexts = ContextChoice(contexts + [context], implicit)
    }
  }

  /// The context of messages that rely on one without naming it; nil by default.
  ///
  /// For contexts that were agreed on (`StowEncoder.contextIdentification`). Bytes that were written with another
  /// context, or without one, are refused, or read as another value.
  public var implicitContext: StowContext? {
    get { options.current.contexts?.implicit }
    set { options.update { $0.contexts = ContextChoice($0.contexts?.contexts ?? [], newValue) } }
  }

  // MARK: decoding

  /// Decodes a value from a message in `Data`.
  ///
  /// Takes time in proportion to the message, even if the type asks for little, because all of its nesting is checked.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message; any `DecodingError` if
  ///   it does not hold a value of the type; and whatever an `init(from:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try data.lendBytes { try decode(type, $0) }
  }

  /// Decodes a value, or a part of it, from a message in contiguous bytes, such as a `[UInt8]`, without copying them.
  ///
  /// ```swift
  /// let name = try decoder.decode(String.self, from: data, at: ["people", 99_000, "name"])
  /// ```
  ///
  /// For a part, reads only what the path passes and the part itself, and finds no faults in the rest. To read several
  /// parts, open the message once: ``message(from:)-(ContiguousBytes)``.
  ///
  /// - Throws: What `decode(_:from:)` for data throws, or with a path ``StowMessage/decode(_:at:)``.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = []
  ) throws -> Value {
    try bytes.withUnsafeBytes { path.steps.isEmpty ? try decode(type, $0) : try decode(type, $0, at: path) }
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, at path: StowPath
  ) throws -> Value {
    try withSession(of: bytes, isWhole: false) { try PathWalk($0, along: path).decode(type) }
  }

  /// Decodes a value, or a part of it, from a message in a span, without copying the message. Takes the time of
  /// `decode(_:from:at:)` for other bytes, and throws the same.
  public func decode<Value: Decodable>(_ type: Value.Type, from span: RawSpan, at path: StowPath = []) throws -> Value {
    try span.withUnsafeBytes { try decode(type, from: $0, at: path) }
  }

  /// Decodes a polymorphic value, of the type that the message names.
  ///
  /// ```swift
  /// let shape = try decoder.decode(polymorphic: (any Shape).self, from: data)
  /// ```
  ///
  /// `Value` is a protocol, a class, or an array, a dictionary or an optional of such.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if a name is not registered in `types`, `DecodingError.typeMismatch` if
  ///   the value is not a `Value`, and what `decode(_:from:at:)` throws.
  public func decode<Value>(
    polymorphic type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = []
  ) throws -> Value {
    try decode(Polymorphic<Value>.self, from: bytes, at: path).wrappedValue
  }

  /// Which values of a template are used.
  public struct DefaultsStrategy: Hashable, Sendable {
    fileprivate let isLenient: Bool

    /// Values whose keys are missing in the message.
    public static let strict = DefaultsStrategy(isLenient: false)
    /// Values whose keys are missing in the message, and values in place of those that do not fit.
    public static let lenient = DefaultsStrategy(isLenient: true)
  }

  /// Decodes a value, and takes what its message lacks from a template.
  ///
  /// ```swift
  /// let settings = try decoder.decode(Settings.self, from: data, defaults: Settings())
  /// ```
  ///
  /// A key that a type asks for and that an object of the message lacks is taken from the same place in the
  /// template, also in nested objects, as <doc:Evolution> says. `contains` and `allKeys` see only the message. If the
  /// path leads to nothing, the result is the template. Also takes the time of encoding the template.
  ///
  /// - Throws: What `decode(_:from:at:)` throws, and what encoding the template throws. A broken message is an error
  ///   even with `.lenient`, as far as it is read; values that the template replaces are read to their end.
  public func decode<Value: Codable>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [], defaults template: Value,
    strategy: DefaultsStrategy = .strict
  ) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, $0, at: path, defaults: template, strategy) }
  }

  /// Decodes a message, or a record in its scope, and takes from a template what it lacks.
  package func decode<Value: Codable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, in scope: DecodingDefinitions.Scope? = nil,
    at path: StowPath = [], defaults template: Value, _ strategy: DefaultsStrategy
  ) throws -> Value {
    let merge = Merge(isLenient: strategy.isLenient, maximumDepth: maximumDepth)
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    (encoder.userInfo, decoder.userInfo) = (userInfo, userInfo)
    (encoder.maximumDepth, decoder.maximumDepth) = (maximumDepth, maximumDepth)
    return try decode(bytes, in: scope, at: path, orMissing: template) {
      try merge.decode(type, from: $0, defaults: template) { body in
        try encoder.withEncoded(template) { try decoder.decode($0, at: [], by: body) }
      }
    }
  }

  /// Opens a message, to be read in parts with the options that this decoder has now. `Data` is shared, other bytes copied.
  ///
  /// - Throws: What `StowMessage.init(from:)` throws; also if the message relies on a context that the
  ///   decoder does not have.
  public func message(from bytes: some ContiguousBytes) throws -> StowMessage {
    try open(bytes as? Data ?? bytes.withUnsafeBytes { Data.copy($0) })
  }

  @inline(never)
  private func open(_ data: Data) throws -> StowMessage {
    try options.read {
      StowMessage(
        try OpenMessage(
          in: Self.sessions, data, userInfo: $0.userInfo, maximumDepth: $0.maximumDepth,
          $0.contexts?.definitions))
    }
  }

  /// Opens a message in a span, to be read in parts, and copies the bytes. Throws what the method for other bytes throws.
  public func message(from span: RawSpan) throws -> StowMessage { try span.withUnsafeBytes { try message(from: $0) } }

  // MARK: sessions

  /// Decodes a message, or the part that a path leads to, with `make`, which receives a decoder of it.
  ///
  /// - Parameter missing: The value of a missing part; without it, that is an error, or nil for an optional.
  func decode<Value>(
    _ bytes: UnsafeRawBufferPointer, in scope: DecodingDefinitions.Scope? = nil, at path: StowPath,
    orMissing missing: Value? = nil, by make: (any Decoder) throws -> Value
  ) throws -> Value {
    try withSession(of: bytes, in: scope, isWhole: false) { session in
      let walk = try PathWalk(session, along: path)
      if !walk.isThere, let missing { return missing }
      return try make(ValueDecoder(session, walk.openPlace(for: Value.self), walk.node))
    }
  }

  /// Opens a message or a record, and passes its session to `body`.
  ///
  /// - Parameter isWhole: Whether all of it is decoded. For a part, the walk along the path checks the depth.
  @inline(__always)
  private func withSession<Value>(
    _ session: DecodingSession? = nil, of bytes: UnsafeRawBufferPointer,
    in scope: DecodingDefinitions.Scope? = nil, isWhole: Bool = true,
    _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    try options.read { options in
      try DecodingSession.run(
        in: Self.sessions, options.userInfo, session: session,
        open: { message throws(FormatError) in
          if let scope {
            try message.open(bytes, maximumDepth: options.maximumDepth, scope)
          } else {
            try message.open(bytes, maximumDepth: options.maximumDepth, options.contexts?.definitions)
          }
          if isWhole { try message.checkDepth() }
        }, body)
    }
  }

  /// Decodes a value from a message, or from a record, whose scope adding it to the definitions returned.
  package func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, in scope: DecodingDefinitions.Scope? = nil
  ) throws -> Value {
    try withSession(of: bytes, in: scope) { try $0.decode(type) }
  }

  /// Decodes a value from a message, and tells an observer what its type asks for.
  package func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, observer: any DecodingObserver
  ) throws -> Value {
    try withSession(DecodingSession(observer), of: bytes) { try $0.decode(type) }
  }

  /// Opens a record to be read in parts. Its bytes are copied, and the definitions are not extended any more.
  package func message(_ record: UnsafeRawBufferPointer, in scope: DecodingDefinitions.Scope) throws -> StowMessage {
    try options.read {
      StowMessage(
        try OpenMessage(
          in: Self.sessions, ofRecord: record, userInfo: $0.userInfo, maximumDepth: $0.maximumDepth, scope))
    }
  }
}

final class ContextChoice: Sendable {
  let contexts: [StowContext]
  let implicit: StowContext?
  /// The same contexts, as messages look them up.
  let definitions: DecodingContexts

  init(_ contexts: [StowContext], _ implicit: StowContext?) {
    var (distinct, named) = ([StowContext](), [UInt32: DecodingDefinitions?]())
    for context in contexts {
      if named[context.id] == nil {
        named[context.id] = .some(context.decoding)
      } else if !distinct.contains(context) {
        // Two contexts have the same id: a message that names it can use neither.
        named[context.id] = .some(nil)
      } else {
        continue
      }
      distinct.append(context)
    }
    // A message may name the implicit context all the same.
    if let implicit, !distinct.contains(implicit) {
      named[implicit.id] = .some(named[implicit.id] == nil ? implicit.decoding : nil)
    }
    self.contexts = distinct
    self.implicit = implicit
    definitions = DecodingContexts(named: named, implicit: implicit?.decoding)
  }
}
