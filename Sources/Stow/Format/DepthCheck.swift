/// Bounds the nesting of a value before any of it is decoded, in values that will be skipped too.
///
/// A level of nesting takes a byte at least, so a container with fewer bytes than there are levels left
/// needs no look inside: only long containers are walked, from element to element, without recursion.
struct DepthCheck {
  private struct Level {
    let end: Int
    let hasKeys: Bool
  }

  private let reader: ByteReader
  private let limit: Int
  private var outer: [Level] = []
  private var level: Level

  /// Checks that the value at `offset` nests at most `limit` containers.
  static func run(_ reader: ByteReader, tables: borrowing MessageTables, from offset: Int, limit: Int)
    throws(FormatError)
  {
    let end = try reader.end(of: offset)
    if end - offset <= limit { return }
    var check = DepthCheck(reader: reader, limit: limit, level: Level(end: end, hasKeys: false))
    try check.walk(tables, from: offset)
  }

  private init(reader: ByteReader, limit: Int, level: Level) {
    self.reader = reader
    self.limit = limit
    self.level = level
  }

  private mutating func walk(_ tables: borrowing MessageTables, from body: Int) throws(FormatError) {
    var offset = body
    while true {
      if offset == level.end {
        guard let next = outer.popLast() else { return }
        level = next
        continue
      }
      if level.hasKeys {
        offset = try tables.endOfKey(reader, at: offset)
      } else if let string = Strings.withShortHeader(reader, at: offset) {
        let next = string.start &+ string.count
        guard next <= level.end else { try fail(.malformed, at: offset) }
        offset = next
        continue
      }
      let next = try reader.end(of: offset)
      guard next <= level.end else { try fail(.malformed, at: offset) }
      // Too small to nest deeper than the levels that are left.
      if next - offset <= limit - outer.count {
        offset = next
        continue
      }
      guard let inner = try content(at: offset, tables: tables, end: next) else {
        offset = next
        continue
      }
      guard outer.count < limit else { try fail(.tooDeep, at: offset) }
      if next - inner.start <= limit - outer.count - 1 {
        offset = next
        continue
      }
      outer.append(level)
      level = Level(end: next, hasKeys: inner.hasKeys)
      offset = inner.start
    }
  }

  /// Where the elements of the container at `offset` begin; nil for a value that holds no others.
  private func content(
    at offset: Int, tables: borrowing MessageTables, end: Int
  ) throws(FormatError) -> (start: Int, hasKeys: Bool)? {
    let tag = reader.base[offset]
    if Arrays.isArray(tag) { return (try Arrays.read(reader, at: offset).lowerBound, false) }
    guard let object = try ObjectHeader.read(reader, at: offset) else { return nil }
    guard let shape = object.shape, object.isPartial else {
      return (object.body.lowerBound, object.shape == nil)
    }
    guard shape < tables.shapeCount else { try fail(.malformed, at: offset) }
    let start = object.body.lowerBound + Records.presenceSize(tables.keyCount(ofShape: shape))
    guard start <= end else { try fail(.malformed, at: offset) }
    return (start, false)
  }
}
