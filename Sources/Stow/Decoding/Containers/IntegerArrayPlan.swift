/// Arrays of integers: packed ones, and those whose elements all fit, are read at once.
final class IntegerArrayPlan<Element: FixedWidthInteger & ReadableScalar>: ArrayDecodingPlan<Element> {
  /// Reads all elements; nil if they are to be decoded one by one.
  private let readAll: (_ offset: Int, DecodingSession, PathNode) throws -> [Element]?

  @inline(__always)
  override init() { readAll = { try Self.readAll(at: $0, $1, $2) } }

  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [Element] {
    try readAll(offset, session, node) ?? super.decode(at: offset, from: session, node)
  }

  @inline(__always)
  private static func readAll(
    at offset: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Element]? {
    do throws(FormatError) {
      let tag = try session.message.reader.byte(at: offset)
      if tag == DataValues.tag, Element.self == UInt8.self {
        let range = try DataValues.read(session.message.reader, at: offset)
        let bytes = [UInt8](session.message.reader.buffer(at: range.lowerBound, count: range.count))
        return reinterpret(bytes, as: [Element].self)
      }
      if PackedArray.isPacked(tag) {
        let packed = try PackedArray(session.message.reader, at: offset)
        return packed.isInteger ? try read(packed, session.message.reader) : nil
      }
    } catch {
      throw session.error(error, at: node, expected: [Element].self)
    }
    return readEach(at: offset, session)
  }

  /// Reads the elements of an array without a form of its own; nil if one does not fit, which decoding them one by one
  /// will report with its index.
  @inline(__always)
  private static func readEach(at offset: Int, _ session: DecodingSession) -> [Element]? {
    do throws(FormatError) {
      let message = session.message
      let elements = try Arrays.read(message.reader, at: offset)
      var result: [Element] = []
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var next = elements.lowerBound
      while next < elements.upperBound {
        result.append(try Element.read(message, at: next, next: &next))
      }
      return next == elements.upperBound ? result : nil
    } catch {
      return nil
    }
  }

  /// Reads packed elements; nil if one does not fit, which decoding them one by one will report with its index.
  @inline(__always)
  private static func read(_ packed: PackedArray, _ reader: ByteReader) throws(FormatError) -> [Element]? {
    if Element.self == Int64.self || (Element.self == Int.self && Int.bitWidth == 64) {
      return try array(packed) { target throws(FormatError) in
        try target.withMemoryRebound(to: Int64.self, capacity: packed.count) { rebound throws(FormatError) in
          try packed.readIntegers(reader, into: rebound)
        }
      }
    }
    let wide = UnsafeMutablePointer<Int64>.allocate(capacity: max(1, packed.count))
    defer { wide.deallocate() }
    try packed.readIntegers(reader, into: wide)
    for index in 0..<packed.count where Element(exactly: wide[index]) == nil { return nil }
    return try array(packed) { target throws(FormatError) in
      for index in 0..<packed.count { target[index] = Element(truncatingIfNeeded: wide[index]) }
    }
  }

  @inline(__always)
  private static func array(
    _ packed: PackedArray, _ fill: (UnsafeMutablePointer<Element>) throws(FormatError) -> Void
  ) throws(FormatError) -> [Element] {
    var failure: FormatError?
    let result = [Element].filled(count: packed.count) { target, initialized in
      do throws(FormatError) {
        try fill(target)
        initialized = packed.count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return result
  }
}
