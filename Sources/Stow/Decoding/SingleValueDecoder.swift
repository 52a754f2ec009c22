/// The container of one value with its tag.
struct SingleValueDecoder: SingleValueDecodingContainer {
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.session.reader.isNil(at: decoder.offset) }

  @inline(__always)
  private func read<Value>(
    _ type: Value.Type, _ value: (DecodingSession, Int, inout Int) throws(FormatError) -> Value
  ) throws -> Value {
    var next = decoder.offset
    do throws(FormatError) {
      return try value(decoder.session, decoder.offset, &next)
    } catch {
      throw decoder.session.error(error, path: codingPath, expected: type)
    }
  }

  @inline(__always)
  private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    try read(type) { session, offset, next throws(FormatError) in
      try session.integer(type, at: offset, next: &next)
    }
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    try read(type) { session, offset, next throws(FormatError) in try session.bool(at: offset, next: &next) }
  }

  func decode(_ type: Double.Type) throws -> Double {
    try read(type) { session, offset, next throws(FormatError) in try session.double(at: offset, next: &next)
    }
  }

  func decode(_ type: Float.Type) throws -> Float {
    try read(type) { session, offset, next throws(FormatError) in try session.float(at: offset, next: &next) }
  }

  func decode(_ type: String.Type) throws -> String {
    try read(type) { session, offset, next throws(FormatError) in try session.string(at: offset, next: &next)
    }
  }

  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let entry = decoder.session.plans.entry(for: type)
    if entry.kind == .plain { return try decoder.session.decodePlain(type, decoder) }
    return try decoder.session.decodeKnown(type, entry, at: decoder.offset, decoder.node)
  }
}
