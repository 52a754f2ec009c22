/// Keys of one type, which is not known here.
class AnyKeyList {}

/// Those keys of one type that some names stand for.
final class KeyList<Key: CodingKey>: AnyKeyList {
  private let names: [String]

  init(_ names: [String]) { self.names = names }

  /// Made by hand: `compactMap` is not compiled for a key type that is known only here.
  private(set) lazy var keys: [Key] = [Key].filled(count: names.count) { buffer, count in
    for name in names {
      guard let key = Key(stringValue: name) else { continue }
      (buffer + count).initialize(to: key)
      count &+= 1
    }
  }
}
