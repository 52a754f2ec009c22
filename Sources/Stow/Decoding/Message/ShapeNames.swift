/// The names of the keys of a shape, for key types that are known by their strings.
final class ShapeNames {
  let names: [String]
  let areShort: Bool
  /// The same for the objects of `StowValue`, which share them.
  private(set) lazy var objectKeys = ObjectKeys(names)
  /// The keys of the last partial records, by the presence bits that stand for them.
  private var partialKeys: [UInt64: ObjectKeys] = [:]

  /// More than these are not kept, as a shape may be known for long.
  private static let mostPartial = 64
  /// Where each is, once that of one was asked for.
  var index: TextIndex?
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

  /// Returns the names of which `isPresent` is true.
  ///
  /// - Parameter bits: What it is for all of them; nil for names that are too many for that.
  func objectKeys(presence bits: UInt64?, _ isPresent: (Int) -> Bool) -> ObjectKeys {
    if let bits, let known = partialKeys[bits] { return known }
    let keys = ObjectKeys(names.indices.filter(isPresent).map { names[$0] })
    guard let bits else { return keys }
    if partialKeys.count == Self.mostPartial { partialKeys = [:] }
    partialKeys[bits] = keys
    return keys
  }

  @inline(never)
  private func makeKeys(_ keyTable: Unmanaged<DecodingKeyTable>) -> AnyKeyList {
    let list = keyTable._withUnsafeGuaranteedRef { $0.makeKeyList(names) }
    keys = list
    self.keyTable = keyTable.toOpaque()
    return list
  }
}
