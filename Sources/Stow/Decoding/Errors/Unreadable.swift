/// Marks errors, as what underlies them, that say that bytes are broken or that the stack is full: not that a value is
/// another than was asked for.
struct Unreadable: Error {}

extension DecodingError {
  var isUnreadable: Bool {
    switch self {
    case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context):
      context.underlyingError is Unreadable
    @unknown default: false
    }
  }

  /// The error of a decoder whose calls are too many within each other.
  static func tooDeep(_ reason: String, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: path, debugDescription: reason, underlyingError: Unreadable()))
  }
}
