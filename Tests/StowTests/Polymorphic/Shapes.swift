import Foundation
import Stow

// The types that the tests of polymorphic values are about.

protocol Shape: Codable, Sendable {
  var area: Double { get }
}

struct Circle: Shape, Equatable {
  var radius: Double
  var area: Double { 3 * radius * radius }
}

struct Square: Shape, Equatable {
  var side: Double
  var made = Date(timeIntervalSinceReferenceDate: 0.1)
  var area: Double { side * side }
}

/// Shapes within shapes.
struct ShapeGroup: Shape {
  @Polymorphic var parts: [any Shape]
  var area: Double { parts.reduce(0) { $0 + $1.area } }
}

/// No shape, but registered.
struct Label: Codable, Equatable {
  var text: String
}

struct UnknownShape: Shape, UnregisteredValue, Equatable {
  var typeName: String
  var content: StowValue
  var area: Double { 0 }
}

class Pet: Codable {
  var name: String

  init(name: String) { self.name = name }
}

final class Terrier: Pet {
  var tricks: [String]

  init(name: String, tricks: [String]) {
    self.tricks = tricks
    super.init(name: name)
  }

  private enum CodingKeys: String, CodingKey { case tricks }

  required init(from decoder: any Decoder) throws {
    tricks = try decoder.container(keyedBy: CodingKeys.self).decode([String].self, forKey: .tricks)
    try super.init(from: decoder)
  }

  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
  }
}

extension TypeRegistry {
  static var shapes: TypeRegistry {
    var types = TypeRegistry()
    types.register(Circle.self, as: "circle")
    types.register(Square.self, as: "square")
    types.register(ShapeGroup.self, as: "group")
    types.register(Label.self, as: "label")
    return types
  }
}

extension StowCoder {
  init(types: TypeRegistry) {
    self.init()
    encoder.types = types
    decoder.types = types
  }
}

extension JSONCoder {
  init(types: TypeRegistry) {
    self.init()
    encoder.userInfo[.typeRegistry] = types
    decoder.userInfo[.typeRegistry] = types
  }
}

/// Stow's coders and JSON's, with a registry.
func coders(_ types: TypeRegistry) -> [any Coder] { [StowCoder(types: types), JSONCoder(types: types)] }
