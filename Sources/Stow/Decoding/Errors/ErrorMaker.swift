extension DecodingSession {
  /// What a `FormatError` means for somebody who asked for a value of type `expected`.
  ///
  /// Kept cheap: reading a value as one type after another until one fits throws an error for each.
  @inline(never)
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> any Error {
    guard let expected, let finding = ActualKind(error, reader) else {
      return rareError(error, path: path, expected: expected)
    }
    return recurringErrors.error(expected, found: finding, at: error.offset, path: path)
  }

  /// The same for somebody who reads the value at `offset`, at a place of the path.
  @inline(never)
  func error(
    _ error: FormatError, at node: PathNode, _ offset: Int, expected: Any.Type
  ) -> any Error {
    guard pathMemo.ends(at: node) || remember(node) else {
      return self.error(error, path: codingPath(node, at: offset), expected: expected)
    }
    guard let finding = ActualKind(error, reader) else {
      return rareError(error, path: pathMemo.keys, expected: expected)
    }
    return recurringErrors.error(expected, found: finding, at: error.offset, path: pathMemo.keys)
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
    case .reserved: describeReserved(error.offset)
    case .invalidText: "the text at offset \(error.offset) is not UTF-8"
    case .repeatedKey: "the key at offset \(error.offset) repeats another of its object"
    case .mismatch: "the bytes end at offset \(error.offset)"
    case .cellMismatch: "found an element of another kind at offset \(error.offset)"
    case .unrepresentable: "the number at offset \(error.offset) does not fit"
    case .tooDeep:
      "the value at offset \(error.offset) nests deeper than \(maximumDepth) levels"
    }
  }

  private func describeReserved(_ offset: Int) -> String {
    if offset == 0, reader.count > 1, reader.base[0] == Tag.otherMessage {
      let kind = String(reader.base[1], radix: 16, uppercase: true)
      return "it is a message of kind \(kind.count == 1 ? "0" : "")\(kind), which this version does not know"
    }
    return "the tag at offset \(offset) is reserved for later versions of the format"
  }

  func keyNotFound(_ key: some CodingKey, path: [any CodingKey]) -> DecodingError {
    let description = "No value associated with key \"\(key.stringValue)\"."
    return .keyNotFound(key, DecodingError.Context(codingPath: path, debugDescription: description))
  }

  func valueNotFound(_ type: Any.Type, path: [any CodingKey], _ description: String) -> DecodingError {
    .valueNotFound(type, DecodingError.Context(codingPath: path, debugDescription: description))
  }
}
