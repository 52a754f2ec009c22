import Stow

// Values: scalars, arrays, maps and records.

extension MessageWalk {
  /// Walks over the value at `offset`, which must end before `end`. Returns the offset after it.
  mutating func value(at offset: Int, before end: Int, depth: Int) throws -> Int {
    guard offset < end else { throw Broken("the bytes end where a value should be", at: offset) }
    if let end = try self.end(ofUnwanted: offset, before: end) { return end }
    let tag = try reader.byte(at: offset)
    switch tag {
    case 0x70, 0xE0...0xEF: return try array(tag, at: offset, before: end, depth)
    case 0x71, 0xC0...0xDF: return try map(tag, at: offset, before: end, depth)
    case 0x72, 0x73, 0xF0...0xFF: return try record(tag, at: offset, before: end, depth)
    case 0x74, 0x75: return try packed(tag, at: offset, before: end)
    case 0x7A, 0x7B: return try columns(tag, at: offset, before: end)
    case 0x1A: return try url(at: offset, before: end)
    case 0x1D, 0x30...0x4F: return try string(tag, at: offset, before: end)
    case 0x1E, 0x50...0x6F: return try symbol(tag, at: offset, before: end)
    default: return try scalar(tag, at: offset, before: end)
    }
  }

  private func enterContainer(at offset: Int, _ depth: Int) throws {
    guard depth < Self.maximumDepth else {
      throw Broken("more than \(Self.maximumDepth) levels of nesting", at: offset)
    }
  }

  // MARK: scalars

  private mutating func scalar(_ tag: UInt8, at offset: Int, before limit: Int) throws -> Int {
    let end = try reader.end(of: offset)
    guard end <= limit else { throw Broken("a value extends beyond its container", at: offset) }
    if tag == 0x14 || tag == 0x15 || tag == 0x17 {
      let scale = try reader.byte(at: offset + 1)
      guard (1...6).contains(scale & 15), scale >> 4 <= 9 else { throw Broken("no valid scale byte", at: offset + 1) }
    }
    if tag == 0x19 {
      var start = offset + 1
      let length = try reader.length(at: &start)
      visitor.piece(offset..<end, .data, "data, \(Words.count(length, "byte"))")
      return end
    }
    let reader = reader
    if tag == 0x1B || tag == 0x1C, Scalars.value(reader, offset..<end) == nil {
      throw Broken("a decimal number that is not valid", at: offset)
    }
    visitor.piece(offset..<end, Scalars.kind(tag), Scalars.meaning(reader, offset..<end))
    if Visitor.seeksFlaws, !Flaws.isCanonical(reader, offset..<end) {
      visitor.flaw(at: offset, "a value in a form that is not its shortest")
    }
    return end
  }

  private mutating func string(_ tag: UInt8, at offset: Int, before end: Int) throws -> Int {
    var start = offset + 1
    let length = tag == 0x1D ? try uint(at: &start, before: end) : Int(tag - 0x30)
    if tag == 0x1D, length < 32 { visitor.flaw(at: offset, Flaws.longTag) }
    let content = content(length, at: start, from: offset, before: end)
    let reader = reader
    visitor.piece(
      offset..<content.upperBound, .string,
      "string of \(Words.count(length, "byte")): \(Scalars.beginning(reader, content.range))")
    try content.checkEnd()
    if visitor.wanted == nil, let fault = UTF8Check.fault(reader, content.range) {
      throw Broken("not UTF-8", at: fault)
    }
    return content.upperBound
  }

  private mutating func symbol(_ tag: UInt8, at offset: Int, before end: Int) throws -> Int {
    var next = offset + 1
    let number = tag == 0x1E ? try uint(at: &next, before: end) : Int(tag - 0x50)
    guard number < definitions.symbols.count else { throw Broken("there is no symbol \(number)", at: offset) }
    if tag == 0x1E, number < 32 { visitor.flaw(at: offset, Flaws.longTag) }
    let string = definitions.symbols[number]
    visitor.piece(offset..<next, .symbol, "symbol \(number): \(Words.quoted(string, 60))")
    return next
  }

  private mutating func url(at offset: Int, before end: Int) throws -> Int {
    visitor.piece(offset..<(offset + 1), .url, "URL")
    guard offset + 1 < end else { throw Broken("the bytes end where a string should be", at: offset + 1) }
    let tag = try reader.byte(at: offset + 1)
    visitor.enter(.part)
    defer { visitor.leave() }
    switch tag {
    case 0x1D, 0x30...0x4F: return try string(tag, at: offset + 1, before: end)
    case 0x1E, 0x50...0x6F: return try symbol(tag, at: offset + 1, before: end)
    default: throw Broken("the value of a URL is no string", at: offset + 1)
    }
  }

  // MARK: containers

  private mutating func array(_ tag: UInt8, at offset: Int, before end: Int, _ depth: Int) throws -> Int {
    let content = try openContainer("array", tag, shortTags: 0xE0...0xEF, at: offset, before: end, depth)
    var next = content.lowerBound
    var index = 0
    while next < content.upperBound {
      if let end = try self.end(ofUnwanted: next, before: content.upperBound) {
        next = end
        index += 1
        continue
      }
      visitor.enter(.element(index))
      next = try value(at: next, before: content.upperBound, depth: depth + 1)
      visitor.leave()
      index += 1
    }
    try content.checkEnd()
    return next
  }

  private mutating func map(_ tag: UInt8, at offset: Int, before end: Int, _ depth: Int) throws -> Int {
    let content = try openContainer("map", tag, shortTags: 0xC0...0xDF, at: offset, before: end, depth)
    var next = content.lowerBound
    var known = Definitions.Keys()
    visitor.enter(.part)
    while next < content.upperBound {
      if let end = try self.end(ofUnwantedEntry: next, before: content.upperBound) {
        next = end
        continue
      }
      let name = try key(at: &next, before: content.upperBound, .key, &known)
      visitor.enter(.entry(name))
      next = try value(at: next, before: content.upperBound, depth: depth + 1)
      visitor.leave()
    }
    try content.checkEnd()
    visitor.leave()
    return next
  }

  /// Returns the content of an array or a map, and shows its header.
  ///
  /// - Parameter shortTags: The tags that include the length.
  private mutating func openContainer(
    _ name: String, _ tag: UInt8, shortTags: ClosedRange<UInt8>, at offset: Int, before end: Int, _ depth: Int
  ) throws -> Content {
    try enterContainer(at: offset, depth)
    var start = offset + 1
    let isShort = shortTags.contains(tag)
    let length = isShort ? Int(tag - shortTags.lowerBound) : try uint(at: &start, before: end)
    if !isShort, length < shortTags.count { visitor.flaw(at: offset, Flaws.longTag) }
    let content = content(length, at: start, from: offset, before: end)
    visitor.piece(offset..<start, .structure, "\(name) of \(Words.count(length, "byte"))")
    return content
  }

  private mutating func record(_ tag: UInt8, at offset: Int, before end: Int, _ depth: Int) throws -> Int {
    try enterContainer(at: offset, depth)
    let isPartial = tag == 0x73 || tag >= 0xF8
    var start = offset + 1
    let shape = tag >= 0xF0 ? Int(tag & 7) : try uint(at: &start, before: end)
    if tag < 0xF0, shape < 8 { visitor.flaw(at: offset, Flaws.longTag) }
    let length = try uint(at: &start, before: end)
    let content = content(length, at: start, from: offset, before: end)
    visitor.piece(
      offset..<start, .structure,
      "\(isPartial ? "partial record" : "record") of shape \(shape), \(Words.count(length, "byte"))")
    guard shape < definitions.shapes.count else { throw Broken("there is no shape \(shape)", at: offset) }
    var next = start
    var keys = definitions.shapes[shape]
    if isPartial { keys = try present(keys, at: &next, before: content.upperBound) }
    for key in keys {
      visitor.enter(.field(key))
      guard next < content.upperBound else { throw Broken("no value for the key \(Words.quoted(key, 20))", at: next) }
      next = try value(at: next, before: content.upperBound, depth: depth + 1)
      visitor.leave()
    }
    try content.checkEnd()
    if next < content.upperBound { throw Broken("a value without a key", at: next) }
    return next
  }

  /// Returns the keys that have a value, by the presence bits at `offset`.
  private mutating func present(_ keys: [String], at offset: inout Int, before end: Int) throws -> [String] {
    let bits = offset..<(offset + (keys.count + 7) / 8)
    guard bits.upperBound <= end else { throw Broken("no room for the presence bits", at: offset) }
    var present: [String] = []
    for index in keys.indices where try reader.byte(at: offset + index / 8) >> UInt8(index % 8) & 1 == 1 {
      present.append(keys[index])
    }
    detail(bits, "present: \(present.map { Words.quoted($0, 20) }.joined(separator: ", "))")
    if keys.count % 8 != 0, try reader.byte(at: bits.upperBound - 1) >> UInt8(keys.count % 8) != 0 {
      throw Broken("a presence bit without a key", at: bits.upperBound - 1)
    }
    offset = bits.upperBound
    if present.count == keys.count { visitor.flaw(at: bits.lowerBound, "a partial record that lacks no key") }
    return present
  }
}

/// Checks whether bytes are UTF-8 without making a string of them: a long one would take as much memory again.
enum UTF8Check {
  /// Returns where the first bytes are that are not UTF-8; nil if all are.
  static func fault(_ reader: ByteReader, _ bytes: Range<Int>) -> Int? {
    var iterator = bytes.lazy.map { (try? reader.byte(at: $0)) ?? 0 }.makeIterator()
    var (parser, offset) = (Unicode.UTF8.ForwardParser(), bytes.lowerBound)
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .error: return offset
      case .emptyInput: return nil
      }
    }
  }
}

/// What canonical writers do not write (Format/Canonical.md).
enum Flaws {
  static let longTag = "a number beside a tag that has room for it"

  /// Returns whether a scalar is written as in a message of its own.
  static func isCanonical(_ reader: ByteReader, _ bytes: Range<Int>) -> Bool {
    if let tag = try? reader.byte(at: bytes.lowerBound), Scalars.kind(tag) == .decimal {
      return isCanonicalDecimal(reader, bytes)
    }
    guard let message = try? Scalars.value(reader, bytes)?.encoded() else { return true }
    return message.elementsEqual(bytes.lazy.map { (try? reader.byte(at: $0)) ?? 0 })
  }

  /// Returns whether a decimal number is canonical. Digits are not reduced: 12.50 and 12.5 have different
  /// bytes, and both are canonical. A `StowValue` may not keep the difference.
  private static func isCanonicalDecimal(_ reader: ByteReader, _ bytes: Range<Int>) -> Bool {
    guard let length = try? reader.byte(at: bytes.lowerBound + 1),
      let last = try? reader.byte(at: bytes.upperBound - 1)
    else { return false }
    return Int(length) == bytes.count - 2 && (length == 1 || last != 0)
  }
}
