/// Decodes the elements one by one.
class ArrayDecodingPlan<Element: Decodable>: DecodingPlan<[Element]> {
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
      elements = source == nil ? try Arrays.read(session.message.reader, at: offset) : 0..<0
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
    let count: Int
    do throws(FormatError) { count = try Arrays.count(elements, session.message.reader) } catch {
      throw session.error(error, at: node, expected: nil)
    }
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
