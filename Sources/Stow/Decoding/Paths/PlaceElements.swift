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
