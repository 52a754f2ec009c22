/// One call of `decode` with defaults, which decides whether the message or the template counts.
final class Merge {
  private let isLenient: Bool
  private let maximumDepth: Int
  private var calls = CallDepth()

  init(isLenient: Bool, maximumDepth: Int) {
    self.isLenient = isLenient
    self.maximumDepth = maximumDepth
  }

  /// Decodes the whole value.
  ///
  /// - Parameters:
  ///   - template: Counts as a whole if nothing in the message fits.
  ///   - lendDecoder: Lends a decoder of the template.
  func decode<Value: Decodable>(
    _ type: Value.Type, from message: any Decoder, defaults template: Value,
    _ lendDecoder: (_ body: (any Decoder) throws -> Value) throws -> Value
  ) throws -> Value {
    do {
      let own = try message.singleValueContainer()
      if isWhole(type) || own.decodeNil() { return try own.decode(type) }
      return try lendDecoder { try decode(type, from: MergedDecoder(message: message, template: $0, merge: self)) }
    } catch {
      guard try replaces(error, { try message.singleValueContainer().decode(StowValue.self) }) else { throw error }
      return template
    }
  }

  /// Returns whether values of a type are decoded from the message alone: scalars, collections, optionals of them.
  func isWhole(_ type: Any.Type) -> Bool {
    if let optional = type as? any AnyOptional.Type { return isWhole(optional.wrapped) }
    return type == StowValue.self || ScalarTypes.scalar(type) != nil || type is any PlannedDecodable.Type
  }

  /// Returns whether the template's value replaces one whose decoding failed so: not if the message is broken.
  ///
  /// - Parameter readWhole: Reads all of the value, of which decoding may have read no more than the kind.
  func replaces(_ error: any Error, _ readWhole: () throws -> StowValue) throws -> Bool {
    guard isLenient, let error = error as? DecodingError, !error.isUnreadable else { return false }
    do { _ = try readWhole() } catch let fault as DecodingError {
      if fault.isUnreadable { throw fault }
    }
    return true
  }

  /// Calls the value's own `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type, from decoder: MergedDecoder) throws -> Value {
    if let reason = calls.enter(maximumDepth: maximumDepth) {
      throw DecodingError.unreadable(reason, path: decoder.codingPath)
    }
    defer { calls.leave() }
    return try type.init(from: decoder)
  }
}

/// The decoder of a value that is in both a message and a template.
///
/// ```
/// message   {"name": "Elbe", "size": {"width": 3}}
///                                      │
///                       MergedDecoder ─┤  a key that is asked for comes from the message if it is there,
///                                      │  and else from the template
/// template  {"name": "", "size": {"width": 1, "height": 1}}
/// ```
///
/// Only keys asked for by name are looked up in the template. A type that asks which keys exist, as
/// dictionaries and enumerations with values do, gets those of the message.
struct MergedDecoder: Decoder, StowValueCoder {
  let message: any Decoder
  let template: any Decoder
  let merge: Merge

  /// Returns the decoder of a value that one of them, or both, may lack.
  static func merging(_ message: any Decoder, _ template: any Decoder, _ merge: Merge) -> any Decoder {
    if (message as? ValueDecoder)?.isAbsent == true { return template }
    if (template as? ValueDecoder)?.isAbsent == true { return message }
    return MergedDecoder(message: message, template: template, merge: merge)
  }

  var codingPath: [any CodingKey] { message.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { message.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let own = try message.container(keyedBy: type)
    // A template that is not an object has no defaults to give.
    guard let defaults = try? template.container(keyedBy: type) else { return own }
    return KeyedDecodingContainer(MergedObject(own: own, defaults: defaults, merge: merge))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try message.unkeyedContainer() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    MergedValue(decoder: self, own: try message.singleValueContainer())
  }
}

/// The message's container of a single value, which may itself have defaults.
private struct MergedValue: SingleValueDecodingContainer {
  let decoder: MergedDecoder
  let own: any SingleValueDecodingContainer

  var codingPath: [any CodingKey] { own.codingPath }

  func decodeNil() -> Bool { own.decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if decoder.merge.isWhole(type) || own.decodeNil() { return try own.decode(type) }
    return try decoder.merge.decode(type, from: decoder)
  }
  // Scalars have no defaults inside.
  func decode<Value: ReadableScalar>(_ type: Value.Type) throws -> Value { try own.decode(type) }
  // The standard library's default implementations of these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try own.decode(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try own.decode(type) }
}

/// The container of an object that is in both a message and a template.
struct MergedObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let own: KeyedDecodingContainer<Key>
  let defaults: KeyedDecodingContainer<Key>
  let merge: Merge

  var codingPath: [any CodingKey] { own.codingPath }
  var allKeys: [Key] { own.allKeys }

  // As with `allKeys`, a type that checks which of several keys exists must find the message's.
  func contains(_ key: Key) -> Bool { own.contains(key) }

  func decodeNil(forKey key: Key) throws -> Bool { try first(key).decodeNil(forKey: key) }

  /// Returns the object that has the key: the message's if it has it, or if neither does.
  private func first(_ key: Key) -> KeyedDecodingContainer<Key> {
    !own.contains(key) && defaults.contains(key) ? defaults : own
  }

  // MARK: values

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    guard own.contains(key), defaults.contains(key) else { return try first(key).decode(type, forKey: key) }
    do {
      if try merge.isWhole(type) || own.decodeNil(forKey: key) { return try own.decode(type, forKey: key) }
      return try decodeMerged(type, key)
    } catch {
      guard try merge.replaces(error, { try own.decode(StowValue.self, forKey: key) }) else { throw error }
      return try defaults.decode(type, forKey: key)
    }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard own.contains(key) else { return try defaults.decodeIfPresent(type, forKey: key) }
    do {
      if try merge.isWhole(type) || !defaults.contains(key) || own.decodeNil(forKey: key) {
        return try own.decodeIfPresent(type, forKey: key)
      }
      return try decodeMerged(type, key)
    } catch {
      guard try merge.replaces(error, { try own.decode(StowValue.self, forKey: key) }) else { throw error }
      return try defaults.decodeIfPresent(type, forKey: key)
    }
  }

  private func decodeMerged<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    let decoder = MergedDecoder(
      message: try own.superDecoder(forKey: key), template: try defaults.superDecoder(forKey: key),
      merge: merge)
    return try merge.decode(type, from: decoder)
  }

  // The standard library's default implementations throw, or do not replace a value that does not fit.

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(type, key) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try optional(type, key) }

  /// Calls the generic `decode`: a direct call would choose the overload above, and recurse.
  private func value<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value { try decode(type, forKey: key) }

  private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try decodeIfPresent(type, forKey: key)
  }

  // MARK: nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    guard own.contains(key), defaults.contains(key) else {
      return try first(key).nestedContainer(keyedBy: type, forKey: key)
    }
    return try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try first(key).nestedUnkeyedContainer(forKey: key)
  }

  func superDecoder() throws -> any Decoder {
    try MergedDecoder.merging(own.superDecoder(), defaults.superDecoder(), merge)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try MergedDecoder.merging(own.superDecoder(forKey: key), defaults.superDecoder(forKey: key), merge)
  }
}
