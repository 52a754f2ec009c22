/// The decoder of a value that is not there, for `superDecoder(forKey:)`: it finds nil.
struct MissingDecoder: ScalarDecoder {
  let session: DecodingSession
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func decodeNil() -> Bool { true }

  // The standard library's defaults for these throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try known(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try known(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // An optional finds its nil; other types may make something of it.
    if let none = session.missing(type) { return none }
    guard session.types.entry(for: type).kind == .plain else { throw mismatch(type) }
    return try session.decodePlain(type, self)
  }

  private func known<Value: Decodable>(_ type: Value.Type) throws -> Value { try decode(type) }

  func mismatch(_ type: Any.Type) -> any Error {
    DecodingError.noValue(of: type, path: codingPath, "Expected a value of type \(type), but there is none.")
  }
}
