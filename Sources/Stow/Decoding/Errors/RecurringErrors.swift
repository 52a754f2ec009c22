/// The errors of values that are not of the type asked for.
///
/// Reading a value as one type after another until one fits throws an error for each, which `try?` drops at once. The
/// name of a type takes longer to find out than all else about an error, so what errors say up to the offset is stored.
struct RecurringErrors: ~Copyable {
  /// The row of each type that failed to decode.
  private var rows = TypeTable<Int>()
  /// The descriptions up to the offset, in rows of one for each kind that may be found.
  private var beginnings: [String?] = []

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
    let index = row(of: type) + found.number
    if let known = beginnings[index] { return known }
    let beginning = "Expected a value of type \(type), but found \(found.name) at offset "
    beginnings[index] = beginning
    return beginning
  }

  private mutating func row(of type: Any.Type) -> Int {
    let identity = TypeTable<Int>.identity(type)
    if let row = rows[identity] { return row }
    let row = beginnings.count
    beginnings += [String?](repeating: nil, count: ActualKind.count)
    rows.insert(row, for: identity)
    return row
  }
}
