/// The place of a value to decode in an open session: at an offset of the message, with its tag, or among elements without
/// tags.
struct OpenPlace {
  /// The elements without tags that this belongs to.
  let elements: Elements?
  /// The offset in the message, or the bits of the number among the elements.
  let position: Int

  init(_ elements: Elements?, _ position: Int) {
    self.elements = elements
    self.position = position
  }

  init(at offset: Int) { self.init(nil, offset) }

  /// The place of an element, or of the single value of its column.
  init(_ number: ElementNumber, of elements: Elements) {
    if let offset = elements.layout.constant(number) {
      self.init(nil, offset)
    } else {
      self.init(elements, number.bits)
    }
  }

  /// The place of a missing value, which reads like a nil: after the end of any message, where every read fails, and errors
  /// know the offset.
  static var absent: OpenPlace { OpenPlace(at: ErrorMaker.nowhere) }

  /// Where a value with a tag is; nil for an element.
  var tagged: Int? { elements == nil ? position : nil }

  var number: ElementNumber { ElementNumber(bits: position) }

  /// Whether this is the array of the values that a path finds in each of some elements.
  var isEach: Bool { elements?.isEach == true }

  /// Where the value begins.
  var offset: Int { elements.map { $0.layout.offset(of: number) } ?? position }

  /// Returns how many levels of optionals are around the nil at this place; nil if there is another value.
  func levelOfNil(_ message: Message) -> Int? {
    guard elements == nil else { return nil }
    if Nils.isNil(message.reader, at: position) { return Nils.level(message.reader, at: position) }
    return position == Self.absent.position ? 0 : nil
  }

  @inline(never)
  func read<Value: ReadableScalar>(_ type: Value.Type, _ message: Message) throws(FormatError) -> Value {
    if let elements { return try elements.read(type, number, message) }
    var next = position
    return try Value.read(message, at: position, next: &next)
  }
}

/// Elements without tags that values belong to.
///
/// What a path finds is such an array, too: `each` finds its elements, whose place is that of the whole
/// array.
class Elements {
  final let layout: ElementLayout
  /// Whether these are what a path finds in each of other elements.
  final let isEach: Bool
  /// The shape of rows that are objects.
  final let shape: Int?
  final var count: Int { layout.count }

  init(_ layout: ElementLayout, isEach: Bool) {
    self.layout = layout
    self.isEach = isEach
    shape = layout.columns?.shape
  }

  /// Returns the cells of the array at a place; nil if it has other elements, or if there is no array.
  func run(_ number: ElementNumber, _ message: Message) throws(FormatError) -> CellRun? {
    layout.run(ofRow: number)
  }

  final func read<Value: ReadableScalar>(
    _ type: Value.Type, _ number: ElementNumber, _ message: Message
  ) throws(FormatError) -> Value {
    if let (column, row) = layout.column(number) {
      return try Value.readCell(message, column, inRowAt: row)
    }
    return try Value.read(layout.cell(number, message.reader), at: layout.offset(of: number))
  }

  /// Fails because an element is not a row with keys.
  @inline(never)
  final func failAsRow(_ number: ElementNumber) throws(FormatError) -> Never {
    try fail(isEach ? .several : .cellMismatch, at: layout.offset(of: number))
  }

  final func column(_ keyIndex: Int) throws(FormatError) -> Columns.Column {
    guard let columns = layout.columns?.columns, keyIndex < columns.count else {
      try fail(.malformed, at: layout.arrayOffset)
    }
    return columns[keyIndex]
  }
}
