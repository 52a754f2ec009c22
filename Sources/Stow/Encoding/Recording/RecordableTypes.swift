/// The scalars as encoding knows them.
enum RecordableTypes {
  private static let scalars = Scalars.all.compactMap { $0 as? any RecordableScalar.Type }

  /// A type as the scalar that it is; nil if it is none.
  static func scalar(_ type: Any.Type) -> (any RecordableScalar.Type)? { scalars.first { $0 == type } }
}
