extension DecodingSession {
  /// What a `FormatError` means for somebody who asked for a value of type `expected`.
  ///
  /// Kept cheap: reading a value as one type after another until one fits makes an error for each.
  @inline(never)
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> DecodingError {
    guard let expected, error.kind == .mismatch, let tag = try? reader.byte(at: error.offset) else {
      return rareError(error, path: path, expected: expected)
    }
    let description = descriptions.description(expected, found: Self.kind(of: tag), at: error.offset)
    let context = DecodingError.Context(codingPath: path, debugDescription: description)
    return tag == Tag.null || tag == Tag.nestedNil
      ? .valueNotFound(expected, context) : .typeMismatch(expected, context)
  }

  private func rareError(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> DecodingError {
    let wanted = expected.map { "Expected a value of type \($0)" } ?? "Expected a message"
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "\(wanted), but \(describe(error))")
    if let expected, error.kind == .mismatch || error.kind == .cellMismatch {
      return .typeMismatch(expected, context)
    }
    return .dataCorrupted(context)
  }

  private func describe(_ error: FormatError) -> String {
    switch error.kind {
    case .truncated: "the bytes end within the value at offset \(error.offset)"
    case .malformed: "the bytes at offset \(error.offset) break the format"
    case .reserved: "the tag at offset \(error.offset) is reserved for later versions of the format"
    case .invalidText: "the text at offset \(error.offset) is not UTF-8"
    case .mismatch: "the bytes end at offset \(error.offset)"
    case .cellMismatch: "found an element of another kind at offset \(error.offset)"
    case .unrepresentable: "the number at offset \(error.offset) does not fit"
    case .tooDeep:
      "the value at offset \(error.offset) nests deeper than \(configuration.maximumDepth) levels"
    }
  }

  /// The kind of a value, in words.
  private static func kind(of tag: UInt8) -> StaticString {
    switch tag {
    case Tag.null, Tag.nestedNil: "nil"
    case Tag.false, Tag.true: "a Bool"
    case Tag.integer...Tag.unsigned128, Tag.smallInteger...Tag.lastSmallInteger: "an integer"
    case Tag.double...Tag.noisyDecimal, Tag.shortDecimal...Tag.lastShortDecimal: "a floating-point number"
    case Tag.date, Tag.scaledDate: "a date"
    case Tag.uuid: "a UUID"
    case Tag.data: "data"
    case Tag.url: "a URL"
    case Tag.positiveDecimal, Tag.negativeDecimal: "a decimal number"
    case Tag.string, Tag.symbol, Tag.shortString...Tag.lastShortSymbol: "a string"
    case Tag.array, Tag.packed...Tag.matrix, Tag.shortArray..<Tag.shortRecord: "an array"
    case Tag.map...Tag.partialRecord, Tag.shortMap..<Tag.shortArray, Tag.shortRecord...: "an object"
    default: "a reserved tag"
    }
  }

  func keyNotFound(_ key: some CodingKey, _ node: DecodingPath.Node) -> DecodingError {
    .keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath(node), debugDescription: "No value associated with key \"\(key.stringValue)\"."
      ))
  }

  func valueNotFound(_ type: Any.Type, path: [any CodingKey], _ description: String) -> DecodingError {
    .valueNotFound(type, DecodingError.Context(codingPath: path, debugDescription: description))
  }
}

/// The descriptions of values that are not of the type asked for.
///
/// The name of a type takes longer to find out than all else about an error, so how each description begins is
/// kept, by the type that was asked for and the kind that was found: as many as there are types that fail to
/// decode, times a dozen kinds. The offset behind it is written into the string as it is made.
struct ErrorDescriptions {
  private struct Beginning {
    let type: UnsafeRawPointer
    let kind: UnsafePointer<UInt8>
    let text: [UInt8]
  }

  private var beginnings: [Beginning] = []
  /// Where the last search ended: types are tried in turns.
  private var last = 0

  mutating func description(_ type: Any.Type, found kind: StaticString, at offset: Int) -> String {
    find(type, kind)
    let beginning = beginnings[last].text
    return String(unsafeUninitializedCapacity: beginning.count + Self.mostDigits) { buffer in
      _ = buffer.initialize(from: beginning)
      return beginning.count + Self.write(offset, to: buffer[beginning.count...])
    }
  }

  private mutating func find(_ type: Any.Type, _ kind: StaticString) {
    let identity = TypeTable<Int>.identity(type)
    for _ in beginnings.indices {
      last = last + 1 < beginnings.count ? last + 1 : 0
      if beginnings[last].type == identity, beginnings[last].kind == kind.utf8Start { return }
    }
    let text = "Expected a value of type \(type), but found \(kind) at offset "
    last = beginnings.count
    beginnings.append(Beginning(type: identity, kind: kind.utf8Start, text: Array(text.utf8)))
  }

  private static var mostDigits: Int { 20 }

  /// Writes the decimal digits of a number that is not negative, and returns how many there are.
  private static func write(_ number: Int, to buffer: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Int {
    var buffer = buffer
    var (rest, count) = (number, 1)
    while rest >= 10 { (rest, count) = (rest / 10, count + 1) }
    rest = number
    for place in stride(from: count - 1, through: 0, by: -1) {
      buffer[buffer.startIndex + place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    return count
  }
}
