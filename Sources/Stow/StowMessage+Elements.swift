extension StowMessage {
  /// The elements of an array, or the values of an object, as parts of a message.
  public struct Elements: Sequence, Sendable {
    let message: OpenMessage
    let elements: PlaceElements
    /// The path to the array or object.
    let path: StowPath

    /// Returns an iterator that begins at the first element.
    public func makeIterator() -> Iterator { Iterator(message: message, elements: elements, path: path) }

    /// Finds the elements one after the other.
    public struct Iterator: IteratorProtocol {
      fileprivate let message: OpenMessage
      fileprivate var elements: PlaceElements
      fileprivate let path: StowPath
      /// Elements that were found and not returned yet, the next one last.
      fileprivate var found: [StowMessage] = []
      /// Whether the bytes before the next element are broken.
      fileprivate var isBroken = false

      /// Returns the next element, or nil after the last. Takes constant time, plus the time to follow the
      /// path after `each`.
      public mutating func next() -> StowMessage? {
        if found.isEmpty, !isBroken, !elements.isAtEnd { findMore() }
        return found.popLast()
      }
    }
  }
}

extension StowMessage.Elements.Iterator {
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
      let path = path.appending(step)
      if elements.steps.isEmpty { return StowMessage(message, .place(place), path) }
      let walk = PathWalk(
        session, from: place, session.path.push(step, from: node), marks: nil)
      return StowMessage(message, origin(walk), path.appending(StowPath(elements.steps)))
    }
  }

  /// Returns what the path after `each` leads to in an element. If it leads to nothing, it may still lead to
  /// something in other elements.
  private func origin(_ walk: PathWalk) -> StowMessage.Origin {
    var walk = walk
    do {
      try walk.follow(elements.steps)
      return walk.isThere ? .place(walk.place) : .missing(walk.missing(Any.self))
    } catch {
      return .failed(error)
    }
  }
}
