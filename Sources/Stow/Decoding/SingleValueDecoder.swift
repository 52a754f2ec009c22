/// The container of one value with its tag.
struct SingleValueDecoder: SingleValueDecodingContainer {
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.session.reader.isNil(at: decoder.offset) }

  @inline(__always)
  private func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    var next = decoder.offset
    do throws(FormatError) {
      return try Value.read(decoder.session, at: decoder.offset, next: &next)
    } catch {
      throw decoder.session.error(error, path: codingPath, expected: type)
    }
  }

  func decode(_ type: Bool.Type) throws -> Bool { try read(type) }
  func decode(_ type: Double.Type) throws -> Double { try read(type) }
  func decode(_ type: Float.Type) throws -> Float { try read(type) }
  func decode(_ type: String.Type) throws -> String { try read(type) }
  func decode(_ type: Int.Type) throws -> Int { try read(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try read(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try read(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try read(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try read(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try read(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try read(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try read(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try read(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let entry = decoder.session.plans.entry(for: type)
    if entry.kind == .plain { return try decoder.session.decodePlain(type, decoder) }
    return try decoder.session.decodeKnown(type, entry, at: decoder.offset, decoder.node)
  }
}
