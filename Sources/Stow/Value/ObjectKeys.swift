import Synchronization

/// The keys of an object, in order, and where each is found. Objects of the same keys share them.
struct ObjectKeys: Sendable {
  private(set) var all: [String]
  /// Where each key stands; none if they are few, which are found by looking at all of them.
  private var index: KeyIndex?

  private static let fewest = 9

  /// - Parameter keys: Strings of distinct bytes.
  init(_ keys: [String]) {
    all = keys
    index = keys.count < Self.fewest ? nil : KeyIndex()
  }

  var count: Int { all.count }

  /// The place of a key; nil if there is none.
  func position(of key: String) -> Int? {
    guard let index else { return all.firstIndex { $0.hasSameBytes(as: key) } }
    return index.position(of: key, among: all)
  }

  /// Appends a key that is none of these.
  mutating func append(_ key: String) {
    all.append(key)
    guard count >= Self.fewest else { return }
    // What others look into as well is left to them.
    if isKnownUniquelyReferenced(&index), let index {
      index.append(key, at: count - 1)
    } else {
      index = KeyIndex()
    }
  }

  mutating func remove(at position: Int) {
    all.remove(at: position)
    index = count < Self.fewest ? nil : KeyIndex()
  }
}

/// Where each of many keys stands. Made when one is looked for: most objects are only read from end to end.
private final class KeyIndex: Sendable {
  private let positions = Mutex<[ExactString: Int]?>(nil)

  func position(of key: String, among keys: [String]) -> Int? {
    positions.withLock { positions in
      let key = ExactString(key)
      if let positions { return positions[key] }
      let made = Dictionary(uniqueKeysWithValues: zip(keys.map(ExactString.init), keys.indices))
      positions = made
      return made[key]
    }
  }

  func append(_ key: String, at position: Int) {
    positions.withLock { $0?[ExactString(key)] = position }
  }
}
