#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that is opened once and read in parts, or a part of one.
///
/// ```swift
/// let message = try StowMessage(from: data)
/// let name = try message.decode(String.self, at: ["people", 99_000, "name"])
/// for person in try message.elements(at: ["people"]) {
///   print(try person.decode(Person.self))
/// }
/// ```
///
/// Reading a part reads only what the path passes and the part itself. Everything else is skipped by its
/// length, so faults in it are not found. <doc:Parts> says what each step costs.
///
/// A part is read like a message, by paths that begin at it. A message and its parts share the data, are
/// cheap to copy, and may be used from many threads at once.
///
/// With ``StowPath/Step/each`` in a path, all methods see an array of what the rest of the path finds.
public struct StowMessage: Sendable {
  /// A place in the message, or the reason why there is no place.
  indirect enum Origin {
    case place(PartPlace)
    case missing(any Error)
    case failed(any Error)
  }

  private let message: OpenMessage
  private let origin: Origin
  /// The path from the whole message to this part; without steps, this is the whole message.
  public let path: StowPath

  /// Opens a message.
  ///
  /// Takes time and memory in proportion to the keys and strings that values share, not to the values. For a context,
  /// `userInfo` or a limit of depth, use ``StowDecoder/message(from:)-(ContiguousBytes)``.
  ///
  /// - Parameter bytes: The message. `Data` is shared with the opened message, other bytes are copied.
  /// - Throws: `DecodingError.dataCorrupted` if its front is not valid, or its value does not end with the data.
  public init(from bytes: some ContiguousBytes) throws { self = try StowDecoder().message(from: bytes) }

  /// Opens the message in a file that is mapped into memory, so that only the requested parts are read.
  ///
  /// ```swift
  /// let message = try StowMessage(mapping: URL(filePath: "people.stow"))
  /// ```
  ///
  /// Truncating the file while the message or a part of it is in use stops the program. Replacing it atomically, as
  /// ``StowEncoder/encode(_:to:)`` does, is safe.
  ///
  /// - Throws: What ``init(from:)`` throws, and the error of the system if the file cannot be read.
  public init(mapping file: URL) throws { try self.init(from: Data(contentsOf: file, options: .alwaysMapped)) }

  init(_ message: OpenMessage, _ origin: Origin? = nil, _ path: StowPath = []) {
    self.message = message
    self.origin = origin ?? .place(message.place)
    self.path = path
  }

  // MARK: reading

  /// Decodes a part.
  ///
  /// ```swift
  /// let names = try message.decode([String].self, at: ["people", .each, "name"])
  /// ```
  ///
  /// If the path leads to nothing, because an object lacks the key, an array lacks the index, or a nil is on
  /// the way, an optional type decodes as nil. With `each`, this holds for every element.
  ///
  /// - Throws: `DecodingError.keyNotFound` or `valueNotFound` if there is nothing, and `typeMismatch` if a
  ///   step does not fit what it meets, with the path up to there; otherwise what
  ///   `StowDecoder.decode(_:from:)` throws. Coding paths begin at the whole message.
  public func decode<Value: Decodable>(_ type: Value.Type, at path: StowPath = []) throws -> Value {
    if case .missing = origin, PathWalk.readsMissing(type) {
      return try message.read { try $0.decode(type, at: .absent, PathStep(.top, parent: .top)) }
    }
    return try result(along: path) { try $0.decode(type) }
  }

  /// Returns the kind of value that a part is.
  ///
  /// ```swift
  /// let isList = try message.kind(at: ["people"]) == .array
  /// ```
  ///
  /// - Throws: As ``decode(_:at:)`` if the path leads to nothing.
  public func kind(at path: StowPath = []) throws -> StowKind { try walkToValue(along: path) { try $0.kind() } }

  /// Returns the number of elements of an array, or of keys of an object.
  ///
  /// Takes a step for each element, unless they are in a table or a packed array, or were counted before.
  ///
  /// ```swift
  /// let count = try message.count(at: ["people"])
  /// ```
  ///
  /// - Throws: As ``decode(_:at:)`` if the path leads to nothing; `DecodingError.valueNotFound` for nil, and
  ///   `typeMismatch` for other kinds.
  public func count(at path: StowPath = []) throws -> Int { try walkToValue(along: path) { try $0.count() } }

  /// Returns the keys of an object, in order.
  ///
  /// ```swift
  /// for key in try message.keys(at: ["people", 3]) { print(key) }
  /// ```
  ///
  /// - Throws: As ``count(at:)``.
  public func keys(at path: StowPath = []) throws -> [String] { try walkToValue(along: path) { try $0.keys() } }

  /// Returns whether a path leads to a value, which may be nil; with `each`, whether it does in every element.
  ///
  /// ```swift
  /// let isNamed = try message.contains(["people", 3, "name"])
  /// ```
  ///
  /// - Throws: `DecodingError.dataCorrupted` if what the path passes is not valid.
  public func contains(_ path: StowPath) throws -> Bool {
    if case .missing = origin { return false }
    do {
      return try result(along: path) { try $0.isThere && $0.isComplete() }
    } catch DecodingError.typeMismatch {
      return false
    }
  }

  // MARK: parts

  /// Returns a part as a message, for reading more than once without finding it again.
  ///
  /// ```swift
  /// let person = try message.part(at: ["people", 99_000])
  /// let name = try person.decode(String.self, at: ["name"])
  /// ```
  ///
  /// - Throws: As ``decode(_:at:)`` if the path leads to nothing.
  public func part(at path: StowPath) throws -> StowMessage {
    let place = try walkToValue(along: path) { $0.place }
    return StowMessage(message, .place(place), self.path.appending(path))
  }

  /// Returns the elements of an array or the values of an object, in order.
  ///
  /// They are found lazily, with constant memory, except for the keys of an object, and integers that a packed array
  /// holds in different widths.
  ///
  /// ```swift
  /// for person in try message.elements(at: ["people"]) {
  ///   print(try person.decode(String.self, at: ["name"]))
  /// }
  /// ```
  ///
  /// Each is a part, whose ``path`` ends with its index or its key. If the bytes between two elements are
  /// broken, the methods of the last part throw the error.
  ///
  /// - Throws: As ``count(at:)``.
  public func elements(at path: StowPath = []) throws -> Elements {
    let elements = try walkToValue(along: path) { try $0.elements() }
    return Elements(message: message, elements: elements, path: self.path.appending(path).untilEach)
  }

  // MARK: walking

  /// Walks from here along a path, as far as it leads.
  private func result<Result>(along path: StowPath, _ body: (PathWalk) throws -> Result) throws -> Result {
    try message.read { try body(walk(along: path, $0)) }
  }

  private func walk(along path: StowPath, _ session: DecodingSession) throws -> PathWalk {
    switch origin {
    case .missing(let error), .failed(let error): throw error
    case .place(let place):
      var walk = PathWalk(session, from: place, session.path.push(self.path.untilEach), marks: message.marks)
      try walk.follow(path.steps)
      return walk
    }
  }

  /// Walks along a path to a value that must exist.
  private func walkToValue<Result>(along path: StowPath, _ body: (PathWalk) throws -> Result) throws -> Result {
    try result(along: path) { walk in
      guard walk.isThere else { throw walk.missing(Any.self) }
      return try body(walk)
    }
  }
}

extension StowValue {
  /// Reads a message, whatever is in it.
  ///
  /// ```swift
  /// let name = try StowValue(from: data)["name"]?.string
  /// ```
  ///
  /// Takes time in proportion to the message; SECURITY.md says how much memory. A `StowDecoder` reads messages that
  /// rely on a context, and those that nest deeper than usual: `decoder.decode(StowValue.self, from: data)`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message.
  public init(from bytes: some ContiguousBytes) throws {
    self = try bytes.withUnsafeBytes { try StowDecoder().decode(StowValue.self, $0) }
  }

  /// Makes the value that a message of `value` would hold.
  ///
  /// ```swift
  /// var value = try StowValue(encoding: person)
  /// value["seen"] = true
  /// ```
  ///
  /// Takes time and memory in proportion to the value.
  ///
  /// - Throws: What `StowEncoder.encode(_:)` throws.
  public init(encoding value: some Encodable) throws {
    self = try StowEncoder().withEncoded(value) { try StowDecoder().decode(StowValue.self, $0) }
  }

  /// Returns the message of this value.
  ///
  /// ```swift
  /// try value.encoded().write(to: file)
  /// ```
  ///
  /// Equal values have the same message, except for the order of keys and the spelling of strings and decimal numbers,
  /// which are kept. Takes time and memory in proportion to the value.
  ///
  /// - Throws: `EncodingError.invalidValue` if the value nests more than 512 levels deep.
  public func encoded() throws -> Data { try StowEncoder().encode(self) }

  /// Decodes a value of some type from this one, as from its message.
  ///
  /// ```swift
  /// let person = try value["people"]![3]!.decode(Person.self)
  /// ```
  ///
  /// The coding paths of errors begin here. Takes time and memory in proportion to this value.
  ///
  /// - Throws: What `encoded()` and `StowDecoder.decode(_:from:)` throw.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try StowEncoder().withEncoded(self) { try StowDecoder().decode(type, from: $0) }
  }
}

extension StowMessage {
  /// The elements of an array, or the values of an object, as parts of a message.
  public struct Elements: Sequence, IteratorProtocol, Sendable {
    fileprivate let message: OpenMessage
    fileprivate var elements: PlaceElements
    /// The path to the array or object.
    fileprivate let path: StowPath
    /// Elements that were found and not returned yet, the next one last.
    fileprivate var found: [StowMessage] = []
    /// Whether the bytes before the next element are broken.
    fileprivate var isBroken = false

    /// Returns the next element; nil after the last. Takes constant time, plus that to follow the path after `each`.
    public mutating func next() -> StowMessage? {
      if found.isEmpty, !isBroken, !elements.isAtEnd { findMore() }
      return found.popLast()
    }

    /// The most elements found at a time. Opening the message takes as long as finding some of them.
    private static let mostFound = 32

    /// Finds some more elements. The last of them throws if the bytes are broken.
    private mutating func findMore() {
      var parts: [StowMessage] = []
      do {
        try message.read { session in
          while parts.count < Self.mostFound, let part = try nextPart(session) { parts.append(part) }
        }
      } catch {
        isBroken = true
        parts.append(StowMessage(message, .failed(error), path))
      }
      found = parts.reversed()
    }

    private mutating func nextPart(_ session: DecodingSession) throws -> StowMessage? {
      let mark = session.path.count
      defer { session.path.pop(to: mark) }
      let node = session.path.push(path)
      let found: (StowPath.Step, PartPlace)?
      do throws(FormatError) { found = try elements.next(session.message) } catch {
        throw session.error(error, at: node, expected: nil)
      }
      return found.map { step, place in
        let path = path.appending([step])
        if elements.steps.isEmpty { return StowMessage(message, .place(place), path) }
        let walk = PathWalk(session, from: place, session.path.push(step, from: node), marks: nil)
        return StowMessage(message, origin(walk), path.appending(StowPath(elements.steps)))
      }
    }

    /// Returns what the path after `each` leads to in an element.
    private func origin(_ walk: PathWalk) -> Origin {
      var walk = walk
      do {
        try walk.follow(elements.steps)
        return walk.isThere ? .place(walk.place) : .missing(walk.missing(Any.self))
      } catch {
        return .failed(error)
      }
    }
  }
}
