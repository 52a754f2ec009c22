/// A walk along a path through a message, from place to place. What lies before is skipped by its length.
struct PathWalk {
  /// Why there is nothing where a path leads.
  private enum Absence {
    case key(PathKey)
    case index(Int)
    /// A nil stands where a container would have to be.
    case null(at: Int, expected: Any.Type)
  }

  let session: DecodingSession
  private let marks: ElementMarks?
  private(set) var place: ValuePlace
  /// The place in the coding path.
  private(set) var node: PathNode
  private var absence: Absence?

  private var message: Message { session.message }
  private var reader: ByteReader { session.message.reader }

  init(_ session: DecodingSession, from place: ValuePlace, _ node: PathNode, marks: ElementMarks?) {
    self.session = session
    self.place = place
    self.node = node
    self.marks = marks
  }

  /// Goes on along some steps, and returns whether there is something at their end.
  ///
  /// - Throws: An error with the coding path so far, where a step does not fit or the bytes are broken.
  mutating func follow(_ steps: ArraySlice<StowPath.Step>) throws -> Bool {
    var rest = steps
    if case .each(let elements) = place.content {
      place = place.beside(.each(elements.followed(by: steps)))
      return true
    }
    while let step = rest.popFirst() {
      let expected: Any.Type = if case .key = step { [String: Any].self } else { [Any].self }
      do throws(FormatError) {
        guard try !standsAtNil(expected) else { return false }
        switch step {
        case .key(let name): guard try enter(PathKey(name: name)) else { return false }
        case .index(let index): guard try enter(index) else { return false }
        case .each:
          // Its elements are found when they are asked for.
          place = place.beside(.each(try PlaceElements(of: place, message).followed(by: rest)))
          return true
        }
      } catch {
        throw session.error(error, at: node, expected: expected)
      }
    }
    return true
  }

  /// Lends a reader of an object, which finds keys by their names.
  private func withReader<Result>(
    of object: ObjectHeader, _ body: (ObjectReader) throws(FormatError) -> Result
  ) throws(FormatError) -> Result {
    let reader = ObjectReader(
      message, session.types.pool(of: PathKey.self).takeUnretainedValue().keyTable)
    try reader.open(object, message, node)
    return try body(reader)
  }

  /// Returns the error of somebody who asked for a value of a type where there is none.
  func missing(_ type: Any.Type) -> any Error {
    switch absence {
    case .key(let key): DecodingError.noValue(for: key, path: session.codingPath(node))
    case .index(let index):
      DecodingError.noValue(
        of: type, path: session.codingPath(node) + [PathKey.index(index)],
        "The array has no element \(index).")
    case .null(let offset, let expected):
      session.error(FormatError(.mismatch, at: offset), at: node, expected: expected)
    case nil: DecodingError.noValue(of: type, path: session.codingPath(node), "There is no value.")
    }
  }

  private mutating func standsAtNil(_ expected: Any.Type) throws(FormatError) -> Bool {
    guard case .value(let offset) = place.content, Nils.isNil(reader, at: offset) else { return false }
    absence = .null(at: offset, expected: expected)
    return true
  }

  /// Goes to a place with its step of the coding path.
  private mutating func go(to place: ValuePlace, _ step: PathStep) {
    self.place = place
    node = session.path.push(step)
  }

  /// Checks that there may be a container here, which holds what comes next.
  private func checkDepth(_ offset: Int) throws(FormatError) {
    guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
  }

  // MARK: keys

  private mutating func enter(_ key: PathKey) throws(FormatError) -> Bool {
    guard let found = try find(key) else {
      absence = .key(key)
      return false
    }
    go(to: found, session.path.step(to: key, from: node))
    return true
  }

  private func find(_ key: PathKey) throws(FormatError) -> ValuePlace? {
    switch place.content {
    case .value(let offset): return try find(key, at: offset)
    case .row(let row, let columns, let offset):
      guard let shape = columns.shape else { try fail(.cellMismatch, at: offset) }
      let column = try message.keyIndex(of: key.stringValue, inShape: shape)
      guard let column else { return nil }
      return place.beside(
        try ValuePlace.content(ofColumn: column, row: row, of: columns, offset: offset, reader))
    case .cell, .each: try fail(.cellMismatch, at: place.offset)
    }
  }

  private func find(_ key: PathKey, at offset: Int) throws(FormatError) -> ValuePlace? {
    guard let object = try ObjectHeader.read(reader, at: offset) else { try fail(.mismatch, at: offset) }
    try checkDepth(offset)
    return try withReader(of: object) { objectReader throws(FormatError) in
      let value = try objectReader.find(key)
      guard value >= 0 else { return nil }
      try objectReader.pass(value, message)
      return place.inside(at: value)
    }
  }

  // MARK: indices

  private mutating func enter(_ index: Int) throws(FormatError) -> Bool {
    // As `Codable` writes integers that are keys.
    if try place.kind(reader) == .object { return try enter(PathKey(intValue: index)) }
    guard let found = try element(index) else {
      absence = .index(index)
      return false
    }
    go(to: found, PathStep(.index, parent: node, value: index))
    return true
  }

  private func element(_ index: Int) throws(FormatError) -> ValuePlace? {
    guard case .value(let offset) = place.content, Arrays.isArray(try reader.byte(at: offset)) else {
      return try PlaceElements(of: place, message).element(index, message)
    }
    try checkDepth(offset)
    let walk = ArrayWalk(elements: try Arrays.read(reader, at: offset), reader: reader, marks: marks)
    return try walk.element(index).map { place.inside(at: $0) }
  }

  // MARK: what is there

  /// Returns the number of elements or keys.
  func count() throws -> Int {
    do throws(FormatError) {
      let elements = try PlaceElements(of: place, message)
      guard let rest = elements.rest else { return elements.count }
      return try ArrayWalk(elements: rest, reader: reader, marks: marks).count()
    } catch {
      throw session.error(error, at: node, expected: [Any].self)
    }
  }

  /// Returns the keys of the object, in order.
  func keys() throws -> [String] {
    do throws(FormatError) {
      guard try place.kind(reader) == .object else {
        if case .value(let offset) = place.content { try fail(.mismatch, at: offset) }
        try fail(.cellMismatch, at: place.offset)
      }
      return try PlaceElements(of: place, message).keys
    } catch {
      throw session.error(error, at: node, expected: [String: Any].self)
    }
  }

  /// Returns what kind of value stands here.
  func kind() throws -> StowKind {
    do throws(FormatError) { return try place.kind(reader) } catch {
      throw session.error(error, at: node, expected: nil)
    }
  }

  /// Returns the elements of the array, or the values of the object.
  func elements() throws -> PlaceElements {
    do throws(FormatError) { return try PlaceElements(of: place, message) } catch {
      throw session.error(error, at: node, expected: [Any].self)
    }
  }

  /// Returns whether each of the elements has what the rest of its path asks for.
  func isComplete() throws -> Bool {
    guard case .each(var elements) = place.content else { return true }
    // Each level of arrays in arrays calls this again.
    try session.enterCall(at: node)
    defer { session.calls.leave() }
    let mark = session.path.count
    while let (step, element) = try next(&elements) {
      defer { session.path.pop(to: mark) }
      let node = session.path.push(step, from: node)
      var walk = PathWalk(session, from: element, node, marks: nil)
      guard try walk.follow(elements.steps), try walk.isComplete() else { return false }
    }
    return true
  }

  private func next(_ elements: inout PlaceElements) throws -> (StowPath.Step, ValuePlace)? {
    do throws(FormatError) { return try elements.next(message) } catch {
      throw session.error(error, at: node, expected: nil)
    }
  }
}
