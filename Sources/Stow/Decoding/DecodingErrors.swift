extension DecodingSession {
  /// What a `FormatError` means for somebody who asked for a value of type `expected`.
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> DecodingError {
    let wanted = expected.map { "Expected a value of type \($0)" } ?? "Expected a message"
    let found = describe(error)
    let context = DecodingError.Context(codingPath: path, debugDescription: "\(wanted), but \(found).")
    guard let expected else { return .dataCorrupted(context) }
    switch error.kind {
    case .mismatch:
      return reader.isNil(at: error.offset)
        ? .valueNotFound(expected, context) : .typeMismatch(expected, context)
    case .cellMismatch: return .typeMismatch(expected, context)
    default: return .dataCorrupted(context)
    }
  }

  private func describe(_ error: FormatError) -> String {
    switch error.kind {
    case .truncated: "the bytes end within the value at offset \(error.offset)"
    case .malformed: "the bytes at offset \(error.offset) break the format"
    case .reserved: "the tag at offset \(error.offset) is reserved for later versions of the format"
    case .invalidText: "the text at offset \(error.offset) is not UTF-8"
    case .mismatch: "found \(kind(at: error.offset)) at offset \(error.offset)"
    case .cellMismatch: "found an element of another kind at offset \(error.offset)"
    case .unrepresentable: "the number at offset \(error.offset) does not fit"
    case .tooDeep:
      "the value at offset \(error.offset) nests deeper than \(configuration.maximumDepth) levels"
    }
  }

  /// The kind of the value at `offset`, in words.
  private func kind(at offset: Int) -> String {
    guard let tag = try? reader.byte(at: offset) else { return "the end of the bytes" }
    switch tag {
    case Tag.null, Tag.nestedNil: return "nil"
    case Tag.false, Tag.true: return "a Bool"
    case Tag.integer...Tag.unsigned128, Tag.smallInteger...Tag.lastSmallInteger: return "an integer"
    case Tag.double...Tag.noisyDecimal, Tag.shortDecimal...Tag.lastShortDecimal:
      return "a floating-point number"
    case Tag.date, Tag.scaledDate: return "a date"
    case Tag.uuid: return "a UUID"
    case Tag.data: return "data"
    case Tag.url: return "a URL"
    case Tag.positiveDecimal, Tag.negativeDecimal: return "a decimal number"
    case Tag.string, Tag.symbol, Tag.shortString...Tag.lastShortSymbol: return "a string"
    case Tag.array, Tag.packed...Tag.matrix, Tag.shortArray..<Tag.shortRecord: return "an array"
    case Tag.map...Tag.partialRecord, Tag.shortMap..<Tag.shortArray, Tag.shortRecord...: return "an object"
    default: return "a reserved tag"
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
