import Foundation
import Stow

/// What Stow and JSON have in common.
protocol Coder {
  func encode(_ value: some Encodable) throws -> Data
  func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T
}

struct StowCoder: Coder {
  let encoder = StowEncoder()
  let decoder = StowDecoder()

  func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
  func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { try decoder.decode(type, from: data) }
}

struct JSONCoder: Coder {
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()

  func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
  func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { try decoder.decode(type, from: data) }
}
