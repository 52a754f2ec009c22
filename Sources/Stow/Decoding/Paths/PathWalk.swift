/// Where a part of a message stands: all that is needed to read it, besides the message.
struct ValuePlace: Sendable {
  enum Content: Sendable {
    /// A value with its tag.
    case value(at: Int)
    /// A row or a cell.
    case element(ElementNumber, of: ElementLayout)
    /// What a path finds in each element of another place, as an array.
    indirect case each(PlaceElements)
  }

  let content: Content
  /// How many arrays, maps and records lie around it, as FORMAT.md counts them under "Depth".
  let depth: Int

  /// Where the value begins that it is, or is part of.
  var offset: Int {
    switch content {
    case .value(let offset): offset
    case .element(_, let layout): layout.offset
    case .each(let elements): elements.place.offset
    }
  }

  /// A place on the same level.
  func beside(_ content: Content) -> ValuePlace { ValuePlace(content: content, depth: depth) }

  /// The place of a value within the array, the map or the record that this is.
  func inside(at offset: Int) -> ValuePlace { ValuePlace(content: .value(at: offset), depth: depth + 1) }

  /// The place of an element of an array that this is, or of a cell of a row; the cell must be valid.
  func beside(
    _ number: ElementNumber, of layout: ElementLayout, _ reader: ByteReader
  ) throws(FormatError) -> ValuePlace {
    if let constant = layout.constant(number) { return beside(.value(at: constant)) }
    if layout.row(number) == nil { _ = try layout.cell(number, reader) }
    return beside(.element(number, of: layout))
  }

  /// Returns what kind of value stands there.
  func kind(_ reader: ByteReader) throws(FormatError) -> StowKind {
    switch content {
    case .value(let offset):
      guard let kind = StowKind(Tag.kind(of: try reader.byte(at: offset))) else {
        try fail(.reserved, at: offset)
      }
      return kind
    case .element(let number, let layout):
      if layout.row(number) != nil { return layout.columns?.shape == nil ? .array : .object }
      return switch try layout.cell(number, reader) {
      case .integer: .integer
      case .double, .singleNaN: .floatingPoint
      case .bool: .bool
      case .date: .date
      }
    case .each: return .array
    }
  }
}

extension StowKind {
  /// Nil for a reserved tag.
  fileprivate init?(_ kind: Tag.Kind) {
    switch kind {
    case .null: self = .null
    case .bool: self = .bool
    case .integer: self = .integer
    case .floatingPoint: self = .floatingPoint
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    case .url: self = .url
    case .decimal: self = .decimal
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    case .reserved: return nil
    }
  }
}

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
        if case .value(let offset) = place.content, Nils.isNil(reader, at: offset) {
          absence = .null(at: offset, expected: expected)
          return false
        }
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

  // MARK: steps

  private mutating func enter(_ key: PathKey) throws(FormatError) -> Bool {
    guard let found = try find(key) else {
      absence = .key(key)
      return false
    }
    place = found
    node = session.path.push(session.path.step(to: key, from: node))
    return true
  }

  private func find(_ key: PathKey) throws(FormatError) -> ValuePlace? {
    switch place.content {
    case .value(let offset):
      guard let object = try ObjectHeader.read(reader, at: offset) else { try fail(.mismatch, at: offset) }
      guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
      var search = KeySearch(key.stringValue, session)
      return try search.value(in: object).map { place.inside(at: $0) }
    case .element(let number, let layout):
      guard let row = layout.row(number), let shape = layout.columns?.shape else {
        try fail(.cellMismatch, at: place.offset)
      }
      guard let column = try message.keyIndex(of: key.stringValue, inShape: shape) else { return nil }
      return try place.beside(layout.cell(column, ofRowAt: row), of: layout, reader)
    case .each: try fail(.cellMismatch, at: place.offset)
    }
  }

  private mutating func enter(_ index: Int) throws(FormatError) -> Bool {
    // As `Codable` writes integers that are keys.
    if try place.kind(reader) == .object { return try enter(PathKey(intValue: index)) }
    guard let found = try element(index) else {
      absence = .index(index)
      return false
    }
    place = found
    node = session.path.push(PathStep(.index, parent: node, value: index))
    return true
  }

  private func element(_ index: Int) throws(FormatError) -> ValuePlace? {
    let elements = try PlaceElements(of: place, message)
    guard let rest = elements.rest else { return try elements.element(index, reader) }
    let walk = ArrayWalk(elements: rest, reader: reader, marks: marks)
    return try walk.element(index).map { place.inside(at: $0) }
  }

  // MARK: what is there

  /// A walk from the whole value of a session's message.
  private init(_ session: DecodingSession) {
    let top = ValuePlace(content: .value(at: session.message.body), depth: 0)
    self.init(session, from: top, session.path.push([]), marks: nil)
  }

  /// Decodes a part of a session's message.
  static func decode<Value: Decodable>(
    _ type: Value.Type, at path: StowPath, in session: DecodingSession
  ) throws -> Value {
    var walk = PathWalk(session)
    return try walk.follow(path.steps[...]) ? walk.decode(type) : walk.decodeMissing(type)
  }

  /// Decodes a part of a session's message by `make`, which is handed a decoder of it; `missing` is handed the error that
  /// says that there is none.
  static func decode<Value>(
    at path: StowPath, in session: DecodingSession, orMissing missing: (any Error) throws -> Value,
    by make: (any Decoder) throws -> Value
  ) throws -> Value {
    var walk = PathWalk(session)
    return try walk.follow(path.steps[...]) ? make(walk.decoder()) : missing(walk.missing(Value.self))
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let entry = session.types.entry(for: type)
    guard case .each(let elements) = place.content else {
      return try session.decode(type, entry, at: openPlace(), node)
    }
    if !entry.isPlain,
      let value = entry.withPlan(as: DecodingPlan<Value>.self, { try? elements.decode(by: $0, session) })
    {
      return value
    }
    return try EachDecoder(session: session, elements: elements, node: node).decode(type)
  }

  /// Returns the nil of an optional where there is nothing.
  func decodeMissing<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let none = Self.absence(of: type, session) else { throw missing(type) }
    return none
  }

  /// Returns the nil of an optional type, which stands for what is not there; nil for other types.
  static func absence<Value: Decodable>(of type: Value.Type, _ session: DecodingSession) -> Value? {
    TypeName(type).isOptional ? session.none(type) : nil
  }

  func decoder() throws -> any Decoder {
    guard case .each(let elements) = place.content else {
      return ValueDecoder(session, try openPlace(), node)
    }
    return EachDecoder(session: session, elements: elements, node: node)
  }

  /// Returns the place for decoding. Nothing in a value is decoded before its depth is known, which opening the message
  /// leaves to this.
  private func openPlace() throws -> OpenPlace {
    if case .element(let number, let layout) = place.content {
      return OpenPlace(number, of: Elements(layout, session))
    }
    try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      try message.checkDepth(ofValueAt: place.offset, within: place.depth)
    }
    return OpenPlace(at: place.offset)
  }

  var isNil: Bool {
    guard case .value(let offset) = place.content else { return false }
    return Nils.isNil(reader, at: offset)
  }

  func count() throws -> Int {
    try session.attempt(at: node, expected: [Any].self) { () throws(FormatError) in
      try PlaceElements(of: place, message).count(reader, marks)
    }
  }

  func keys() throws -> [String] {
    try session.attempt(at: node, expected: [String: Any].self) { () throws(FormatError) in
      guard try place.kind(reader) == .object else {
        if case .value(let offset) = place.content { try fail(.mismatch, at: offset) }
        try fail(.cellMismatch, at: place.offset)
      }
      return try PlaceElements(of: place, message).keys
    }
  }

  func kind() throws -> StowKind {
    try session.attempt(at: node, expected: nil) { () throws(FormatError) in try place.kind(reader) }
  }

  /// Returns the elements of the array, or the values of the object.
  func elements() throws -> PlaceElements {
    try session.attempt(at: node, expected: [Any].self) { () throws(FormatError) in
      try PlaceElements(of: place, message)
    }
  }

  /// Returns whether each of the elements has what the rest of its path asks for.
  func isComplete() throws -> Bool {
    guard case .each(var elements) = place.content else { return true }
    // Each level of arrays in arrays calls this again.
    if !session.calls.enter(maximumDepth: message.maximumDepth) {
      try session.calls.enterDue(
        maximumDepth: message.maximumDepth, EachDecoder(session: session, elements: elements, node: node))
    }
    defer { session.calls.leave() }
    let mark = session.path.count
    while let (step, element) = try session.attempt(
      at: node, expected: nil, { () throws(FormatError) in try elements.next(message) })
    {
      defer { session.path.pop(to: mark) }
      let node = session.path.push(step, from: node)
      var walk = PathWalk(session, from: element, node, marks: nil)
      guard try walk.follow(elements.steps), try walk.isComplete() else { return false }
    }
    return true
  }
}

/// Finds the value of one key in one object after the other.
struct KeySearch {
  private let name: String
  private let reader: ObjectReader
  /// The shape of the last record, and the index of the key in it.
  private var shape = -1
  private var index: Int?

  init(_ name: String, _ session: DecodingSession) {
    self.name = name
    reader = ObjectReader(session, session.types.pool(of: PathKey.self).pointee.keyTable)
  }

  /// Returns where the value stands in an object; nil if there is none.
  mutating func value(in object: ObjectHeader) throws(FormatError) -> Int? {
    try reader.open(object, .top)
    let value: Int
    if let shape = object.shape {
      if shape != self.shape {
        (index, self.shape) = (try reader.message.keyIndex(of: name, inShape: shape), shape)
      }
      value = try reader.value(at: index)
    } else {
      value = try reader.find(PathKey(name: name))
    }
    guard value >= 0 else { return nil }
    try reader.pass(value)
    return value
  }
}
