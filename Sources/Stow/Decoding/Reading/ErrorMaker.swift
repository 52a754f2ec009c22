/// Turns errors of reading bytes into the errors that users see.
struct ErrorMaker: ~Copyable {
  /// The offset of a missing value: after the end of any message.
  static var nowhere: Int { .max >> 1 }

  /// The text of an error up to the offset, by the type that was requested and the name of the value found.
  ///
  /// Trying one type after another throws many errors, and finding out the name of a type takes longer than all else.
  private var beginnings: [(type: Any.Type, found: String, text: String)] = []

  /// Returns the error that users see for a `FormatError`, if a value of type `expected` was requested.
  mutating func error(
    _ error: FormatError, path: [any CodingKey], expected: Any.Type?, _ message: Message
  ) -> any Error {
    guard let expected, let found = Self.found(error, message.reader) else {
      return rareError(error, path: path, expected: expected, message)
    }
    var text = beginning(expected, found) + String(error.offset)
    let isNull = found == Self.name(.null)
    if error.offset == message.body {
      if isNull, message.reader.base[0] == MessageTables.tag { text += "; the message is that of a StowContext" }
      // A JSON object may be as long as the array that begins like it.
      if Self.endsAsObject(message) { text += Self.resemblance(message) }
    }
    let context = DecodingError.Context(codingPath: path, debugDescription: text)
    if error.kind == .unrepresentable || error.kind == .notAnInteger { return DecodingError.dataCorrupted(context) }
    return isNull ? DecodingError.valueNotFound(expected, context) : DecodingError.typeMismatch(expected, context)
  }

  /// Returns what was found in place of the requested value; nil if the error is a fault of the bytes.
  private static func found(_ error: FormatError, _ reader: ByteReader) -> String? {
    switch error.kind {
    case .mismatch where error.offset < reader.count: name(Tag.kind(of: reader.base[error.offset]))
    case .cellMismatch: "an element of another kind"
    case .unrepresentable: "a number that does not fit"
    case .notAnInteger: name(.floatingPoint)
    default: nil
    }
  }

  private static func name(_ kind: StowKind?) -> String {
    switch kind {
    case .null: "nil"
    case .bool: "a Bool"
    case .integer: "an integer"
    case .floatingPoint: "a floating-point number"
    case .string: "a string"
    case .data: "data"
    case .date: "a date"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .decimal: "a decimal number"
    case .array: "an array"
    case .object: "an object"
    case nil: "a reserved tag"
    }
  }

  private mutating func beginning(_ type: Any.Type, _ found: String) -> String {
    for known in beginnings where known.type == type && known.found == found { return known.text }
    let beginning = "Expected a value of type \(type), but found \(found) at offset "
    beginnings.append((type, found, beginning))
    return beginning
  }

  private func rareError(
    _ error: FormatError, path: [any CodingKey], expected: Any.Type?, _ message: Message
  ) -> DecodingError {
    if let expected, error.offset == Self.nowhere {
      return .noValue(of: expected, path: path, "Expected a value of type \(expected), but there is none.")
    }
    let wanted = expected.map { "Expected a value of type \($0)" } ?? "Expected a message"
    let isReadable =
      switch error.kind {
      case .unrepresentable, .notAnInteger, .cellMismatch, .several, .equalKeys, .wrongText: true
      default: false
      }
    let hint = expected == nil ? Self.resemblance(message) : ""
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "\(wanted), but \(describe(error, message))\(hint)",
      underlyingError: isReadable ? nil : Unreadable())
    guard let expected, error.kind == .mismatch || error.kind == .several else { return .dataCorrupted(context) }
    return .typeMismatch(expected, context)
  }

  /// Returns what the bytes look like, as the end of a sentence; empty if that is not known.
  private static func resemblance(_ message: Message) -> String {
    let bytes = message.reader.buffer(at: 0, count: message.reader.count)
    return Resemblance.of(bytes).map { "; these bytes look like \($0)" } ?? ""
  }

  /// Returns whether the last bytes are those of a JSON object, which may have line breaks after it.
  private static func endsAsObject(_ message: Message) -> Bool {
    let bytes = message.reader.buffer(at: 0, count: message.reader.count)
    return bytes.suffix(4).last { $0 > 0x20 } == UInt8(ascii: "}")
  }

  private func describe(_ error: FormatError, _ message: Message) -> String {
    switch error.kind {
    case .truncated where message.reader.count == 0: "there are no bytes"
    case .truncated: "the bytes end within the value at offset \(error.offset)"
    case .surplus where message.reader.count == error.offset + 1:
      "there is 1 byte after the message, at offset \(error.offset)"
    case .surplus:
      "there are \(message.reader.count - error.offset) bytes after the message, at offset \(error.offset)"
    case .malformed: "the bytes at offset \(error.offset) break the format"
    case .exceedsInt: "the number at offset \(error.offset) is larger than this machine can count"
    case .reserved: describeReserved(error.offset, message.reader)
    case .ambiguous: "it relies on a context whose id another one of the decoder has, too"
    case .invalidText: "the text at offset \(error.offset) is not UTF-8"
    case .repeatedKey: "the key at offset \(error.offset) repeats another of its object"
    case .equalKeys:
      "an object has two spellings of a key at offset \(error.offset), and a dictionary holds one of them"
    case .mismatch: "the bytes end at offset \(error.offset)"
    case .cellMismatch: "found an element of another kind at offset \(error.offset)"
    case .several: "the path leads to an array of values."
    case .unrepresentable, .notAnInteger: "the number at offset \(error.offset) does not fit"
    case .wrongText: "found \(string(at: error.offset, message)) at offset \(error.offset)"
    case .tooManyDefinitions: "the definitions at offset \(error.offset) are too many"
    case .tooDeep:
      "the value at offset \(error.offset) nests deeper than \(message.maximumDepth) levels"
    case .noRoom:
      "the value at offset \(error.offset) nests deeper than the stack of this thread has room for"
    }
  }

  /// Returns a string in quotes, unless it is long.
  private func string(at offset: Int, _ message: Message) -> String {
    var next = offset
    let text = try? String.read(message, at: offset, next: &next)
    return text.flatMap { $0.utf8.count > 40 ? nil : "the string \($0.debugDescription)" } ?? "another string"
  }

  private func describeReserved(_ offset: Int, _ reader: ByteReader) -> String {
    if offset == 0, reader.count > 1, reader.base[0] == MessageTables.otherMessage {
      if reader.base[1] == MessageTables.contextMessage, let id = try? reader.halfWord(at: 2) {
        let name = ContextMessage.text(ofID: id)
        return "it relies on the context \(name), which the decoder does not have (see its contexts)"
      }
      let kind = String(reader.base[1], radix: 16, uppercase: true)
      let meaning =
        switch reader.base[1] {
        case 2: "a log of records, which RecordLogReader of StowRecords reads"
        case 3: "a stream of records, which RecordStreamDecoder of StowRecords reads"
        default: "which this version does not know"
        }
      return "it is a message of kind \(kind.count == 1 ? "0" : "")\(kind), \(meaning)"
    }
    return "the tag at offset \(offset) is reserved for later versions of the format"
  }
}

/// What bytes that are not a message look like.
package enum Resemblance {
  private static let beginnings: [(bytes: [UInt8], name: String)] = [
    ([0x1F, 0x8B], "a gzip file"), ([0x28, 0xB5, 0x2F, 0xFD], "a Zstandard file"),
    ([0x50, 0x4B, 0x03, 0x04], "a ZIP file"), ([0xD9, 0xD9, 0xF7], "CBOR"),
    (Array("bplist00".utf8), "a binary property list"),
    (Array("SQLite format 3\0".utf8), "an SQLite database"),
    (Array("<?xml".utf8), "XML"), (Array("<html".utf8), "HTML"),
    (Array("<!DOCTYPE html".utf8), "HTML"), (Array("<!doctype html".utf8), "HTML"),
  ]

  /// Returns the name of the format that the bytes begin like; nil if that is not known.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> String? {
    if let known = beginnings.first(where: { bytes.starts(with: $0.bytes) }) { return known.name }
    let start = bytes.prefix(4096)
    let text = Array(start.lazy.filter { $0 > 0x20 }.prefix(2))
    guard text.count == 2, start.allSatisfy({ $0 >= 0x20 || (0x09...0x0D).contains($0) }) else { return nil }
    let followers = text[0] == UInt8(ascii: "{") ? "\"}" : text[0] == UInt8(ascii: "[") ? "\"[]{-0123456789tfn" : ""
    return followers.utf8.contains(text[1]) ? "JSON" : nil
  }
}
