/// What an error says was found in place of a value of the type asked for.
enum ActualKind: Equatable {
  /// A value with a tag.
  case value(Tag.Kind)
  /// An element without a tag.
  case element
  /// A number that the type cannot hold.
  case misfit

  static let null = ActualKind.value(.null)
  static let count = Tag.Kind.allCases.count + 2

  /// Returns the kind of the value that could not be read as another, or nil if the error is a fault of the bytes.
  @inline(__always)
  init?(_ error: FormatError, _ reader: ByteReader) {
    switch error.kind {
    case .mismatch:
      guard error.offset < reader.count else { return nil }
      self = .value(Tag.kind(of: reader.base[error.offset]))
    case .cellMismatch: self = .element
    case .unrepresentable: self = .misfit
    default: return nil
    }
  }

  /// A number below `count`.
  var number: Int {
    switch self {
    case .value(let kind): kind.rawValue
    case .element: Self.count - 2
    case .misfit: Self.count - 1
    }
  }

  /// In words.
  var name: String {
    switch self {
    case .value(let kind): kind.name
    case .element: "an element of another kind"
    case .misfit: "a number that does not fit"
    }
  }
}
