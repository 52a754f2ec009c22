import Foundation
import Stow
import Testing

@Suite("Registries of types")
struct TypeRegistryTests {
  @Test("a registry writes the first name of a type and reads all of its names")
  func names() throws {
    var types = TypeRegistry.shapes
    types.register(Circle.self, as: "disk")
    types.register(Circle.self, as: "circle")
    #expect(types.names == ["circle", "disk", "group", "label", "square"])
    let coder = StowCoder(types: types)
    let value = try StowValue(from: coder.encoder.encode(polymorphic: Circle(radius: 2)))
    #expect(value == ["circle": ["radius": 2.0]])
    let old = try coder.encode(["disk": ["radius": 2.0]])
    #expect(try coder.decoder.decode(polymorphic: (any Shape).self, from: old) as? Circle == Circle(radius: 2))
  }

  @Test("the types of a coder are stored in its user information")
  func userInfo() {
    let encoder = StowEncoder()
    #expect(encoder.types.names.isEmpty)
    encoder.userInfo[CodingUserInfoKey(rawValue: "other")!] = 1
    encoder.types = .shapes
    #expect(encoder.userInfo.count == 2)
    #expect((encoder.userInfo[.typeRegistry] as? TypeRegistry)?.names == TypeRegistry.shapes.names)
  }

  #if os(macOS) || os(Linux) || os(Windows)
    @Test("registering a name for two types traps")
    func twice() async {
      await #expect(processExitsWith: .failure) {
        var types = TypeRegistry.shapes
        types.register(Label.self, as: "circle")
      }
      await #expect(processExitsWith: .failure) {
        var types = TypeRegistry()
        types.register([Label].self, as: "labels")
      }
    }
  #endif
}

@Suite("Values of types that are not registered")
struct UnregisteredValueTests {
  private struct Drawing: Codable {
    @Polymorphic var shapes: [any Shape]
  }

  private static var older: TypeRegistry {
    var types = TypeRegistry()
    types.register(Circle.self, as: "circle")
    types.fallback = UnknownShape.self
    return types
  }

  @Test("values of unregistered types are kept and written unchanged")
  func kept() throws {
    let drawing = Drawing(shapes: [Circle(radius: 1), Square(side: 2), ShapeGroup(parts: [Square(side: 3)])])
    let newer = StowCoder(types: .shapes)
    let older = StowCoder(types: Self.older)
    let data = try newer.encode(drawing)
    let read = try older.decode(Drawing.self, from: data)
    #expect(read.shapes[0] as? Circle == Circle(radius: 1))
    let unknown = try #require(read.shapes[1] as? UnknownShape)
    #expect(unknown.typeName == "square")
    #expect(unknown.content == ["side": 2.0, "made": .date(Date(timeIntervalSinceReferenceDate: 0.1))])
    let written = try older.encode(read)
    #expect(try StowValue(from: written) == StowValue(from: data))
    let copy = try newer.decode(Drawing.self, from: written)
    #expect(copy.shapes[1] as? Square == Square(side: 2))
    #expect((copy.shapes[2] as? ShapeGroup)?.parts[0] as? Square == Square(side: 3))
    let json = JSONCoder(types: Self.older)
    let again = try json.decode(Drawing.self, from: json.encode(read))
    #expect((again.shapes[2] as? UnknownShape)?.typeName == "group")
  }

  @Test("a fallback value is encoded and decoded as itself")
  func themselves() throws {
    for coder in coders(TypeRegistry()) {
      let unknown = UnknownShape(typeName: "star", content: ["rays": 5])
      #expect(try coder.decode(UnknownShape.self, from: coder.encode(unknown)) == unknown)
      let two = try coder.encode(["star": 1, "moon": 2])
      #expect(failure { try coder.decode(UnknownShape.self, from: two) } == .typeMismatch())
    }
  }

  @Test("an unregistered type is an error if the fallback does not belong to the family")
  func otherFamily() throws {
    struct Zoo: Codable { @Polymorphic var animals: [Pet] }
    for coder in coders(Self.older) {
      let data = try coder.encode(["animals": [["cat": ["name": "Ada"]]]])
      #expect(failure { try coder.decode(Zoo.self, from: data) } == .typeMismatch("animals", 0, "cat"))
    }
  }
}
