/// The container of one value with its tag.
struct SingleValueDecoder: ScalarContainer {
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.session.message.reader.isNil(at: decoder.offset) }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    var next = decoder.offset
    do throws(FormatError) {
      return try Value.read(decoder.session.message, at: decoder.offset, next: &next)
    } catch {
      throw decoder.session.error(error, at: decoder.node, decoder.offset, expected: type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let entry = decoder.session.types.entry(for: type)
    if entry.kind == .plain { return try decoder.session.decodePlain(type, decoder) }
    return try decoder.session.decodeKnown(type, entry, at: decoder.offset, decoder.node)
  }
}
