import Synchronization

/// The keys and values of an object in a message, in order.
///
/// ```swift
/// var object: StowObject = ["name": "Ada", "level": 4.25]
/// object["level"] = 5
/// for (key, value) in object { print(key, value) }
/// ```
///
/// No key occurs twice. Keys are the same if their bytes are: two spellings of the same Unicode characters are two
/// keys, although they are equal as `String`s. Objects that were decoded with the same keys share them.
public struct StowObject: RandomAccessCollection, Hashable, Sendable, ExpressibleByDictionaryLiteral,
  CustomStringConvertible
{
  private(set) var names: ObjectKeys
  private var contents: [StowValue]

  /// Makes an object without keys.
  public init() { self.init(ObjectKeys([]), []) }

  /// Makes an object from pairs. If a key repeats, its last value counts, in the place of the first.
  ///
  /// ```swift
  /// let object = StowObject(dictionary.map { ($0.key, .string($0.value)) })
  /// ```
  public init(_ pairs: some Sequence<(String, StowValue)>) {
    self.init()
    for (key, value) in pairs { put(value, forKey: key, at: names.position(of: key)) }
  }

  /// Makes an object from the pairs of the literal, as `init(_:)` does.
  public init(dictionaryLiteral elements: (String, StowValue)...) { self.init(elements) }

  /// Makes an object from keys that are known to be distinct, and as many values.
  package init(_ keys: ObjectKeys, _ values: [StowValue]) {
    precondition(keys.count == values.count)
    names = keys
    contents = values
  }

  /// The keys, in order. Takes constant time.
  public var keys: [String] { names.all }

  /// The values, in the order of their keys. Takes constant time.
  public var values: [StowValue] { contents }

  /// The object in diagnostic notation on one line, as `StowValue` describes it.
  public var description: String { StowValue.object(self).description }

  // MARK: by key

  /// The value for a key; nil if there is no such key.
  ///
  /// Assigning a value replaces that of the key in its place, or appends the key. Assigning nil removes the key: to
  /// keep it without a value, assign `.null`. Values are changed in place:
  ///
  /// ```swift
  /// object["tags"]?[0] = "river"
  /// ```
  ///
  /// Takes constant time; removing a key, or adding one to an object that shares its keys, in proportion to their number.
  public subscript(key: String) -> StowValue? {
    get { names.position(of: key).map { contents[$0] } }
    _modify {
      let position = names.position(of: key)
      // Moved out, so that its contents are uniquely referenced and can be changed in place.
      var value = position.map { contents.take(at: $0) }
      defer { put(value, forKey: key, at: position) }
      yield &value
    }
  }

  private mutating func put(_ value: StowValue?, forKey key: String, at position: Int?) {
    switch (value, position) {
    case (let value?, let position?): contents[position] = value
    case (let value?, nil):
      names.append(key)
      contents.append(value)
    case (nil, let position?):
      names.remove(at: position)
      contents.remove(at: position)
    case (nil, nil): break
    }
  }

  /// Removes a key, and returns the value that it had. Takes time in proportion to the number of keys.
  ///
  /// ```swift
  /// let name = object.removeValue(forKey: "name")
  /// ```
  @discardableResult
  public mutating func removeValue(forKey key: String) -> StowValue? {
    let value = self[key]
    self[key] = nil
    return value
  }

  // MARK: by position

  /// The position of the first pair: 0.
  public var startIndex: Int { 0 }
  /// The number of pairs.
  public var endIndex: Int { contents.count }

  /// The pair at a position. Takes constant time.
  public subscript(position: Int) -> (key: String, value: StowValue) { (names.all[position], contents[position]) }

  // MARK: comparing

  /// Returns whether both have the same keys with equal values, in any order. Takes time in proportion to the objects.
  public static func == (left: StowObject, right: StowObject) -> Bool {
    guard left.count == right.count else { return false }
    return left.allSatisfy { key, value in right[key] == value }
  }

  /// Hashes what equal objects have in common. Takes time in proportion to the object.
  public func hash(into hasher: inout Hasher) {
    // A sum does not depend on the order.
    var sum = 0
    for (key, value) in self {
      var pair = hasher
      pair.combine(key)
      pair.combine(value)
      sum &+= pair.finalize()
    }
    hasher.combine(sum)
  }
}

/// The keys of an object, in order, with an index of their positions. Objects with the same keys share them.
package struct ObjectKeys: Sendable {
  private(set) var all: [String]
  /// Nil if there are only a few keys, which are searched one by one.
  private var index: KeyIndex?

  private static let fewest = 9

  /// - Parameter keys: Strings of distinct bytes.
  package init(_ keys: [String]) {
    all = keys
    index = keys.count < Self.fewest ? nil : KeyIndex()
  }

  var count: Int { all.count }

  @inline(never)
  package func position(of key: String) -> Int? {
    guard let index else { return all.firstIndex { $0.hasSameBytes(as: key) } }
    return index.position(of: key, among: all)
  }

  /// Appends a key that is not among these.
  package mutating func append(_ key: String) {
    all.append(key)
    guard count >= Self.fewest else { return }
    // Others may use the index, too.
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

/// The positions of many keys. Made at the first search: most objects are only read from end to end.
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

  func append(_ key: String, at position: Int) { positions.withLock { $0?[ExactString(key)] = position } }
}
