/// What an error says was found in place of a value of the type asked for.
struct ActualKind: Equatable {
  /// That of a value in `Tag.kinds`; behind them are the others.
  let number: Int

  private static let reserved = Tag.kinds.count
  /// An element without a tag.
  private static let element = ActualKind(number: reserved + 1)
  /// A number that the type cannot hold.
  static let misfit = ActualKind(number: reserved + 2)
  static let null = ActualKind(number: Tag.kindNumbers[Int(Nils.tag)])
  static let count = misfit.number + 1

  private init(number: Int) { self.number = number }

  /// Returns the kind of the value that could not be read as another, or nil if the error is a fault of the bytes.
  @inline(__always)
  init?(_ error: FormatError, _ reader: ByteReader) {
    switch error.kind {
    case .mismatch:
      guard error.offset < reader.count else { return nil }
      number = Tag.kindNumbers[Int(reader.base[error.offset])]
    case .cellMismatch: self = .element
    case .unrepresentable: self = .misfit
    default: return nil
    }
  }

  /// In words.
  var name: String {
    switch self {
    case .element: "an element of another kind"
    case .misfit: "a number that does not fit"
    default: number == Self.reserved ? "a reserved tag" : Tag.kinds[number].name
    }
  }
}
