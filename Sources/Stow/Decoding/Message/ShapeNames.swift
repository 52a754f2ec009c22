/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The index of each, once that of one was asked for.
  var indices: [KeyName: Int] = [:]
  /// The keys with these names, of the type that asked for them last: records of one shape share them.
  private var keys: AnyKeyList?
  private var keyTable: UnsafeMutableRawPointer?

  init(_ names: [String]) {
    self.names = names
    areShort = names.allSatisfy { $0.utf8.count < LongSymbols.shortest }
  }

  /// Returns the keys of all names, of the type that `keyTable` is of.
  @inline(__always)
  func keys(_ keyTable: Unmanaged<DecodingKeyTable>) -> AnyKeyList {
    if let keys, self.keyTable == keyTable.toOpaque() { return keys }
    return makeKeys(keyTable)
  }

  @inline(never)
  private func makeKeys(_ keyTable: Unmanaged<DecodingKeyTable>) -> AnyKeyList {
    let list = keyTable._withUnsafeGuaranteedRef { $0.makeKeyList(names) }
    keys = list
    self.keyTable = keyTable.toOpaque()
    return list
  }
}
