/// Keys of one type, which is not known here.
class AnyKeyList {
  /// The keys as coding keys of any type.
  var anyKeys: [any CodingKey] { [] }
}

/// Those keys of one type that some names stand for.
final class KeyList<Key: CodingKey>: AnyKeyList {
  private let names: [String]

  init(_ names: [String]) { self.names = names }

  private(set) lazy var keys: [Key] = made { $0 }
  private lazy var erasedKeys: [any CodingKey] = made { $0 }

  override var anyKeys: [any CodingKey] { erasedKeys }

  /// `compactMap`, not compiled for a key type that is known only here, takes four times as long.
  @inline(__always)
  private func made<Result>(_ convert: (Key) -> Result) -> [Result] {
    [Result].filled(count: names.count) { buffer, count in
      for name in names {
        guard let key = Key(stringValue: name) else { continue }
        (buffer + count).initialize(to: convert(key))
        count &+= 1
      }
    }
  }
}
