import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes `Decodable` values from Stow messages.
///
/// A drop-in for `JSONDecoder`:
///
/// ```swift
/// let trip = try StowDecoder().decode(Trip.self, from: data)
/// ```
///
/// Safe on bytes from anywhere: what is malformed is a `DecodingError`, and the decoder itself takes memory in
/// proportion to the bytes there are, not to what they claim. A decoder may be used from many threads at once, and
/// from inside an `init(from:)` that it is itself running. As to an encoder, the `stringValue` of a key must not change.
///
/// FORMAT.md specifies the bytes.
public final class StowDecoder: Sendable {
  private struct Options {
    var userInfo = UserInfo()
    var maximumDepth = DepthLimit.standard
    var contexts: ContextChoice?
  }

  private let options = Mutex(Options())

  /// Makes a decoder with the default options.
  public init() {}

  /// What is handed to every `init(from:)` through its decoder. Empty by default.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { options.withLock { $0.userInfo.values } }
    set { options.update { $0.userInfo.values = newValue } }
  }

  /// The types that messages may name, for `Polymorphic` properties and `decode(polymorphic:from:)`; none by default.
  ///
  /// The same as `userInfo[.typeRegistry]`.
  public var types: TypeRegistry {
    get { TypeRegistry(userInfo: userInfo) }
    set { options.update { $0.userInfo.values[.typeRegistry] = newValue } }
  }

  /// How many containers may be nested, in values that are skipped too; 512 by default.
  ///
  /// A message that nests deeper is a `DecodingError.dataCorrupted`. Every level takes room on the stack:
  /// raise this only where there is some.
  public var maximumDepth: Int {
    get { options.withLock { $0.maximumDepth } }
    set { options.update { $0.maximumDepth = DepthLimit.clamped(newValue) } }
  }

  /// The contexts that messages may rely on; none by default.
  ///
  /// A message names its context by its id, and one that the decoder does not have is a
  /// `DecodingError.dataCorrupted` that says the id.
  ///
  /// Of two different contexts with the same id neither is relied on: a message that names it is a
  /// `DecodingError.dataCorrupted`, too. Of contexts that were learnt, two have one id once in 4 billion times. Those
  /// that come from others are better added by `add(_:)`, which throws.
  public var contexts: [StowContext] {
    get { options.withLock { $0.contexts?.contexts ?? [] } }
    set { options.update { $0.contexts = ContextChoice(newValue, $0.contexts?.implicit) } }
  }

  /// Adds a context that messages may rely on. One that the decoder has already changes nothing.
  ///
  /// - Throws: `StowContext.RepeatedID` if the decoder has a different context of the same id.
  public func add(_ context: StowContext) throws {
    try options.update { options in
      let contexts = options.contexts?.contexts ?? []
      if contexts.contains(context) { return }
      if contexts.contains(where: { $0.id == context.id }) { throw StowContext.RepeatedID(id: context.id) }
      options.contexts = ContextChoice(contexts + [context], options.contexts?.implicit)
    }
  }

  /// The context of messages that name none, if they rely on one all the same; none by default.
  ///
  /// For connections and files that have settled the context before (`StowEncoder.contextIdentification`). Bytes do
  /// not tell which context they were written with: with another one they are refused, or read as another value.
  public var implicitContext: StowContext? {
    get { options.withLock { $0.contexts?.implicit } }
    set { options.update { $0.contexts = ContextChoice($0.contexts?.contexts ?? [], newValue) } }
  }

  // MARK: decoding

  /// Decodes a value from a message.
  ///
  /// Takes time in proportion to the message: that nothing in it nests too deeply is checked first, also where the type
  /// asks for little of it. `decode(_:from:at:)` reads a part without the rest.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message; any `DecodingError` if
  ///   it does not hold a value of the type; and whatever an `init(from:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try data.lendBytes { try decode(type, $0) }
  }

  /// Decodes a value from a message in contiguous bytes, such as a `[UInt8]`, without copying them; or a part of it.
  ///
  /// ```swift
  /// let name = try decoder.decode(String.self, from: data, at: ["people", 99_000, "name"])
  /// ```
  ///
  /// For a part, looks at what the path passes and at the part itself. All else is skipped by its length, and a fault in
  /// it is not found. To read several parts, open the message once: ``message(from:)-(ContiguousBytes)``.
  ///
  /// - Parameters:
  ///   - type: The type of the value or the part.
  ///   - bytes: The message: `Data`, `[UInt8]` or any other contiguous bytes.
  ///   - path: The way to the part; without steps, to the whole value.
  /// - Throws: What `decode(_:from:)` for data throws, or with a path ``StowMessage/decode(_:at:)``.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = []
  ) throws -> Value {
    try bytes.withUnsafeBytes { bytes in
      if path.steps.isEmpty { return try decode(type, bytes) }
      return try withSession(of: bytes, isWhole: false) { try PathWalk.decode(type, at: path, in: $0) }
    }
  }

  /// Decodes a value of the type that the message names.
  ///
  /// ```swift
  /// let shape = try decoder.decode(polymorphic: (any Shape).self, from: data)
  /// ```
  ///
  /// - Parameters:
  ///   - type: What the value must be: a protocol that it conforms to, a class, or an array, a dictionary or an optional
  ///     of such.
  ///   - bytes: The message: `Data`, `[UInt8]` or any other contiguous bytes.
  ///   - path: The way to a part that is decoded instead of the whole value.
  /// - Throws: `DecodingError.dataCorrupted` if a name is not registered in `types`, `DecodingError.typeMismatch` if
  ///   the value is not a `Value`, and what `decode(_:from:)` throws, or with a path `decode(_:from:at:)`.
  public func decode<Value>(
    polymorphic type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = []
  ) throws -> Value {
    try decode(Polymorphic<Value>.self, from: bytes, at: path).wrappedValue
  }

  /// Which values of a template count.
  public struct DefaultsStrategy: Hashable, Sendable {
    fileprivate let isLenient: Bool

    /// Those whose keys are missing in the message.
    public static let strict = DefaultsStrategy(isLenient: false)
    /// Those whose keys are missing, and those in whose place the message has a value that does not fit.
    public static let lenient = DefaultsStrategy(isLenient: true)
  }

  /// Decodes a value from a message that may lack some of its keys, which are taken from a template.
  ///
  /// ```swift
  /// let settings = try decoder.decode(Settings.self, from: data, defaults: Settings())
  /// ```
  ///
  /// A key that a type asks for and that an object of the message lacks is taken from the same place of the template,
  /// in objects within objects, too. What the message has counts: a nil that it says stays nil. Arrays and dictionaries
  /// are taken as they are, with no entries or elements of the template. <doc:Evolution> says more.
  ///
  /// Takes the time of encoding the template besides.
  ///
  /// - Parameters:
  ///   - type: The type of the value, and of the template.
  ///   - bytes: The message: `Data`, `[UInt8]` or any other contiguous bytes.
  ///   - path: The way to a part that is decoded instead of the whole value. A part that is not there is the template.
  ///   - template: A value that has what messages may lack.
  ///   - strategy: Whether values of the message that do not fit are taken from the template, too.
  /// - Throws: What `decode(_:from:)` throws, or with a path `decode(_:from:at:)`; and what encoding the template throws.
  ///   A message that is broken is an error, also with `.lenient`, as far as it is read.
  public func decode<Value: Codable>(
    _ type: Value.Type, from bytes: some ContiguousBytes, at path: StowPath = [], defaults template: Value,
    strategy: DefaultsStrategy = .strict
  ) throws -> Value {
    let merge = Merge(isLenient: strategy.isLenient, maximumDepth: maximumDepth)
    return try bytes.withUnsafeBytes { bytes in
      try decode(bytes, at: path, orMissing: { _ in template }) {
        try merge.decode(type, from: $0, defaults: template) { try lendDecoder(of: template, $0) }
      }
    }
  }

  /// Lends a decoder of a value to `body`, with the options of this one.
  private func lendDecoder<Value: Encodable, Result>(
    of value: Value, _ body: (any Decoder) throws -> Result
  ) throws -> Result {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    (encoder.userInfo, decoder.userInfo) = (userInfo, userInfo)
    (encoder.maximumDepth, decoder.maximumDepth) = (maximumDepth, maximumDepth)
    return try encoder.withEncoded(value) {
      try decoder.decode($0, at: [], orMissing: { throw $0 }, by: body)
    }
  }

  /// Opens a message to be read in parts, with the options that this decoder has now.
  ///
  /// ```swift
  /// let message = try decoder.message(from: data)
  /// ```
  ///
  /// - Parameter bytes: The message. `Data` is shared with the opened message, other bytes are copied.
  /// - Throws: As `StowMessage.init(from:)`; also if the message relies on a context that the decoder does not have.
  public func message(from bytes: some ContiguousBytes) throws -> StowMessage {
    let data = bytes as? Data ?? bytes.withUnsafeBytes { Data.copy($0) }
    let options = options.withLock { $0 }
    return StowMessage(
      try OpenMessage(
        data, userInfo: options.userInfo, maximumDepth: options.maximumDepth, options.contexts?.definitions))
  }

  // MARK: sessions

  private func decode<Value: Decodable>(_ type: Value.Type, _ bytes: UnsafeRawBufferPointer) throws -> Value {
    try withSession(of: bytes) { try $0.decode(type) }
  }

  /// Decodes a message, or the part that a path leads to, by `make`, which is handed a decoder of it.
  ///
  /// - Parameter missing: What stands for a part that is not there; it is handed the error that says so.
  func decode<Value>(
    _ bytes: UnsafeRawBufferPointer, at path: StowPath, orMissing missing: (any Error) throws -> Value,
    by make: (any Decoder) throws -> Value
  ) throws -> Value {
    if path.steps.isEmpty { return try withSession(of: bytes) { try $0.decode(by: make) } }
    return try withSession(of: bytes, isWhole: false) { session in
      try PathWalk.decode(at: path, in: session, orMissing: missing, by: make)
    }
  }

  /// Opens a message, and hands its session to `body`.
  ///
  /// - Parameter isWhole: Whether all of it is decoded: of a part, the path finds out whether it nests too deeply.
  @inline(__always)
  private func withSession<Value>(
    of bytes: UnsafeRawBufferPointer, isWhole: Bool = true, _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    let options = options.withLock { $0 }
    return try DecodingSession.run(
      options.userInfo,
      open: { message throws(FormatError) in
        try message.open(bytes, maximumDepth: options.maximumDepth, options.contexts?.definitions)
        if isWhole { try message.checkDepth() }
      }, body)
  }

  /// Decodes a value from a record, a message that relies on what earlier records defined.
  ///
  /// - Parameter scope: What adding the record to the definitions returned.
  package func decode<Value: Decodable>(
    _ type: Value.Type, fromRecord record: UnsafeRawBufferPointer, relyingOn definitions: DecodingDefinitions,
    _ scope: DecodingDefinitions.Scope
  ) throws -> Value {
    try withSession(ofRecord: record, definitions, scope) { try $0.decode(type) }
  }

  /// The same, with what a template has where the record lacks it.
  package func decode<Value: Codable>(
    _ type: Value.Type, fromRecord record: UnsafeRawBufferPointer, relyingOn definitions: DecodingDefinitions,
    _ scope: DecodingDefinitions.Scope, defaults template: Value, _ strategy: DefaultsStrategy
  ) throws -> Value {
    let merge = Merge(isLenient: strategy.isLenient, maximumDepth: maximumDepth)
    return try withSession(ofRecord: record, definitions, scope) { session in
      try session.decode(by: {
        try merge.decode(type, from: $0, defaults: template) { try lendDecoder(of: template, $0) }
      })
    }
  }

  /// Opens a record to be read in parts. Its bytes are copied, and nothing is added to the definitions any more.
  package func message(
    fromRecord record: UnsafeRawBufferPointer, relyingOn definitions: DecodingDefinitions,
    _ scope: DecodingDefinitions.Scope
  ) throws -> StowMessage {
    let options = options.withLock { $0 }
    return StowMessage(
      try OpenMessage(
        ofRecord: record, userInfo: options.userInfo, maximumDepth: options.maximumDepth,
        relyingOn: definitions,
        scope))
  }

  @inline(__always)
  private func withSession<Value>(
    ofRecord record: UnsafeRawBufferPointer, _ definitions: DecodingDefinitions,
    _ scope: DecodingDefinitions.Scope, _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    let options = options.withLock { $0 }
    return try DecodingSession.run(
      options.userInfo,
      open: { message throws(FormatError) in
        try message.open(record, maximumDepth: options.maximumDepth, relyingOn: definitions, scope)
        try message.checkDepth()
      }, body)
  }
}

/// The contexts of a decoder.
final class ContextChoice: Sendable {
  let contexts: [StowContext]
  let implicit: StowContext?
  /// The same, as messages look them up.
  let definitions: DecodingContexts

  init(_ contexts: [StowContext], _ implicit: StowContext?) {
    var (distinct, named) = ([StowContext](), [UInt32: DecodingDefinitions?]())
    for context in contexts {
      if named[context.id] == nil {
        named[context.id] = .some(context.decoding)
      } else if !distinct.contains(context) {
        // Two have one id: a message that names it relies on neither.
        named[context.id] = .some(nil)
      } else {
        continue
      }
      distinct.append(context)
    }
    // A message may name it all the same.
    if let implicit, named[implicit.id] == nil { named[implicit.id] = .some(implicit.decoding) }
    self.contexts = distinct
    self.implicit = implicit
    definitions = DecodingContexts(named: named, implicit: implicit?.decoding)
  }
}
