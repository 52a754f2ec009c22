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
/// Reading a part looks at what the path passes and at the part itself; all else is skipped by its length, and a fault
/// in it is not found. So a part of a mapped file (`Data(contentsOf: file, options: .alwaysMapped)`) costs little more
/// than the pages that it is on; it stays the same only as long as the file does.
///
/// Rows of tables and elements of packed arrays of one width are found at once. In a packed array of several widths, all
/// elements are read to find one: go through ``elements(at:)``, or decode the array. Any other element of an array is
/// found by a step for each before it, the first time; the message remembers where every 128th begins.
///
/// A part is read as a message is, by paths that begin at it. A message and its parts share the data, are cheap to copy,
/// and may be used from many threads at once.
///
/// Of a path with ``StowPath/Step/each`` all methods see an array, whose elements are what the rest of the path finds.
public struct StowMessage: Sendable {
  /// What this is: a place in the message, or why there is none.
  enum Origin {
    case place(ValuePlace)
    /// Nothing is there, as this error says.
    case missing(any Error)
    case failed(any Error)
  }

  private let message: OpenMessage
  private let origin: Origin
  /// The way from the whole message to this part of it; without steps, this is the whole.
  public let path: StowPath

  /// Opens a message.
  ///
  /// Takes time and memory in proportion to the keys and strings that the message holds for all its values.
  /// ``StowDecoder/message(from:)`` opens one that relies on a context, and with other options.
  ///
  /// - Parameter bytes: The message. `Data` is shared with the opened message, other bytes are copied.
  /// - Throws: `DecodingError.dataCorrupted` if the front of the message is not valid, or its value does not end with
  ///   the data.
  public init(from bytes: some ContiguousBytes) throws { self = try StowDecoder().message(from: bytes) }

  init(_ message: OpenMessage) {
    self.message = message
    origin = .place(message.place)
    path = []
  }

  init(_ message: OpenMessage, _ origin: Origin, _ path: StowPath) {
    self.message = message
    self.origin = origin
    self.path = path
  }

  // MARK: reading

  /// Decodes a part: `try message.decode([String].self, at: ["people", .each, "name"])`.
  ///
  /// Where the path leads to nothing, because an object lacks the key, an array the index, or a nil stands on the way, an
  /// optional type is nil; with `each`, in every element.
  ///
  /// - Parameter path: From here to the part; without steps, to all of this.
  /// - Throws: `DecodingError.keyNotFound` or `valueNotFound` if there is nothing, and `typeMismatch` if a step does not
  ///   fit to what it meets, with the path so far; otherwise what `StowDecoder.decode(_:from:)` throws. Coding paths
  ///   begin at the whole message.
  public func decode<Value: Decodable>(_ type: Value.Type, at path: StowPath = []) throws -> Value {
    var value: Value?
    try walk(along: path) { walk, isThere in
      value = isThere ? try walk.decode(type) : try walk.decodeMissing(type)
    } ifMissing: {
      value = PathWalk.absence(of: type, $0)
      return value != nil
    }
    guard let value else { preconditionFailure("a walk without a value") }
    return value
  }

  /// What kind of value a part is: `try message.kind(at: ["people"]) == .array`.
  ///
  /// - Throws: As ``decode(_:at:)`` if the path leads to nothing.
  public func kind(at path: StowPath = []) throws -> StowKind {
    try walkToValue(along: path) { try $0.kind() }
  }

  /// The number of elements of an array, or of keys of an object: `try message.count(at: ["people"])`.
  ///
  /// Takes a step for each element, unless they stand in a table or a packed array, or were counted before.
  ///
  /// - Throws: As ``decode(_:at:)`` if the path leads to nothing; `DecodingError.valueNotFound` for nil, and `typeMismatch`
  ///   for other kinds.
  public func count(at path: StowPath = []) throws -> Int {
    try walkToValue(along: path) { try $0.count() }
  }

  /// The keys of an object, in order: `for key in try message.keys(at: ["people", 3]) { print(key) }`.
  ///
  /// - Throws: As ``count(at:)``.
  public func keys(at path: StowPath = []) throws -> [String] {
    try walkToValue(along: path) { try $0.keys() }
  }

  /// Whether a path leads to a value; nil is one. With `each`, whether it does in every element:
  /// `try message.contains(["people", 3, "name"])`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if what the path passes is not valid.
  public func contains(_ path: StowPath) throws -> Bool {
    var isComplete = false
    do {
      try walk(along: path) { walk, isThere in
        isComplete = try isThere && walk.isComplete()
      } ifMissing: { _ in
        true
      }
    } catch DecodingError.typeMismatch {}
    return isComplete
  }

  // MARK: parts

  /// A part as a message, for reading more than once without finding it again.
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

  /// The elements of an array or the values of an object, in order.
  ///
  /// ```swift
  /// for person in try message.elements(at: ["people"]) {
  ///   print(try person.decode(String.self, at: ["name"]))
  /// }
  /// ```
  ///
  /// They are found while they are asked for, with constant memory; but the keys of an object are read at once, and so
  /// are integers that a packed array holds in different widths. Each is a part, whose ``path`` ends with its index or its
  /// key. Where the bytes between two elements are broken, the methods of the last part throw what is wrong.
  ///
  /// - Throws: As ``count(at:)``.
  public func elements(at path: StowPath = []) throws -> Elements {
    let elements = try walkToValue(along: path) { try $0.elements() }
    return Elements(first: Elements.Iterator(message, elements, self.path.appending(path).untilEach))
  }

  // MARK: walking

  /// Walks from here along a path, and hands `body` the walk and whether there is something at the end of it. Where this
  /// part itself is nothing, `ifMissing` says whether that is no error.
  ///
  /// Not generic, and so compiled once.
  private func walk(
    along path: StowPath, _ body: (PathWalk, _ isThere: Bool) throws -> Void,
    ifMissing: (DecodingSession) -> Bool
  ) throws {
    try message.read { session in
      switch origin {
      case .failed(let error): throw error
      case .missing(let error): if !ifMissing(session) { throw error }
      case .place(let place):
        var walk = PathWalk(
          session, from: place, session.path.push(self.path.untilEach), marks: message.marks)
        let isThere = try walk.follow(path.steps[...])
        try body(walk, isThere)
      }
    }
  }

  /// The same for what must be there.
  private func walkToValue<Result>(
    along path: StowPath, _ body: (PathWalk) throws -> Result
  ) throws -> Result {
    var result: Result?
    try walk(along: path) { walk, isThere in
      guard isThere else { throw walk.missing(Any.self) }
      result = try body(walk)
    } ifMissing: { _ in
      false
    }
    guard let result else { preconditionFailure("a walk without a result") }
    return result
  }
}

extension StowMessage {
  /// The parts of a message that are the elements of an array, or the values of an object.
  public struct Elements: Sequence, Sendable {
    fileprivate let first: Iterator

    /// A walk from the first element on.
    public func makeIterator() -> Iterator { first }

    /// Finds the elements one after the other.
    public struct Iterator: IteratorProtocol, Sendable {
      fileprivate let message: OpenMessage
      fileprivate var elements: PlaceElements
      /// The way to what has the elements.
      fileprivate let path: StowPath
      /// Elements that were found and not handed out yet, the next one last.
      private var found: [StowMessage] = []
      private var isBroken = false

      fileprivate init(_ message: OpenMessage, _ elements: PlaceElements, _ path: StowPath) {
        (self.message, self.elements, self.path) = (message, elements, path)
      }

      /// Opening the message takes as long as finding some elements.
      private static var mostFound: Int { 32 }

      /// The next element; nil after the last. Takes constant time, and the time of what a path passes after `each`.
      public mutating func next() -> StowMessage? {
        if found.isEmpty, !isBroken, !elements.isAtEnd { findMore() }
        return found.popLast()
      }

      /// Finds some elements more; the last of them says if the way to the next one is broken.
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
    }
  }
}

extension StowMessage.Elements.Iterator {
  fileprivate mutating func nextPart(_ session: DecodingSession) throws -> StowMessage? {
    let mark = session.path.count
    defer { session.path.pop(to: mark) }
    let node = session.path.push(path)
    let found: (StowPath.Step, ValuePlace)?
    do throws(FormatError) { found = try elements.next(session.message) } catch {
      throw session.error(error, at: node, expected: nil)
    }
    return found.map { step, place in
      let path = path.appending(step)
      if elements.steps.isEmpty { return StowMessage(message, .place(place), path) }
      let walk = PathWalk(
        session, from: place, session.path.push(step, from: node), marks: nil)
      return StowMessage(message, origin(walk), path.appending(StowPath(elements.steps)))
    }
  }

  /// What the path after `each` leads to in an element. Where it does not, the others may all the same.
  private func origin(_ walk: PathWalk) -> StowMessage.Origin {
    var walk = walk
    do {
      return try walk.follow(elements.steps) ? .place(walk.place) : .missing(walk.missing(Any.self))
    } catch {
      return .failed(error)
    }
  }
}
