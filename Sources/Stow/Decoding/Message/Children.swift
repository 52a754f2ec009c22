import Synchronization

/// The values within an array, a map or a record, one after the other.
///
///     array               value  value  …
///     map            key  value  key  value  …
///     record    [bits]    value  value  …        the keys are those of the shape, or those whose bit is set
struct Children: Sendable {
  struct Child {
    /// Where the key is; nil in an array.
    let key: TextLocation?
    /// The number of the element or the entry; in a record, that of its key in the shape.
    let number: Int
    let value: Int
  }

  /// Nil if this is an array.
  let object: ObjectHeader?
  /// The number of keys in the shape of a record.
  private let keyCount: Int
  let end: Int
  /// Where the next element is, or the next entry with its key.
  private(set) var offset: Int
  /// The number of the next child; in a record, of the next key that may have a value.
  private(set) var number = 0

  /// Makes the children of the value at `offset`; nil if it is not an array, map or record.
  init?(of offset: Int, _ message: Message) throws(FormatError) {
    if Arrays.isArray(try message.reader.byte(at: offset)) {
      self.init(nil, try Arrays.read(message.reader, at: offset))
    } else if let object = try ObjectHeader.read(message.reader, at: offset) {
      try self.init(object, message)
    } else {
      return nil
    }
  }

  init(_ object: ObjectHeader, _ message: Message) throws(FormatError) {
    guard let shape = object.shape else {
      self.init(object, object.body)
      return
    }
    guard shape < message.tables.shapeCount else { try fail(.malformed, at: object.body.lowerBound) }
    self.init(object, object.body, keyCount: message.tables.keyCount(ofShape: shape))
    guard object.isPartial else { return }
    offset = try Records.endOfPresence(message.reader, in: object.body, keyCount: keyCount)
  }

  init(ofMap body: Range<Int>) { self.init(ObjectHeader(shape: nil, isPartial: false, body: body), body) }

  private init(_ object: ObjectHeader?, _ body: Range<Int>, keyCount: Int = 0) {
    self.object = object
    self.keyCount = keyCount
    (offset, end) = (body.lowerBound, body.upperBound)
  }

  /// The entries of a map; nil for an array or a record.
  var map: Range<Int>? { object?.shape == nil ? object?.body : nil }

  /// Returns the next child, or nil after the last; then a record must have had a value for each of its keys.
  @inline(__always)
  mutating func next(_ message: Message) throws(FormatError) -> Child? {
    guard let child = try peek(message) else {
      try checkEnd(message)
      return nil
    }
    try pass(child, to: message.reader.end(of: child.value))
    return child
  }

  /// Returns the next child, which may go beyond its container.
  @inline(__always)
  mutating func nextUnchecked(_ message: Message) throws(FormatError) -> Child? {
    guard let child = try peek(message) else { return nil }
    offset = try message.reader.end(of: child.value)
    number &+= 1
    return child
  }

  /// Returns the next child without moving past it.
  @inline(__always)
  mutating func peek(_ message: Message) throws(FormatError) -> Child? {
    if offset >= end { return nil }
    var key: TextLocation?
    var value = offset
    if let shape = object?.shape {
      number = nextKey(message.reader)
      guard number < keyCount else { try fail(.malformed, at: offset) }
      key = message.tables.key(number, ofShape: shape)
    } else if object != nil {
      key = TextLocation(offset)
      value = try message.tables.endOfKey(message.reader, at: offset)
    }
    return Child(key: key, number: number, value: value)
  }

  /// Moves past the child that `peek` returned, which ends at `next`.
  @inline(__always)
  mutating func pass(_ child: Child, to next: Int) throws(FormatError) {
    guard next <= end else { try fail(.malformed, at: child.value) }
    offset = next
    number &+= 1
  }

  /// Checks, after the last child, that a record has had a value for each of its keys.
  func checkEnd(_ message: Message) throws(FormatError) {
    guard nextKey(message.reader) >= keyCount else { try fail(.malformed, at: offset) }
  }

  /// Returns the first key of the shape from `number` on that has a value, or the number of keys.
  private func nextKey(_ reader: ByteReader) -> Int {
    guard let object, object.isPartial else { return number }
    var key = number
    while key < keyCount, !reader.bit(key, at: object.body.lowerBound) { key &+= 1 }
    return key
  }

  // MARK: names

  func name(of child: Child, _ message: Message) throws(FormatError) -> String {
    if let shape = object?.shape {
      return try message.names(ofShape: shape).names[child.number]
    }
    guard let key = child.key else { return "" }
    return try message.keyString(at: key)
  }

  /// Returns the names of all keys that are left, each of which has a value.
  func names(_ message: Message) throws(FormatError) -> [String] {
    var names: [String] = []
    var rest = self
    while let child = try rest.next(message) { names.append(try rest.name(of: child, message)) }
    return names
  }

  /// Returns the most entries that may be left; in a map the exact number, which takes a step for each.
  ///
  /// An estimate by the bytes would let every one of many nested maps claim them all.
  func count(_ message: Message) throws(FormatError) -> Int {
    guard object?.shape == nil else { return min(keyCount, end - offset) }
    var (count, next) = (0, offset)
    while next < end {
      next = try message.reader.end(of: message.tables.endOfKey(message.reader, at: next))
      count &+= 1
    }
    return count
  }
}

/// Where elements of the long arrays of an open message begin, at regular intervals, as far as walks have
/// come.
///
/// An array does not store where its elements are, so finding one takes a walk over those before it. With
/// marks the next walk begins near its end. An element takes at least a byte, and arrays that are shorter
/// than an interval have no marks, so marks take less memory than the message.
///
///     elements   0 … 127   128 … 255   256 … 383   384 …
///     marks                ^ 0         ^ 1         ^ 2
final class ElementMarks: Sendable {
  static let interval = 128

  /// Where the elements of each array begin whose numbers are multiples of the interval, by where its first one begins.
  private let arrays = Mutex<[Int: [Int]]>([:])

  /// Passes the marks of an array to `walk`, which may add some. Other threads wait until it returns.
  func withMarks<Result: Sendable>(
    ofArrayAt first: Int, _ walk: (inout [Int]) throws(FormatError) -> Result
  ) throws(FormatError) -> Result {
    try arrays.withLock { arrays throws(FormatError) in
      // They are taken out, so that adding one does not copy all.
      var marks = arrays.removeValue(forKey: first) ?? [first]
      defer { if marks.count > 1 { arrays[first] = marks } }
      return try walk(&marks)
    }
  }
}

/// Walks over the elements of an array, with marks if there are some.
struct ArrayWalk {
  let elements: Range<Int>
  let reader: ByteReader
  let marks: ElementMarks?

  /// Returns where the element with a number begins, or nil.
  func element(_ number: Int) throws(FormatError) -> Int? {
    guard number >= 0 else { return nil }
    let (found, offset) = try walk(to: number)
    guard found == number, offset < elements.upperBound else { return nil }
    guard try reader.end(of: offset) <= elements.upperBound else { try fail(.malformed, at: offset) }
    return offset
  }

  func count() throws(FormatError) -> Int { try walk(to: .max).number }

  /// Moves to the element with a number, or to the end if that comes first.
  private func walk(to number: Int) throws(FormatError) -> (number: Int, offset: Int) {
    let first = elements.lowerBound
    guard let marks, number >= ElementMarks.interval else {
      var marks = [first]
      return try walk(to: number, &marks)
    }
    return try marks.withMarks(ofArrayAt: first) { marks throws(FormatError) in
      try walk(to: number, &marks)
    }
  }

  private func walk(
    to number: Int, _ marks: inout [Int]
  ) throws(FormatError) -> (number: Int, offset: Int) {
    let mark = min(number / ElementMarks.interval, marks.count - 1)
    var (current, offset) = (mark * ElementMarks.interval, marks[mark])
    while current < number, offset < elements.upperBound {
      let next = try reader.end(of: offset)
      guard next <= elements.upperBound else { try fail(.malformed, at: offset) }
      offset = next
      current += 1
      if current == marks.count * ElementMarks.interval, offset < elements.upperBound {
        marks.append(offset)
      }
    }
    return (current, offset)
  }
}
