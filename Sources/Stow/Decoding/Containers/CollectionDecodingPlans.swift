// Optionals, arrays and dictionaries, decoded without their own `init(from:)`: a call, a container and an
// existential are saved for every element.

extension Optional: PlannedDecodable where Wrapped: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan { OptionalDecodingPlan<Wrapped>() }
}

/// Tells a nil of its own from one of the optional inside, which `Optional.init(from:)` cannot.
private final class OptionalDecodingPlan<Wrapped: Decodable>: DecodingPlan<Wrapped?> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> Wrapped? {
    if session.message.reader.isNil(at: offset) {
      return inner(level: session.message.reader.nilLevel(at: offset), session)
    }
    return try session.decodeKnown(Wrapped.self, session.types.entry(for: Wrapped.self), at: offset, node)
  }

  override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> Wrapped? {
    try source.session.decode(Wrapped.self, element, of: source, at: node)
  }

  override func none(level: Int, _ session: DecodingSession) -> Wrapped?? {
    .some(inner(level: level, session))
  }

  /// Returns what a nil stands for: nil if it is this optional's own, or a value that holds it further inside.
  private func inner(level: Int, _ session: DecodingSession) -> Wrapped? {
    level == 0 ? nil : session.none(Wrapped.self, level: level - 1)
  }
}

extension Array: PlannedDecodable where Element: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    switch ValueKind(Element.self) {
    case .int: IntArrayPlan()
    case .int8: IntegerArrayPlan<Int8>()
    case .int16: IntegerArrayPlan<Int16>()
    case .int32: IntegerArrayPlan<Int32>()
    case .int64: IntegerArrayPlan<Int64>()
    case .uint: IntegerArrayPlan<UInt>()
    case .uint8: IntegerArrayPlan<UInt8>()
    case .uint16: IntegerArrayPlan<UInt16>()
    case .uint32: IntegerArrayPlan<UInt32>()
    case .uint64: IntegerArrayPlan<UInt64>()
    case .double: DoubleArrayPlan()
    case .string: StringArrayPlan()
    default: ArrayDecodingPlan<Element>()
    }
  }
}

/// Decodes the elements one by one.
private class ArrayDecodingPlan<Element: Decodable>: DecodingPlan<[Element]> {
  final override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> [Element] {
    guard case .array(let row) = element else { return try super.decode(element, of: source, node) }
    return try array(row: row, of: source, node)
  }

  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [Element] {
    let elements: Range<Int>
    let source: SessionElements?
    do throws(FormatError) {
      source = try SessionElements.at(offset, session)
      elements = source == nil ? try session.message.reader.array(at: offset) : 0..<0
    } catch {
      throw session.error(error, at: node, expected: [Element].self)
    }
    if let source { return try array(of: source, node) }
    if elements.isEmpty { return [] }
    let entry = session.types.entry(for: Element.self)
    return try build(elements, session, node) { offset, step in
      entry.kind == .plain
        ? try session.decodePlain(Element.self, ValueDecoder(session: session, offset: offset, node: step))
        : try session.decodeKnown(Element.self, entry, at: offset, step)
    }
  }

  /// Decodes element after element; `decode` is handed where each stands, and its step.
  @inline(__always)
  final func build(
    _ elements: Range<Int>, _ session: DecodingSession, _ node: PathNode,
    _ decode: (Int, PathNode) throws -> Element
  ) throws -> [Element] {
    let mark = session.path.count
    var step = session.path.push(PathStep(.index, parent: node))
    defer { session.path.pop(to: mark) }
    let count = try Self.count(elements, session, node)
    return try .filled(count: count) { first, initialized in
      var offset = elements.lowerBound
      for index in 0..<count {
        step = session.path.setIndex(index, at: step)
        (first + index).initialize(to: try decode(offset, step))
        initialized = index &+ 1
        do throws(FormatError) { offset = try session.message.reader.end(of: offset) } catch {
          throw session.error(error, at: node, expected: nil)
        }
      }
    }
  }

  /// Returns how many elements there are, which takes a step for each.
  static func count(_ elements: Range<Int>, _ session: DecodingSession, _ node: PathNode) throws
    -> Int
  {
    do throws(FormatError) {
      var count = 0
      var offset = elements.lowerBound
      while offset < elements.upperBound {
        offset = try session.message.reader.end(of: offset)
        count &+= 1
      }
      guard offset == elements.upperBound else { try fail(.malformed, at: offset) }
      return count
    } catch {
      throw session.error(error, at: node, expected: nil)
    }
  }

  /// Decodes the elements without tags of `source`.
  func array(of source: SessionElements, _ node: PathNode) throws -> [Element] {
    let session = source.session
    let entry = session.types.entry(for: Element.self)
    let mark = session.path.count
    var step = session.path.push(PathStep(.index, parent: node))
    defer { session.path.pop(to: mark) }
    return try .filled(count: source.count) { first, initialized in
      for index in 0..<source.count {
        step = session.path.setIndex(index, at: step)
        if entry.kind == .plain, let row = source.object(at: index) {
          (first + index).initialize(
            to: try session.decodePlain(Element.self, RowDecoder(source: source, row: row, node: step)))
        } else {
          let element = try self.element(index, of: source, step)
          (first + index).initialize(to: try session.decode(Element.self, element, of: source, at: step))
        }
        initialized = index &+ 1
      }
    }
  }

  private func element(
    _ index: Int, of source: SessionElements, _ node: PathNode
  ) throws -> ElementSource.Element {
    do throws(FormatError) {
      return try source.element(at: index, source.session.message.reader)
    } catch {
      throw source.session.error(error, at: node, expected: Element.self)
    }
  }

  /// Decodes a row of a matrix.
  func array(row: Int, of source: SessionElements, _ node: PathNode) throws -> [Element] {
    guard let cells = source.cells(ofRow: row) else { return [] }
    return try array(of: cells, node)
  }
}

/// Arrays of integers: packed ones, and those whose elements all fit, are read at once.
private class IntegerArrayPlan<Element: FixedWidthInteger & Decodable>: ArrayDecodingPlan<Element> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [Element] {
    try integers(at: offset, session, node) ?? super.decode(at: offset, from: session, node)
  }

  /// Reads all elements; nil if they are to be decoded one by one.
  func integers(
    at offset: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Element]? {
    try readAll(at: offset, session, node)
  }

  @inline(__always)
  final func readAll(
    at offset: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Element]? {
    do throws(FormatError) {
      let tag = try session.message.reader.byte(at: offset)
      if tag == Tag.data, Element.self == UInt8.self {
        let range = try session.message.reader.data(at: offset)
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
    return Self.readEach(at: offset, session)
  }

  /// Reads the elements of an array without a form of its own; nil if one does not fit, which decoding them one by one
  /// will report with its index.
  @inline(__always)
  private static func readEach(at offset: Int, _ session: DecodingSession) -> [Element]? {
    do throws(FormatError) {
      let message = session.message
      let elements = try message.reader.array(at: offset)
      var result: [Element] = []
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var next = elements.lowerBound
      while next < elements.upperBound {
        result.append(try message.integer(Element.self, at: next, next: &next))
      }
      return next == elements.upperBound ? result : nil
    } catch {
      return nil
    }
  }

  /// Reads packed elements; nil if one does not fit, which decoding them one by one will report with its index.
  @inline(__always)
  private final func read(_ packed: PackedArray, _ reader: ByteReader) throws(FormatError) -> [Element]? {
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
  private final func array(
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

/// Arrays of `Int`, compiled for them.
private final class IntArrayPlan: IntegerArrayPlan<Int> {
  override func integers(
    at offset: Int, _ session: DecodingSession, _ node: PathNode
  ) throws -> [Int]? {
    try readAll(at: offset, session, node)
  }
}

/// Arrays of `Double`: packed ones, and the rows of a matrix, are read at once.
private final class DoubleArrayPlan: ArrayDecodingPlan<Double> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [Double] {
    do throws(FormatError) {
      if PackedArray.isPacked(try session.message.reader.byte(at: offset)) {
        let packed = try PackedArray(session.message.reader, at: offset)
        if let result = read(packed, session.message.reader) { return result }
      }
    } catch {
      throw session.error(error, at: node, expected: [Double].self)
    }
    return try super.decode(at: offset, from: session, node)
  }

  /// Reads packed elements; nil if one is no floating-point number, which decoding them one by one will convert.
  private func read(_ packed: PackedArray, _ reader: ByteReader) -> [Double]? {
    guard packed.stride > 0 else { return nil }
    var isComplete = true
    let result = [Double].filled(count: packed.count) { target, initialized in
      do throws(FormatError) {
        try packed.readDoubles(reader, into: target)
        initialized = packed.count
      } catch {
        isComplete = false
      }
    }
    return isComplete ? result : nil
  }

  override func array(row: Int, of source: SessionElements, _ node: PathNode) throws -> [Double] {
    guard let columns = source.columns?.columns else { return [] }
    let reader = source.session.message.reader
    var isComplete = true
    let result = [Double].filled(count: columns.count) { target, initialized in
      for index in columns.indices {
        let column = columns[index]
        guard column.type != ElementType.constant else {
          isComplete = false
          return
        }
        do throws(FormatError) {
          target[index] = try reader.doubleCell(at: row &+ Int(column.offset), type: column.type)
        } catch {
          isComplete = false
          return
        }
        initialized = index &+ 1
      }
    }
    return isComplete ? result : try super.array(row: row, of: source, node)
  }
}

/// Arrays of strings, without a plan and a step of the path for every element.
private final class StringArrayPlan: ArrayDecodingPlan<String> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [String] {
    let elements: Range<Int>
    do throws(FormatError) { elements = try session.message.reader.array(at: offset) } catch {
      // Arrays of another form hold no strings; the usual way reports that.
      return try super.decode(at: offset, from: session, node)
    }
    var result: [String] = []
    do throws(FormatError) {
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var offset = elements.lowerBound
      let message = session.message
      let reader = message.reader
      while offset < elements.upperBound {
        if let bytes = reader.shortHeaderString(at: offset) {
          result.append(try reader.string(at: bytes.start, count: bytes.count))
          offset = bytes.start &+ bytes.count
        } else {
          result.append(try message.string(at: offset, next: &offset))
        }
      }
      guard offset == elements.upperBound else { try fail(.malformed, at: offset) }
      return result
    } catch {
      let step = PathStep(.index, parent: node, value: result.count)
      throw session.error(error, path: session.codingPath(step, of: node), expected: String.self)
    }
  }
}
