import Stow

// Arrays whose elements have no tags: packed arrays, tables and matrices.

extension MessageWalk {
  // MARK: packed arrays

  mutating func packed(_ tag: UInt8, at offset: Int, before end: Int) throws -> Int {
    var start = offset + 1
    let length = try uint(at: &start, before: end)
    let content = content(length, at: start, from: offset, before: end)
    var type: UInt8 = 0x09
    if tag == 0x74 {
      guard !content.range.isEmpty else { throw Broken("a packed array without an element type", at: offset) }
      type = try reader.byte(at: start)
      start += 1
    }
    visitor.piece(
      offset..<start, .structure,
      "packed array of \(Words.count(length, "byte")): \(ElementWords.name(of: type))")
    let body = start..<content.upperBound
    switch type {
    case 0x0C: try bits(body)
    case 0x0D, 0x0E: try ownWidths(body, areDifferences: type == 0x0E)
    case 0xB1...0xB8: try differences(body, width: Int(type - 0xB0))
    default: try fixed(type, body, typeAt: start - 1)
    }
    try content.checkEnd()
    return content.upperBound
  }

  /// Shows a piece in a place of its own, mostly one that describes others.
  mutating func detail(
    _ bytes: Range<Int>, _ meaning: @autoclosure () -> String, _ kind: PieceKind = .structure,
    in place: Place = .part
  ) {
    visitor.enter(place)
    visitor.piece(bytes, kind, meaning())
    visitor.leave()
  }

  private mutating func fixed(_ type: UInt8, _ body: Range<Int>, typeAt place: Int) throws {
    guard let stride = ElementType.stride(of: type), ElementType.isOfArrays(type) else {
      throw Broken("an element type that arrays do not have", at: place)
    }
    var next = body.lowerBound
    let base = ElementType.isOffset(type) ? try self.base(at: &next, before: body.upperBound, .part) : 0
    var index = unwantedCount(from: next, stride: stride, before: body.upperBound)
    next += index * stride
    while stride <= body.upperBound - next {
      try stop(at: next)
      visitor.enter(.element(index))
      try cell(type, next..<(next + stride), base)
      visitor.leave()
      next += stride
      index += 1
    }
    if next < body.upperBound { throw Broken("not all of an element", at: next) }
  }

  /// Shows a cell of a row, or an element.
  private mutating func cell(_ type: UInt8, _ bytes: Range<Int>, _ base: Int64) throws {
    let cell = try Cell.read(reader, at: bytes.lowerBound, type: type, base: base)
    let isNoisy = (0x10...0x9F).contains(type) && type & 15 > 8
    let residue = isNoisy ? try reader.byte(at: bytes.upperBound - 1) : nil
    visitor.piece(bytes, ElementWords.kind(of: type), ElementWords.meaning(cell, residue: residue))
  }

  /// Reads the integer from which offsets are counted.
  private mutating func base(at offset: inout Int, before end: Int, _ place: Place) throws -> Int64 {
    let start = offset
    guard start < end else { throw Broken("no base for the offsets", at: start) }
    let tag = try reader.byte(at: start)
    guard (0x03...0x0A).contains(tag) || (0x80...0xBF).contains(tag) else {
      throw Broken("the base of offsets is no integer", at: start)
    }
    offset = try reader.end(of: start)
    guard offset <= end else { throw Broken("a base extends beyond its container", at: start) }
    let value = tag < 0x80 ? try reader.signed(at: start + 1, width: offset - start - 1) : Int64(tag) - 0x90
    detail(start..<offset, "least: \(value)", in: place)
    return value
  }

  private mutating func bits(_ body: Range<Int>) throws {
    guard let first = body.first else { throw Broken("no number of unused bits", at: body.lowerBound) }
    let unused = Int(try reader.byte(at: first))
    detail(first..<(first + 1), "\(Words.count(unused, "unused bit"))")
    guard unused < 8, body.count > 1 || unused == 0 else { throw Broken("unused bits of no byte", at: first) }
    let bytes = (first + 1)..<body.upperBound
    if bytes.isEmpty { return }
    let (room, overflow) = bytes.count.multipliedReportingOverflow(by: 8)
    guard !overflow else { throw Broken("more Bools than this machine can count", at: first) }
    let count = room - unused
    let reader = reader
    detail(bytes, Self.meaning(ofBits: count, reader, bytes), .bool)
    if unused > 0, try reader.byte(at: body.upperBound - 1) >> UInt8(8 - unused) != 0 {
      throw Broken("unused bits that are not zero", at: body.upperBound - 1)
    }
  }

  private static func meaning(ofBits count: Int, _ reader: ByteReader, _ bytes: Range<Int>) -> String {
    let shown = (0..<min(count, 24)).map { index in
      ((try? reader.byte(at: bytes.lowerBound + index / 8)) ?? 0) >> UInt8(index % 8) & 1 == 1
        ? "true" : "false"
    }
    return shown.joined(separator: " ") + (count > shown.count ? " … \(Words.number(count))" : "")
  }

  private mutating func ownWidths(_ body: Range<Int>, areDifferences: Bool) throws {
    var next = body.lowerBound
    guard !body.isEmpty else { throw Broken("no number of elements", at: next) }
    let count = try uint(at: &next, before: body.upperBound)
    guard count / 2 + count % 2 <= body.upperBound - next else {
      throw Broken("more elements than there are widths for", at: body.lowerBound)
    }
    detail(body.lowerBound..<next, "\(Words.count(count, "element"))")
    let widths = next..<(next + count / 2 + count % 2)
    let reader = reader
    if !widths.isEmpty { detail(widths, Self.meaning(ofWidths: count, reader, widths)) }
    if count % 2 == 1, try reader.byte(at: widths.upperBound - 1) >> 4 != 0 {
      throw Broken("an unused half byte that is not zero", at: widths.upperBound - 1)
    }
    next = widths.upperBound
    var sum: Int64 = 0
    for index in 0..<count {
      let width = try Self.width(index, reader, widths)
      guard width <= 8 else { throw Broken("a width of \(width)", at: widths.lowerBound + index / 2) }
      guard width <= body.upperBound - next else { throw Broken("not all of an element", at: next) }
      let value = width == 0 ? 0 : try reader.signed(at: next, width: width)
      sum &+= value
      let total = sum
      try stop(at: next)
      if isWanted(before: next + width) {
        visitor.enter(.element(index))
        if width > 0 {
          visitor.piece(
            next..<(next + width), .integer,
            areDifferences && index > 0 ? "\(value < 0 ? "" : "+")\(value): \(total)" : "\(value)")
        }
        visitor.leave()
      }
      next += width
    }
    if next < body.upperBound { throw Broken("something after the elements", at: next) }
  }

  private static func width(_ index: Int, _ reader: ByteReader, _ widths: Range<Int>) throws -> Int {
    let pair = try reader.byte(at: widths.lowerBound + index / 2)
    return Int(index % 2 == 0 ? pair & 15 : pair >> 4)
  }

  private static func meaning(ofWidths count: Int, _ reader: ByteReader, _ widths: Range<Int>) -> String {
    let shown = (0..<min(count, 32)).map { String((try? width($0, reader, widths)) ?? 0) }
    return "widths \(shown.joined(separator: " "))\(count > shown.count ? " …" : "")"
  }

  private mutating func differences(_ body: Range<Int>, width: Int) throws {
    guard let first = body.first else { throw Broken("differences without a first element", at: body.lowerBound) }
    let firstWidth = Int(try reader.byte(at: first))
    guard (1...8).contains(firstWidth) else { throw Broken("a first element of \(firstWidth) bytes", at: first) }
    detail(first..<(first + 1), "first: \(Words.count(firstWidth, "byte"))")
    var next = first + 1
    guard firstWidth <= body.upperBound - next else { throw Broken("not all of an element", at: next) }
    var sum = try reader.signed(at: next, width: firstWidth)
    let start = sum
    detail(next..<(next + firstWidth), "\(start)", .integer, in: .element(0))
    next += firstWidth
    var index = 1
    while width <= body.upperBound - next {
      let value = try reader.signed(at: next, width: width)
      sum &+= value
      let total = sum
      try stop(at: next)
      if isWanted(before: next + width) {
        detail(next..<(next + width), "\(value < 0 ? "" : "+")\(value): \(total)", .integer, in: .element(index))
      }
      next += width
      index += 1
    }
    if next < body.upperBound { throw Broken("not all of an element", at: next) }
  }

  // MARK: tables and matrices

  private struct Column {
    let type: UInt8
    /// The key, or the number of the column.
    let place: Place
    var base: Int64 = 0
  }

  mutating func columns(_ tag: UInt8, at offset: Int, before end: Int) throws -> Int {
    let isTable = tag == 0x7A
    var start = offset + 1
    let length = try uint(at: &start, before: end)
    let content = content(length, at: start, from: offset, before: end)
    visitor.piece(offset..<start, .structure, "\(isTable ? "table" : "matrix"), \(Words.count(length, "byte"))")
    var columns = try description(isTable, at: &start, before: content.upperBound)
    for index in columns.indices { try parameter(of: &columns[index], at: &start, before: content.upperBound) }
    let stride = columns.reduce(0) { $0 + (ElementType.stride(of: $1.type) ?? 0) }
    guard stride > 0 else { throw Broken("rows of no bytes", at: offset) }
    guard columns.count(where: { $0.type == 0 }) <= stride else {
      throw Broken("more constant columns than a row has bytes", at: offset)
    }
    var index = unwantedCount(from: start, stride: stride, before: content.upperBound)
    start += index * stride
    while stride <= content.upperBound - start {
      try stop(at: start)
      try row(index, columns, at: &start)
      index += 1
    }
    try content.checkEnd()
    if start < content.upperBound { throw Broken("not all of a row", at: start) }
    if index == 0 { throw Broken("no rows", at: offset) }
    return content.upperBound
  }

  /// Reads the shape of a table or the number of columns of a matrix, and the types of the columns.
  private mutating func description(_ isTable: Bool, at offset: inout Int, before end: Int) throws -> [Column] {
    let start = offset
    guard start < end else { throw Broken("no description of the columns", at: start) }
    let number = try uint(at: &offset, before: end)
    detail(start..<offset, isTable ? "shape \(number)" : "\(Words.count(number, "column"))")
    if isTable, number >= definitions.shapes.count { throw Broken("there is no shape \(number)", at: start) }
    let keys = isTable ? definitions.shapes[number] : nil
    let count = keys?.count ?? number
    guard count > 0, count <= end - offset else { throw Broken("no types for so many columns", at: start) }
    var columns: [Column] = []
    for index in 0..<count {
      let type = try reader.byte(at: offset)
      let place: Place = keys.map { .cell($0[index]) } ?? .column(index)
      detail(offset..<(offset + 1), ElementWords.name(of: type), in: isTable ? place : .part)
      guard ElementType.stride(of: type) != nil else {
        throw Broken("an element type that columns do not have", at: offset)
      }
      columns.append(Column(type: type, place: place))
      offset += 1
    }
    return columns
  }

  /// Reads the value of a constant column, or the base of offsets.
  private mutating func parameter(of column: inout Column, at offset: inout Int, before end: Int) throws {
    if ElementType.isOffset(column.type) {
      column.base = try base(at: &offset, before: end, column.place)
    } else if column.type == 0 {
      guard offset < end else { throw Broken("no value for a constant column", at: offset) }
      switch try reader.byte(at: offset) {
      case 0x00...0x18, 0x1E, 0x20...0x3F, 0x50...0x6F, 0x7C, 0x80...0xBF, 0xC0, 0xE0: break
      default: throw Broken("a constant column cannot have such a value", at: offset)
      }
      visitor.enter(column.place)
      offset = try value(at: offset, before: end, depth: 0)
      visitor.leave()
    }
  }

  private mutating func row(_ index: Int, _ columns: [Column], at offset: inout Int) throws {
    visitor.enter(.row(index))
    for column in columns {
      let size = ElementType.stride(of: column.type) ?? 0
      visitor.enter(column.place)
      if size > 0 { try cell(column.type, offset..<(offset + size), column.base) }
      visitor.leave()
      offset += size
    }
    visitor.leave()
  }
}
