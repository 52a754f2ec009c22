/// The errors of values that are not of the type asked for.
///
/// Reading a value as one type after another until one fits throws an error for each, which `try?` drops at once. The
/// name of a type takes longer to find out than all else about an error, so what errors say up to the offset is stored.
struct RecurringErrors {
  private struct Kind: Hashable {
    let type: ObjectIdentifier
    let found: ActualKind
  }

  /// The description of each up to the offset: as many as there are types that fail to decode, times the kinds that
  /// there are.
  private var beginnings: [Kind: String] = [:]

  /// Returns the error of somebody who asked for a value of type `type` where one of kind `found` stands.
  mutating func error(
    _ type: Any.Type, found: ActualKind, at offset: Int, path: [any CodingKey]
  ) -> DecodingError {
    let description = beginning(type, found) + String(offset)
    let context = DecodingError.Context(codingPath: path, debugDescription: description)
    return switch found {
    case .null: .valueNotFound(type, context)
    case .misfit: .dataCorrupted(context)
    default: .typeMismatch(type, context)
    }
  }

  private mutating func beginning(_ type: Any.Type, _ found: ActualKind) -> String {
    let kind = Kind(type: ObjectIdentifier(type), found: found)
    if let known = beginnings[kind] { return known }
    let beginning = "Expected a value of type \(type), but found \(found.name) at offset "
    beginnings[kind] = beginning
    return beginning
  }
}
