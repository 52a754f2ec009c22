// snippet: grdb
import Foundation
import Stow

/// A property of a record that is stored as a blob, which holds a message.
@propertyWrapper
struct StowColumn<Value: Codable>: Codable {
  var wrappedValue: Value

  init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  init(from decoder: any Decoder) throws {
    let message = try decoder.singleValueContainer().decode(Data.self)
    wrappedValue = try StowDecoder().decode(Value.self, from: message)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(StowEncoder().encode(wrappedValue))
  }
}

extension StowColumn: Equatable where Value: Equatable {}
extension StowColumn: Sendable where Value: Sendable {}
// end
