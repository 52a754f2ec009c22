import Foundation
import Stow
import Testing

/// One of the places in which a value can stand in a message, each of which has a form of its own.
enum Place: CaseIterable {
  case alone
  case single
  case field
  case optionalField
  case dictionary
  case byHand
  case inherited
  /// The last of a few elements.
  case element
  /// The last of so many elements that numbers are packed.
  case packed
  /// The only value of an array.
  case repeated
  /// A cell of a table.
  case cell
  /// The same, where it could be missing.
  case optionalCell
  /// The constant column of a table.
  case constant
  /// A cell of a matrix.
  case matrix

  /// The message of `value` in this place, in company of `other` where there is any.
  func message<Value: Codable>(of value: Value, beside other: Value, by coder: some Coder) throws -> Data {
    switch self {
    case .alone: try coder.encode(value)
    case .single: try coder.encode(Single(value: value))
    case .field: try coder.encode(Field(value: value))
    case .optionalField: try coder.encode(OptionalField(value: value))
    case .dictionary: try coder.encode(["value": value])
    case .byHand: try coder.encode(ByHand(value: value))
    case .inherited: try coder.encode(Inherited(value: value))
    case .element: try coder.encode([other, value])
    case .packed: try coder.encode([Value](repeating: other, count: 11) + [value])
    case .repeated: try coder.encode([Value](repeating: value, count: 7))
    case .cell: try coder.encode(rows { $0 == 3 ? value : other })
    case .optionalCell: try coder.encode(rows { Optional($0 == 3 ? value : other) })
    case .constant: try coder.encode(rows { _ in value })
    case .matrix: try coder.encode([[other, other], [other, other], [other, value], [other, other]])
    }
  }

  /// The value, read as `Value` from such a message.
  func value<Value: Codable>(_ type: Value.Type, in data: Data, by coder: some Coder) throws -> Value {
    switch self {
    case .alone: try coder.decode(Value.self, from: data)
    case .single: try coder.decode(Single<Value>.self, from: data).value
    case .field: try coder.decode(Field<Value>.self, from: data).value
    case .optionalField: try coder.decode(OptionalField<Value>.self, from: data).value!
    case .dictionary: try coder.decode([String: Value].self, from: data)["value"]!
    case .byHand: try coder.decode(ByHand<Value>.self, from: data).value
    case .inherited: try coder.decode(Inherited<Value>.self, from: data).value
    case .element, .packed: try coder.decode([Value].self, from: data).last!
    case .repeated: try coder.decode([Value].self, from: data)[0]
    case .cell: try coder.decode([Row<Value>].self, from: data)[3].value
    case .optionalCell: try coder.decode([OptionalRow<Value>].self, from: data)[3].value!
    case .constant: try coder.decode([Row<Value>].self, from: data)[0].value
    case .matrix: try coder.decode([[Value]].self, from: data)[2][1]
    }
  }

  func outcome<Value: Exact>(_ type: Value.Type, in data: Data, by coder: some Coder) -> Outcome {
    Outcome { try value(type, in: data, by: coder) }
  }

  /// The coding path of the value, or of the first of its copies.
  var path: [Step] {
    switch self {
    case .alone, .single: []
    case .field, .optionalField, .dictionary: ["value"]
    case .byHand: ["list", 0]
    case .inherited: ["super"]
    case .element: [1]
    case .packed: [11]
    case .repeated: [0]
    case .cell, .optionalCell: [3, "value"]
    case .constant: [0, "value"]
    case .matrix: [2, 1]
    }
  }

  /// The coding path of the first value, be it in the value's company.
  var firstPath: [Step] {
    switch self {
    case .element, .packed: [0]
    case .cell, .optionalCell: [0, "value"]
    case .matrix: [0, 0]
    default: path
    }
  }
}

extension Place {
  /// Whether `.none` is here no value, but a missing one.
  var isOptional: Bool { self == .optionalField || self == .optionalCell }
}

private func rows<Value>(_ value: (Int) -> Value) -> [Row<Value>] {
  (0..<6).map { Row(id: $0 + 1000, value: value($0), ratio: Double($0) + 0.5) }
}

private struct Field<Value: Codable>: Codable {
  var value: Value
}

private struct OptionalField<Value: Codable>: Codable {
  var value: Value?
}

private struct Row<Value: Codable>: Codable {
  var id: Int
  var value: Value
  var ratio: Double
}

private struct OptionalRow<Value: Codable>: Codable {
  var id: Int
  var value: Value?
  var ratio: Double
}

private struct Single<Value: Codable>: Codable {
  var value: Value

  init(value: Value) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    value = try decoder.readSingle(Value.self)
  }

  func encode(to encoder: any Encoder) throws { try encoder.writeSingle(value) }
}

/// Containers asked for one by one.
private struct ByHand<Value: Codable>: Codable {
  var value: Value

  init(value: Value) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    var list = try container.nestedUnkeyedContainer(forKey: "list")
    value = try list.decode(Value.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    var list = container.nestedUnkeyedContainer(forKey: "list")
    try list.encode(value)
  }
}

/// What a class leaves to its superclass.
private struct Inherited<Value: Codable>: Codable {
  var value: Value

  init(value: Value) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    value = try decoder.container(keyedBy: AnyKey.self).superDecoder().readSingle(Value.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    try container.superEncoder().writeSingle(value)
  }
}

/// Records an issue unless `value` comes back the same, to the bit, from this place beside `other`.
func expectExact<Value: Exact>(
  _ value: Value, beside other: Value, in place: Place, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let coder = StowCoder()
  let message = try place.message(of: value, beside: other, by: coder)
  let outcome = place.outcome(Value.self, in: message, by: coder)
  if outcome != .value(value.exactly) {
    Issue.record("\(value.exactly) beside \(other.exactly) in \(place): \(outcome)", sourceLocation: sourceLocation)
  }
}
