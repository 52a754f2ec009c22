/// The header of a map or a record: which shape it has, if any, and where its body stands.
struct ObjectHeader {
  /// Nil for a map, whose keys stand before its values.
  let shape: Int?
  /// Whether the body begins with a bit for every key of the shape.
  let isPartial: Bool
  let body: Range<Int>
}
