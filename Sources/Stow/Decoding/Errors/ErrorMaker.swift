/// Makes the errors that users see of those that reading bytes throws.
struct ErrorMaker: ~Copyable {
  private var recurring = RecurringErrors()

  /// Returns what a `FormatError` means for somebody who asked for a value of type `expected`.
  ///
  /// This must be cheap: reading a value as one type after another until one fits throws an error for each.
  mutating func error(
    _ error: FormatError, path: [any CodingKey], expected: Any.Type?, _ message: Message
  ) -> any Error {
    guard let expected, let found = ActualKind(error, message.reader) else {
      return rareError(error, path: path, expected: expected, message)
    }
    return recurring.error(expected, found: found, at: error.offset, path: path)
  }

  private func rareError(
    _ error: FormatError, path: [any CodingKey], expected: Any.Type?, _ message: Message
  ) -> DecodingError {
    let wanted = expected.map { "Expected a value of type \($0)" } ?? "Expected a message"
    let isReadable =
      error.kind == .unrepresentable || error.kind == .cellMismatch || error.kind == .equalKeys
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "\(wanted), but \(describe(error, message))",
      underlyingError: isReadable ? nil : Unreadable())
    if let expected, error.kind == .mismatch || error.kind == .cellMismatch {
      return .typeMismatch(expected, context)
    }
    return .dataCorrupted(context)
  }

  private func describe(_ error: FormatError, _ message: Message) -> String {
    switch error.kind {
    case .truncated: "the bytes end within the value at offset \(error.offset)"
    case .malformed: "the bytes at offset \(error.offset) break the format"
    case .tooLarge: "the number at offset \(error.offset) is larger than this machine can count"
    case .reserved: describeReserved(error.offset, message.reader)
    case .ambiguous: "it relies on a context whose id another one of the decoder has, too"
    case .invalidText: "the text at offset \(error.offset) is not UTF-8"
    case .repeatedKey: "the key at offset \(error.offset) repeats another of its object"
    case .equalKeys:
      "the key at offset \(error.offset) is another spelling of a key of its object, and a dictionary holds one of them"
    case .mismatch: "the bytes end at offset \(error.offset)"
    case .cellMismatch: "found an element of another kind at offset \(error.offset)"
    case .unrepresentable: "the number at offset \(error.offset) does not fit"
    case .tooManyDefinitions: "the definitions at offset \(error.offset) are too many"
    case .tooDeep:
      "the value at offset \(error.offset) nests deeper than \(message.maximumDepth) levels"
    case .noRoom:
      "the value at offset \(error.offset) nests deeper than the stack of this thread has room for"
    }
  }

  private func describeReserved(_ offset: Int, _ reader: ByteReader) -> String {
    if offset == 0, reader.count > 1, reader.base[0] == MessageTables.otherMessage {
      if reader.base[1] == MessageTables.contextMessage, let id = try? reader.halfWord(at: 2) {
        let name = ContextMessage.text(ofID: id)
        return "it relies on the context \(name), which the decoder does not have (see its contexts)"
      }
      let kind = String(reader.base[1], radix: 16, uppercase: true)
      return "it is a message of kind \(kind.count == 1 ? "0" : "")\(kind), which this version does not know"
    }
    return "the tag at offset \(offset) is reserved for later versions of the format"
  }
}

extension DecodingError {
  static func noValue(for key: some CodingKey, path: [any CodingKey]) -> DecodingError {
    let description = "No value associated with key \"\(key.stringValue)\"."
    return .keyNotFound(key, DecodingError.Context(codingPath: path, debugDescription: description))
  }

  static func noValue(
    of type: Any.Type, path: [any CodingKey], _ description: String
  ) -> DecodingError {
    .valueNotFound(type, DecodingError.Context(codingPath: path, debugDescription: description))
  }

  /// Returns the error of a container that has no element left.
  static func atEnd(_ type: Any.Type, path: [any CodingKey]) -> DecodingError {
    noValue(of: type, path: path, "Unkeyed container is at end.")
  }
}
