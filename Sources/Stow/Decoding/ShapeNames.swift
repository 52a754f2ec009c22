/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The slot of each, once that of one was asked for.
  var slots: [KeyName: Int] = [:]
  /// The keys with these names, of the type that asked for them last: records of one shape share them.
  @exclusivity(unchecked) private var keys: AnyObject?
  @exclusivity(unchecked) private var schema: UnsafeMutableRawPointer?

  init(_ names: [String]) {
    self.names = names
    areShort = names.allSatisfy { $0.utf8.count < DecodingSession.shortestLongSymbol }
  }

  /// The keys of all names, of the type with the given schema.
  @inline(__always)
  func keys<Key: CodingKey>(_ type: Key.Type, of schema: Unmanaged<DecodingSchema>) -> [Key] {
    if let keys, self.schema == schema.toOpaque() { return unsafeDowncast(keys, to: KeyList<Key>.self).keys }
    return makeKeys(type, of: schema)
  }

  @inline(never)
  private func makeKeys<Key: CodingKey>(_ type: Key.Type, of schema: Unmanaged<DecodingSchema>) -> [Key] {
    let list = KeyList<Key>(names)
    keys = list
    self.schema = schema.toOpaque()
    return list.keys
  }
}

/// Keys of one type.
final class KeyList<Key: CodingKey> {
  let keys: [Key]

  /// Those keys that the names stand for.
  init(_ names: [String]) {
    // `compactMap`, not compiled for a key type that is known only here, takes four times as long.
    keys = [Key].filled(count: names.count) { buffer, count in
      for name in names {
        guard let key = Key(stringValue: name) else { continue }
        (buffer + count).initialize(to: key)
        count &+= 1
      }
    }
  }
}
