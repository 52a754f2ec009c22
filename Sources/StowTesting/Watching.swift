import Stow
import Synchronization

/// Collects facts about a type while its values are decoded by way of another decoder.
final class Watch: Sendable {
  let facts = Mutex(Facts())

  func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
    if ScalarTypes.isScalar(type) || type == StowValue.self {
      return try decoder.singleValueContainer().decode(type)
    }
    let (path, cases) = (decoder.codingPath, (type as? any CaseIterable.Type)?.list ?? [])
    let written = cases.compactMap { ($0 as? any Encodable).flatMap { try? StowValue(encoding: $0) } }
    facts.withLock { facts in
      let path = facts.path(path)
      if type is any ExpressibleByDictionaryLiteral.Type { facts.dictionaries.insert(path) }
      if type is any SetAlgebra.Type { facts.sets.insert(path) }
      facts.cases[path, default: []].formUnion(written.filter { $0.object == nil })
    }
    return try type.init(from: WatchedDecoder(base: decoder, watch: self))
  }
}

extension CaseIterable {
  fileprivate static var list: [Any] { Array(allCases) }
}

private struct WatchedDecoder: Decoder, SingleValueDecodingContainer {
  let base: any Decoder
  let watch: Watch
  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let object = try base.container(keyedBy: type)
    let (path, names) = (codingPath, FormerNames(of: type))
    let cases = ((type as? any CaseIterable.Type)?.list ?? []).compactMap { $0 as? any CodingKey }
    watch.facts.withLock { facts in
      for key in cases { facts.requests.insert(facts.path(path + [key])) }
      facts.formerNames[facts.path(path), default: [:]][ObjectIdentifier(type)] = names
      if let conflict = names?.conflict { facts.conflicts.insert(conflict) }
    }
    return KeyedDecodingContainer(WatchedObject(base: object, watch: watch))
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    WatchedArray(base: try base.unkeyedContainer(), watch: watch)
  }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { (try? base.singleValueContainer().decodeNil()) ?? false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try watch.decode(type, from: base) }
  // The standard library's default implementations of these throw, here and below.
  func decode(_ type: Int128.Type) throws -> Int128 { try watch.decode(type, from: base) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try watch.decode(type, from: base) }
}

private struct WatchedArray: UnkeyedDecodingContainer {
  var base: any UnkeyedDecodingContainer
  let watch: Watch
  var codingPath: [any CodingKey] { base.codingPath }
  var count: Int? { base.count }
  var isAtEnd: Bool { base.isAtEnd }
  var currentIndex: Int { base.currentIndex }

  mutating func decodeNil() throws -> Bool { try base.decodeNil() }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try watch.decode(type, from: base.superDecoder())
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try base.decode(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try base.decode(type) }
  mutating func nestedContainer<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
    try superDecoder().container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try superDecoder().unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder {
    WatchedDecoder(base: try base.superDecoder(), watch: watch)
  }
}

private struct WatchedObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let base: KeyedDecodingContainer<Key>
  let watch: Watch
  var codingPath: [any CodingKey] { base.codingPath }
  var allKeys: [Key] { base.allKeys }

  func contains(_ key: Key) -> Bool {
    watch.facts.withLock { facts in _ = facts.requests.insert(facts.path(codingPath + [key])) }
    return base.contains(key)
  }
  func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try watch.decode(type, from: base.superDecoder(forKey: key))
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try base.decode(type, forKey: key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try base.decode(type, forKey: key) }
  func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) throws -> KeyedDecodingContainer<
    K
  > {
    try superDecoder(forKey: key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { WatchedDecoder(base: try base.superDecoder(), watch: watch) }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    WatchedDecoder(base: try base.superDecoder(forKey: key), watch: watch)
  }
}
