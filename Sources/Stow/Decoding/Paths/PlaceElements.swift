/// The elements of an array, or the values of an object, one after the other.
struct PlaceElements: Sendable {
  private enum Layout {
    /// Values with their tags, up to where the array ends.
    case array(end: Int)
    /// The same behind keys.
    case map(end: Int)
    /// The same, one for each key.
    case record(end: Int)
    case packed(PackedArray)
    /// Integers whose width differs, read ahead.
    case integers([Int64])
    case rows(Columns)
    case cells(Columns, row: Int)
  }

  let place: ValuePlace
  private let layout: Layout
  /// The keys of the object; none of an array.
  let keys: [String]
  private let isObject: Bool
  /// The steps that lead on from each element.
  private(set) var steps: ArraySlice<StowPath.Step> = []
  /// The number of the next element, and where it stands among values with tags.
  private(set) var index = 0
  private var next = 0

  // MARK: opening

  /// The elements of what stands at a place, which must be an array or an object.
  init(of place: ValuePlace, _ message: Message) throws(FormatError) {
    if case .each(let elements) = place.content {
      self = elements
      return
    }
    self.place = place
    isObject = try place.kind(message.reader) == .object
    switch place.content {
    case .value(let offset): (layout, keys, next) = try Self.open(offset, place, message)
    case .row(let row, let columns, _):
      layout = .cells(columns, row: row)
      keys =
        try columns.shape.map { shape throws(FormatError) in
          try message.names(ofShape: shape)._withUnsafeGuaranteedRef { $0.names }
        } ?? []
    case .cell(_, let offset): try fail(.cellMismatch, at: offset)
    case .each: preconditionFailure("a place whose elements are known")
    }
  }

  /// The same elements, in each of which some more steps are to lead to something.
  func followed(by steps: ArraySlice<StowPath.Step>) -> PlaceElements {
    var result = self
    result.steps.append(contentsOf: steps)
    return result
  }

  private static func open(
    _ offset: Int, _ place: ValuePlace, _ message: Message
  ) throws(FormatError) -> (Layout, keys: [String], next: Int) {
    let reader = message.reader
    let tag = try reader.byte(at: offset)
    if Columns.isColumns(tag) {
      return (.rows(try Columns(reader, tables: message.tables, at: offset)), [], 0)
    }
    if PackedArray.isPacked(tag) { return (try open(PackedArray(reader, at: offset), reader), [], 0) }
    guard let object = try ObjectHeader.read(reader, at: offset) else {
      let elements = try Arrays.read(reader, at: offset)
      guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
      return (.array(end: elements.upperBound), [], elements.lowerBound)
    }
    guard place.depth < message.maximumDepth else { try fail(.tooDeep, at: offset) }
    return try open(object, message)
  }

  private static func open(_ packed: PackedArray, _ reader: ByteReader) throws(FormatError) -> Layout {
    guard packed.isInteger, packed.stride == 0 else { return .packed(packed) }
    return .integers(try packed.integers(reader))
  }

  private static func open(
    _ object: ObjectHeader, _ message: Message
  ) throws(FormatError) -> (Layout, keys: [String], next: Int) {
    let end = object.body.upperBound
    let start = object.body.lowerBound
    guard let shape = object.shape else {
      _ = try TextIndex.checkingKeys(ofMap: object.body, message)
      return (.map(end: end), try message.keys(ofMap: object.body), start)
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: start) }
    let names = try message.names(ofShape: shape)._withUnsafeGuaranteedRef { $0.names }
    guard object.isPartial else {
      guard names.count <= end - start else { try fail(.malformed, at: start) }
      return (.record(end: end), names, start)
    }
    let first = try Records.endOfPresence(message.reader, in: object.body, keyCount: names.count)
    let keys = names.indices.filter { message.reader.bit($0, at: start) }.map { names[$0] }
    guard !keys.isEmpty || first == end else { try fail(.malformed, at: first) }
    return (.record(end: end), keys, first)
  }

  // MARK: reading

  /// The bytes of the elements that are left, if these are an array of values with tags, which has to be walked over to
  /// be counted.
  var rest: Range<Int>? { if case .array(let end) = layout { next..<max(next, end) } else { nil } }

  /// The number of elements that need not be walked over to be counted.
  var count: Int {
    switch layout {
    case .array, .map, .record: keys.count
    case .packed(let packed): packed.count
    case .integers(let values): values.count
    case .rows(let columns): columns.rowCount
    case .cells(let columns, _): columns.columns.count
    }
  }

  /// Whether all elements have been read.
  var isAtEnd: Bool { rest.map(\.isEmpty) ?? (index >= count) }

  /// Returns the next element and the step that leads to it, and passes it; nil behind the last.
  mutating func next(_ message: Message) throws(FormatError) -> (StowPath.Step, ValuePlace)? {
    if isAtEnd { return nil }
    let step: StowPath.Step = isObject ? .key(keys[index]) : .index(index)
    let found: ValuePlace?
    switch layout {
    case .array(let end), .map(let end), .record(let end): found = try nextValue(before: end, message)
    case .packed, .integers, .rows, .cells: found = try element(index, message)
    }
    index += 1
    return found.map { (step, $0) }
  }

  /// Returns the element at an index, of those that stand in fixed places; nil if there is none.
  func element(_ index: Int, _ message: Message) throws(FormatError) -> ValuePlace? {
    guard index >= 0, index < count else { return nil }
    switch layout {
    case .packed(let packed):
      return place.beside(.cell(try packed.cell(message.reader, at: index), offset: place.offset))
    case .integers(let values):
      return place.beside(.cell(.integer(values[index]), offset: place.offset))
    case .rows(let columns):
      let row = columns.rows.lowerBound + index * columns.stride
      return place.beside(.row(at: row, of: columns, offset: place.offset))
    case .cells(let columns, let row):
      return place.beside(
        try ValuePlace.content(ofColumn: index, row: row, of: columns, offset: place.offset, message.reader))
    case .array, .map, .record: return nil
    }
  }

  private mutating func nextValue(before end: Int, _ message: Message) throws(FormatError) -> ValuePlace {
    var offset = next
    guard offset < end else { try fail(.malformed, at: place.offset) }
    if case .map = layout { offset = try message.tables.endOfKey(message.reader, at: offset) }
    let behind = try message.reader.end(of: offset)
    guard behind <= end else { try fail(.malformed, at: offset) }
    if isObject, index == keys.count - 1, behind != end { try fail(.malformed, at: behind) }
    next = behind
    return place.inside(at: offset)
  }
}

extension Message {
  /// Returns the keys of a map, in order.
  fileprivate func keys(ofMap map: Range<Int>) throws(FormatError) -> [String] {
    var keys: [String] = []
    var offset = map.lowerBound
    while offset < map.upperBound {
      keys.append(try keyString(at: TextLocation(offset)))
      offset = try reader.end(of: tables.endOfKey(reader, at: offset))
    }
    return keys
  }
}
