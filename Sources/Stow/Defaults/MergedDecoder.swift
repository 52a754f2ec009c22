/// The decoder of a value that stands in a message and in a template.
///
/// ```
/// message   {"name": "Elbe", "size": {"width": 3}}
///                                      │
///                       MergedDecoder ─┤  a key that is asked for comes from the message if it is there,
///                                      │  and else from the template
/// template  {"name": "", "size": {"width": 1, "height": 1}}
/// ```
///
/// Only keys that are asked for by name are looked for in the template. Whoever asks which keys there are, as
/// dictionaries and enumerations with values do, gets those of the message.
struct MergedDecoder: Decoder, StowValueCoder {
  let message: any Decoder
  let template: any Decoder
  let merge: Merge

  /// The decoder of a value that one of them, or both, may lack.
  static func merging(_ message: any Decoder, _ template: any Decoder, _ merge: Merge) -> any Decoder {
    if message is MissingDecoder { return template }
    if template is MissingDecoder { return message }
    return MergedDecoder(message: message, template: template, merge: merge)
  }

  var codingPath: [any CodingKey] { message.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { message.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let own = try message.container(keyedBy: type)
    // A template that is no object has no defaults to give.
    guard let defaults = try? template.container(keyedBy: type) else { return own }
    return KeyedDecodingContainer(MergedObject(own: own, defaults: defaults, merge: merge))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try message.unkeyedContainer() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    MergedValue(decoder: self, own: try message.singleValueContainer())
  }
}

/// The container of a single value, which is that of the message; but what it holds may have defaults.
private struct MergedValue: SingleValueDecodingContainer {
  let decoder: MergedDecoder
  let own: any SingleValueDecodingContainer

  var codingPath: [any CodingKey] { own.codingPath }

  func decodeNil() -> Bool { own.decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decoder.merge.isWhole(type) ? own.decode(type) : decoder.merge.decode(type, from: decoder)
  }
  // The standard library has defaults for these, which throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try own.decode(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try own.decode(type) }
}
