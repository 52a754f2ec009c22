extension DecodingSession {
  /// What a `FormatError` means for somebody who asked for a value of type `expected`.
  ///
  /// Kept cheap: reading a value as one type after another until one fits makes an error for each.
  @inline(never)
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> DecodingError {
    guard let expected, error.kind == .mismatch, let tag = try? reader.byte(at: error.offset) else {
      return rareError(error, path: path, expected: expected)
    }
    let description = descriptions.beginning(expected, found: Self.kind(of: tag)) + String(error.offset)
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

/// The beginnings of descriptions, by the type that was asked for and the kind that was found.
///
/// The name of a type takes longer to find out than all else about an error. There are as many as there are
/// types that fail to decode, times a dozen kinds.
struct ErrorDescriptions {
  private struct Pair: Hashable {
    let type: UnsafeRawPointer
    let kind: UnsafePointer<UInt8>
  }

  private var beginnings: [Pair: String] = [:]

  mutating func beginning(_ type: Any.Type, found kind: StaticString) -> String {
    let pair = Pair(type: TypeTable<Int>.identity(type), kind: kind.utf8Start)
    if let beginning = beginnings[pair] { return beginning }
    let beginning = "Expected a value of type \(type), but found \(kind) at offset "
    beginnings[pair] = beginning
    return beginning
  }
}
