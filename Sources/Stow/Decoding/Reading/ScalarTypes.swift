/// The scalars as decoding knows them.
enum ScalarTypes {
  private static let scalars = Scalars.all.compactMap { $0 as? any ReadableScalar.Type }

  /// Returns a type as the scalar that it is, or nil if it is none.
  static func scalar(_ type: Any.Type) -> (any ReadableScalar.Type)? { scalars.first { $0 == type } }
}
