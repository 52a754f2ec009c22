/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The slot of each, once that of one was asked for.
  var slots: [KeyName: Int] = [:]
  /// The keys with these names, of the type that asked for them last: records of one shape share them.
  @exclusivity(unchecked) private var keys: AnyKeyList?
  @exclusivity(unchecked) private var schema: UnsafeMutableRawPointer?

  init(_ names: [String]) {
    self.names = names
    areShort = names.allSatisfy { $0.utf8.count < DecodingSession.shortestLongSymbol }
  }

  /// The keys of all names, of the type with the given schema.
  @inline(__always)
  func keys(_ schema: Unmanaged<KeyTable>) -> AnyKeyList {
    if let keys, self.schema == schema.toOpaque() { return keys }
    return makeKeys(schema)
  }

  @inline(never)
  private func makeKeys(_ schema: Unmanaged<KeyTable>) -> AnyKeyList {
    let list = schema._withUnsafeGuaranteedRef { $0.makeKeyList(names) }
    keys = list
    self.schema = schema.toOpaque()
    return list
  }
}
