/// The place of a part of a message. Unlike an `OpenPlace`, it belongs to no session, and may be kept.
struct PartPlace: Sendable {
  enum Content: Sendable {
    /// A value with its tag.
    case value(at: Int)
    /// A row or a cell.
    case element(ElementNumber, of: ElementLayout)
    /// What a path finds in each element of another place, as an array.
    indirect case each(PlaceElements)
  }

  let content: Content
  /// How many arrays, maps and records are around it, as FORMAT.md counts them under "Depth".
  let depth: Int

  /// Where the value begins, or the one in whose elements a path finds values.
  var offset: Int {
    switch content {
    case .value(let offset): offset
    case .element(let number, let layout): layout.offset(of: number)
    case .each(let elements): elements.place.offset
    }
  }

  func atSameDepth(_ content: Content) -> PartPlace { PartPlace(content: content, depth: depth) }

  /// Returns the place of a value within this array, map or record.
  func inside(at offset: Int) -> PartPlace { PartPlace(content: .value(at: offset), depth: depth + 1) }

  /// Returns the place of an element of this array, or of a cell of this row, after reading the cell.
  func atSameDepth(
    _ number: ElementNumber, of layout: ElementLayout, _ reader: ByteReader
  ) throws(FormatError) -> PartPlace {
    if let constant = layout.constant(number) { return atSameDepth(.value(at: constant)) }
    if layout.row(number) == nil { _ = try layout.cell(number, reader) }
    return atSameDepth(.element(number, of: layout))
  }

  func kind(_ reader: ByteReader) throws(FormatError) -> StowKind {
    switch content {
    case .value(let offset):
      guard let kind = Tag.kind(of: try reader.byte(at: offset)) else { try fail(.reserved, at: offset) }
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

/// A walk along a path through a message, from place to place. Everything before is skipped by its length.
struct PathWalk {
  /// Why a path leads to nothing.
  private enum Absence {
    case key(PathKey)
    case index(Int)
    /// There is a nil in place of a container.
    case null(at: Int, expected: Any.Type)
  }

  let session: DecodingSession
  private let marks: ElementMarks?
  private(set) var place: PartPlace
  private(set) var node: PathNode
  private var absence: Absence?
  /// Whether the walk has come to something.
  var isThere: Bool { absence == nil }

  private var message: Message { session.message }
  private var reader: ByteReader { session.message.reader }

  init(_ session: DecodingSession, from place: PartPlace, _ node: PathNode, marks: ElementMarks?) {
    self.session = session
    self.place = place
    self.node = node
    self.marks = marks
  }

  init(_ session: DecodingSession, along path: StowPath) throws {
    let top = PartPlace(content: .value(at: session.message.body), depth: 0)
    self.init(session, from: top, session.path.push([]), marks: nil)
    try follow(path.steps)
  }

  /// Continues along some steps, as far as they lead to something.
  mutating func follow(_ steps: [StowPath.Step]) throws {
    if case .each(let elements) = place.content {
      place = place.atSameDepth(.each(elements.followed(by: steps)))
      return
    }
    for index in steps.indices {
      let step = steps[index]
      let expected: Any.Type = if case .key = step { [String: Any].self } else { [Any].self }
      do throws(FormatError) {
        if case .value(let offset) = place.content, Nils.isNil(reader, at: offset) {
          absence = .null(at: offset, expected: expected)
          return
        }
        switch step {
        case .key(let name): try enter(PathKey(name: name))
        case .index(let index): try enter(index)
        case .each:
          // Its elements are found when they are asked for.
          place = place.atSameDepth(.each(try PlaceElements(of: place, message).followed(by: steps, from: index + 1)))
          return
        }
      } catch {
        throw session.error(error, at: node, expected: expected)
      }
      if !isThere { return }
    }
  }

  /// Returns the error of a request for a value of a type where there is nothing.
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

  private mutating func enter(_ key: PathKey) throws(FormatError) {
    if let found = try find(key) {
      place = found
      node = session.path.push(session.path.step(to: key, from: node))
    } else {
      absence = .key(key)
    }
  }

  private func find(_ key: PathKey) throws(FormatError) -> PartPlace? {
    switch place.content {
    case .value(let offset):
      guard let object = try ObjectHeader.read(reader, at: offset) else { try fail(.mismatch, at: offset) }
      guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
      let search = session.nameReader
      defer { search.finish() }
      try search.open(object, at: offset, .top)
      guard let value = try search.find(name: key.stringValue) else { return nil }
      try search.pass(value)
      return place.inside(at: search.place(value).offset)
    case .element(let number, let layout):
      guard let row = layout.row(number), let shape = layout.columns?.shape else {
        try fail(.cellMismatch, at: place.offset)
      }
      guard let column = try message.keyIndex(of: key.stringValue, inShape: shape) else { return nil }
      return try place.atSameDepth(layout.cell(column, ofRowAt: row), of: layout, reader)
    case .each: try fail(.cellMismatch, at: place.offset)
    }
  }

  private mutating func enter(_ index: Int) throws(FormatError) {
    // `Codable` writes integer keys like this.
    if try place.kind(reader) == .object { return try enter(PathKey(intValue: index)) }
    if let found = try PlaceElements(of: place, message).element(index, reader, marks) {
      place = found
      node = session.path.push(PathStep(.index, parent: node, value: index))
    } else {
      absence = .index(index)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, session.plan(of: type), at: openPlace(for: type), node)
  }

  /// Returns the place for decoding a value of a type, after checking its depth, which opening the message does not.
  ///
  /// - Parameter mayBeAbsent: Whether a missing value may be read as nil, as for an optional.
  func openPlace(for type: Any.Type, mayBeAbsent: Bool = false) throws -> OpenPlace {
    guard isThere else {
      guard mayBeAbsent || Self.readsMissing(type) else { throw missing(type) }
      return .absent
    }
    return try session.attempt(at: node, expected: nil) { () throws(FormatError) in
      switch place.content {
      case .value(let offset):
        try message.checkDepth(ofValueAt: offset, within: place.depth)
        return OpenPlace(at: offset)
      case .element(let number, let layout): return OpenPlace(number, of: OpenElements(layout, session))
      case .each(let elements):
        let layout = ElementLayout(found: try elements.count(reader), inArrayAt: elements.place.offset)
        return OpenPlace(.element(0), of: EachWalk(elements, layout, session))
      }
    }
  }

  /// Returns whether a type decodes a missing value as nil: an optional, or what is decoded as one.
  static func readsMissing(_ type: Any.Type) -> Bool {
    ((type as? any DecodableWrapper.Type)?.wrapped ?? type) is any AnyOptional.Type
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

  func elements() throws -> PlaceElements {
    try session.attempt(at: node, expected: [Any].self) { () throws(FormatError) in
      try PlaceElements(of: place, message)
    }
  }

  /// Returns whether the rest of the path leads to something in each of the elements.
  func isComplete() throws -> Bool {
    guard case .each(var elements) = place.content else { return true }
    // Each level of arrays in arrays calls this again.
    return try session.nest(ValueDecoder(session, OpenPlace(at: place.offset), node)) { _ in
      let mark = session.path.count
      while let (step, element) = try session.attempt(
        at: node, expected: nil, { () throws(FormatError) in try elements.next(message) })
      {
        defer { session.path.pop(to: mark) }
        let node = session.path.push(step, from: node)
        var walk = PathWalk(session, from: element, node, marks: nil)
        try walk.follow(elements.steps)
        guard try walk.isThere && walk.isComplete() else { return false }
      }
      return true
    }
  }
}

/// A type that is decoded as the one it wraps, and so as nil where a path leads to nothing if that is an optional.
protocol DecodableWrapper {
  static var wrapped: Any.Type { get }
}

/// The elements of an array, or the values of an object, one after the other.
struct PlaceElements: Sendable {
  private enum Source: Sendable {
    /// Whole values.
    case values(Children)
    /// Elements without tags, or the cells of a row.
    case elements(ElementLayout)
  }

  let place: PartPlace
  private var source: Source
  /// The keys of the object; empty for an array.
  let keys: [String]
  private let isObject: Bool
  /// The steps to follow from each element.
  private(set) var steps: [StowPath.Step] = []
  private(set) var index = 0

  init(of place: PartPlace, _ message: Message) throws(FormatError) {
    let isObject = try place.kind(message.reader) == .object
    switch place.content {
    case .value(let offset):
      if let children = try Children(of: offset, message) {
        guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
        if let map = children.map { _ = try message.checkKeys(ofMap: map) }
        source = .values(children)
        keys = isObject ? try children.names(message) : []
      } else {
        guard ElementLayout.isArray(try message.reader.byte(at: offset)),
          let layout = try ElementLayout(message, at: offset)
        else { try fail(.mismatch, at: offset) }
        source = .elements(layout)
        keys = []
      }
    case .element(let number, let layout):
      guard let cells = layout.cells(ofRow: number) else { try fail(.cellMismatch, at: place.offset) }
      source = .elements(cells)
      keys = if let shape = cells.columns?.shape { try message.names(ofShape: shape).names } else { [] }
    case .each(let elements):
      self = elements
      return
    }
    self.place = place
    self.isObject = isObject
  }

  /// Returns the same elements, with some more steps to follow in each.
  func followed(by steps: [StowPath.Step], from first: Int = 0) -> PlaceElements {
    var result = self
    for index in first..<steps.count { result.steps.append(steps[index]) }
    return result
  }

  /// The bytes of the remaining elements of an array of values with tags, which must be walked over to be counted.
  private var rest: Range<Int>? {
    guard case .values(let children) = source, !isObject else { return nil }
    return children.offset..<max(children.offset, children.end)
  }

  /// The number of elements that need not be walked over to be counted.
  private var knownCount: Int { if case .elements(let layout) = source { layout.count } else { keys.count } }

  /// Returns the number of elements. Must be called before any is passed.
  func count(_ reader: ByteReader, _ marks: ElementMarks? = nil) throws(FormatError) -> Int {
    guard let rest else { return knownCount }
    return try ArrayWalk(elements: rest, reader: reader, marks: marks).count()
  }

  var isAtEnd: Bool { rest.map(\.isEmpty) ?? (index >= knownCount) }

  /// Returns the next element and the step that leads to it, and moves past it; nil after the last.
  mutating func next(_ message: Message) throws(FormatError) -> (StowPath.Step, PartPlace)? {
    if isAtEnd { return nil }
    let step: StowPath.Step = isObject ? .key(keys[index]) : .index(index)
    let found: PartPlace
    switch source {
    case .values(var children):
      guard let child = try children.next(message) else { try fail(.malformed, at: place.offset) }
      if isObject, index == keys.count - 1, children.offset != children.end {
        try fail(.malformed, at: children.offset)
      }
      source = .values(children)
      found = place.inside(at: child.value)
    case .elements(let layout): found = try place.atSameDepth(.element(index), of: layout, message.reader)
    }
    index += 1
    return (step, found)
  }

  /// Returns the element of an array at an index, if there is one.
  func element(_ index: Int, _ reader: ByteReader, _ marks: ElementMarks?) throws(FormatError) -> PartPlace? {
    if let rest { return try ArrayWalk(elements: rest, reader: reader, marks: marks).element(index).map(place.inside) }
    guard case .elements(let layout) = source, index >= 0, index < layout.count else { return nil }
    return try place.atSameDepth(.element(index), of: layout, reader)
  }

  /// Returns the cells of the column that the path leads to in each row; nil for other elements.
  func run(_ message: Message) throws(FormatError) -> CellRun? {
    guard case .elements(let layout) = source, let columns = layout.columns, steps.count == 1 else { return nil }
    switch steps.first {
    case .key(let name):
      guard let shape = columns.shape, let column = try message.keyIndex(of: name, inShape: shape) else { return nil }
      return layout.run(ofColumn: column)
    case .index(let column) where columns.shape == nil: return layout.run(ofColumn: column)
    default: return nil
    }
  }
}

/// Finds what a path leads to in each of some elements, in one after the other.
final class EachWalk: OpenElements {
  private let elements: PlaceElements
  /// The elements after the one that was found last.
  private var rest: PlaceElements
  private var last: (step: StowPath.Step, place: PartPlace)?

  init(_ elements: PlaceElements, _ layout: ElementLayout, _ session: DecodingSession) {
    self.elements = elements
    rest = elements
    super.init(layout, session, isEach: true)
  }

  override func run(_ number: ElementNumber, _ message: Message) throws(FormatError) -> CellRun? {
    try elements.run(message)
  }

  override func place(
    of index: Int, for type: Any.Type, mayBeAbsent: Bool, _ node: PathNode
  ) throws -> (OpenPlace, PathNode) {
    if index < rest.index - 1 { (rest, last) = (elements, nil) }
    while rest.index <= index {
      last = try session.attempt(at: node, expected: nil) { () throws(FormatError) in
        try rest.next(session.message)
      }
      if last == nil { break }
    }
    guard let (step, place) = last else {
      throw session.error(FormatError(.malformed, at: elements.place.offset), at: node, expected: nil)
    }
    var walk = PathWalk(session, from: place, session.path.push(step, from: node), marks: nil)
    try walk.follow(elements.steps)
    return (try walk.openPlace(for: type, mayBeAbsent: mayBeAbsent), walk.node)
  }
}
