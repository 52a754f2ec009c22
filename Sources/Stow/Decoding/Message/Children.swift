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
  private let keyCount: Int
  let end: Int
  /// Where the next element is, or the next entry with its key.
  private(set) var offset: Int
  /// The number of the next child; in a record, of a key, which `peek` moves to one that has a value.
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

  /// Checks that a record has had a value for each of its keys.
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

  func name(of child: Child, _ message: Message) throws(FormatError) -> String {
    if let shape = object?.shape { return try message.names(ofShape: shape).names[child.number] }
    guard let key = child.key else { return "" }
    return try message.keyString(at: key)
  }

  /// Returns the names of the keys with values that are left.
  func names(_ message: Message) throws(FormatError) -> [String] {
    var names: [String] = []
    var rest = self
    while let child = try rest.next(message) { names.append(try rest.name(of: child, message)) }
    return names
  }

  /// Returns the most entries that may be left; in a map the exact number, because every one of many nested maps could
  /// claim all bytes.
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
