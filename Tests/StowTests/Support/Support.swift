import Foundation
import Stow
import Testing

// MARK: - Round trips

/// The message of `value`, read as `type`.
func transcode<T: Decodable>(_ value: some Encodable, to type: T.Type) throws -> T {
  try StowDecoder().decode(type, from: StowEncoder().encode(value))
}

func roundTrip<T: Codable>(_ value: T) throws -> T { try transcode(value, to: T.self) }

/// Records an issue unless `value` comes back equal, alone and inside an array, an object and a dictionary.
func expectRoundTrip<T: Codable & Equatable>(_ value: T, sourceLocation: SourceLocation = #_sourceLocation) {
  expectRoundTrip(value, comparing: ==, sourceLocation: sourceLocation)
}

/// Records an issue unless `value` comes back the same in the sense of `same`.
func expectRoundTrip<T: Codable>(
  _ value: T, comparing same: (T, T) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    let alone = try roundTrip(value)
    #expect(same(alone, value), "alone: \(alone) is not \(value)", sourceLocation: sourceLocation)
    let held = try roundTrip(Holder(value: value, list: [value, value], dictionary: ["key": value]))
    for copy in [held.value] + held.list + Array(held.dictionary.values) {
      #expect(same(copy, value), "held: \(copy) is not \(value)", sourceLocation: sourceLocation)
    }
    #expect(held.list.count == 2 && held.dictionary.count == 1, sourceLocation: sourceLocation)
  } catch {
    Issue.record(error, "\(value)", sourceLocation: sourceLocation)
  }
}

/// A value in each of the places a value can stand.
private struct Holder<Value: Codable>: Codable {
  var value: Value
  var list: [Value]
  var dictionary: [String: Value]
}

// MARK: - Driving an encoder or a decoder directly

/// A value whose `encode(to:)` is `body`.
struct Writes: Encodable {
  let body: (any Encoder) throws -> Void

  init(_ body: @escaping (any Encoder) throws -> Void) {
    self.body = body
  }

  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

/// An error that is not the library's own.
struct Refusal: Error, Equatable {}

/// The message written by `body`.
func message(_ body: @escaping (any Encoder) throws -> Void) throws -> Data {
  let encoder = StowEncoder()
  encoder.outputFormatting = .sortedKeys
  return try encoder.encode(Writes(body))
}

/// Records an issue unless the message written by `body` reads as `expected`.
func expectWritten(
  _ expected: JSONValue, sourceLocation: SourceLocation = #_sourceLocation,
  by body: @escaping (any Encoder) throws -> Void
) throws {
  let value = try StowDecoder().decode(JSONValue.self, from: message(body))
  #expect(value == expected, sourceLocation: sourceLocation)
}

/// Runs `body` on the decoder of the message of `value`, inside an `init(from:)`.
func read<R>(_ value: some Encodable, _ body: @escaping (any Decoder) throws -> R) throws -> R {
  try read(message: StowEncoder().encode(value), body)
}

/// The same for bytes.
func read<R>(message: Data, _ body: @escaping (any Decoder) throws -> R) throws -> R {
  let decoder = StowDecoder()
  decoder.userInfo[ReadBody<R>.key] = ReadBody(body)
  return try decoder.decode(Reads<R>.self, from: message).result
}

/// The same with Foundation's JSON coders.
func readJSON<R>(_ value: some Encodable, _ body: @escaping (any Decoder) throws -> R) throws -> R {
  let decoder = JSONDecoder()
  decoder.userInfo[ReadBody<R>.key] = ReadBody(body)
  return try decoder.decode(Reads<R>.self, from: JSONEncoder().encode(value)).result
}

private final class ReadBody<R>: @unchecked Sendable {
  static var key: CodingUserInfoKey { CodingUserInfoKey(rawValue: "body")! }
  let body: (any Decoder) throws -> R

  init(_ body: @escaping (any Decoder) throws -> R) {
    self.body = body
  }
}

private struct Reads<R>: Decodable {
  let result: R

  init(from decoder: any Decoder) throws {
    let body = try #require(decoder.userInfo[ReadBody<R>.key] as? ReadBody<R>)
    result = try body.body(decoder)
  }
}

extension Encoder {
  /// Writes `value` as the whole of what this encoder stands for.
  func writeSingle(_ value: some Encodable) throws {
    var container = singleValueContainer()
    try container.encode(value)
  }
}

extension Decoder {
  func readSingle<T: Decodable>(_ type: T.Type) throws -> T { try singleValueContainer().decode(type) }
}

// MARK: - Keys

/// Any key at all.
struct AnyKey: CodingKey, Hashable, ExpressibleByStringLiteral {
  var stringValue: String
  var intValue: Int?

  init(_ stringValue: String, _ intValue: Int? = nil) {
    self.stringValue = stringValue
    self.intValue = intValue
  }

  init(stringValue: String) { self.init(stringValue) }
  init(stringLiteral value: String) { self.init(value) }
  init(intValue: Int) { self.init("\(intValue)", intValue) }
}

// MARK: - Failures

/// One step of a coding path: a string literal is a key without integer, an integer literal an index.
struct Step: Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, CustomStringConvertible {
  var string: String
  var integer: Int?

  static func key(_ string: String, _ integer: Int?) -> Step { Step(string: string, integer: integer) }

  init(string: String, integer: Int?) {
    self.string = string
    self.integer = integer
  }

  init(_ key: any CodingKey) { self.init(string: key.stringValue, integer: key.intValue) }
  init(stringLiteral value: String) { self.init(string: value, integer: nil) }
  init(integerLiteral value: Int) { self.init(string: "Index \(value)", integer: value) }

  var description: String { integer.map { "\(string)(\($0))" } ?? string }
}

func steps(_ path: [any CodingKey]) -> [Step] { path.map { Step($0) } }

/// What a coding error says: its case, its path, and for `keyNotFound` its key.
struct Failure: Equatable, CustomStringConvertible {
  enum Kind { case typeMismatch, valueNotFound, keyNotFound, dataCorrupted, invalidValue, foreign }
  var kind: Kind
  var path: [Step]
  var key: Step?

  static func at(_ path: Step..., kind: Kind) -> Failure { Failure(kind: kind, path: path) }
  static func typeMismatch(_ path: Step...) -> Failure { Failure(kind: .typeMismatch, path: path) }
  static func valueNotFound(_ path: Step...) -> Failure { Failure(kind: .valueNotFound, path: path) }
  static func dataCorrupted(_ path: Step...) -> Failure { Failure(kind: .dataCorrupted, path: path) }
  static func invalidValue(_ path: Step...) -> Failure { Failure(kind: .invalidValue, path: path) }
  static func keyNotFound(_ key: Step, _ path: Step...) -> Failure { Failure(kind: .keyNotFound, path: path, key: key) }

  init(kind: Kind, path: [Step], key: Step? = nil) {
    self.kind = kind
    self.path = path
    self.key = key
  }

  init(_ error: any Error) {
    switch error {
    case DecodingError.typeMismatch(_, let context):
      self.init(kind: .typeMismatch, path: steps(context.codingPath))
    case DecodingError.valueNotFound(_, let context):
      self.init(kind: .valueNotFound, path: steps(context.codingPath))
    case DecodingError.keyNotFound(let key, let context):
      self.init(kind: .keyNotFound, path: steps(context.codingPath), key: Step(key))
    case DecodingError.dataCorrupted(let context):
      self.init(kind: .dataCorrupted, path: steps(context.codingPath))
    case EncodingError.invalidValue(_, let context):
      self.init(kind: .invalidValue, path: steps(context.codingPath))
    default:
      self.init(kind: .foreign, path: [], key: .key("\(error)", nil))
    }
  }

  var description: String { "\(kind)\(key.map { "(\($0))" } ?? "") at \(path)" }
}

/// How `body` fails, or nil (and an issue) when it does not.
func failure<R>(sourceLocation: SourceLocation = #_sourceLocation, of body: () throws -> R) -> Failure? {
  do {
    let result = try body()
    Issue.record("no error, but \(result)", sourceLocation: sourceLocation)
    return nil
  } catch {
    return Failure(error)
  }
}

/// How reading the message of `value` as `type` fails.
func failure<T: Decodable>(
  decoding type: T.Type, from value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation
) -> Failure? {
  failure(sourceLocation: sourceLocation) { try transcode(value, to: type) }
}

/// Records an issue unless `type` fails to read `value` in the same way, at the same place, as in JSON.
func expectFailsAsInJSON<T: Decodable>(
  _ type: T.Type, from value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation
) {
  let json = failure(sourceLocation: sourceLocation) {
    try JSONDecoder().decode(type, from: JSONEncoder().encode(value))
  }
  #expect(failure(decoding: type, from: value, sourceLocation: sourceLocation) == json, sourceLocation: sourceLocation)
}

/// Records an issue unless `body` fails on the message of `value` in the same way as on its JSON.
func expectFailsAsInJSON<R>(
  reading value: some Encodable, sourceLocation: SourceLocation = #_sourceLocation,
  by body: @escaping (any Decoder) throws -> R
) {
  let stow = failure(sourceLocation: sourceLocation) { try read(value, body) }
  let json = failure(sourceLocation: sourceLocation) { try readJSON(value, body) }
  #expect(stow == json, sourceLocation: sourceLocation)
}

/// Records an issue unless `value` cannot be read as `type`: a wrong kind or a value out of range, at `path`.
func expectRefused<T: Decodable>(
  _ type: T.Type, from value: some Encodable, at path: Step...,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let failure = failure(decoding: type, from: value, sourceLocation: sourceLocation) else { return }
  #expect([.typeMismatch, .dataCorrupted].contains(failure.kind), "\(failure)", sourceLocation: sourceLocation)
  #expect(failure.path == path, sourceLocation: sourceLocation)
}

// MARK: - Random values

/// A small reproducible generator (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}

/// Foundation's JSON coders, to compare with.
enum JSON {
  static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) }
}

/// Whether the tests run under a sanitizer, which takes memory and stack of its own.
let isSanitized = ["__asan_init", "__tsan_init"].contains { (name: String) in
  dlsym(dlopen(nil, RTLD_NOW), name) != nil
}
