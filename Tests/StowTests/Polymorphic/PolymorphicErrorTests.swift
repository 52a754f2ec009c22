import Foundation
import Stow
import Testing

@Suite("Values of types that do not fit")
struct PolymorphicErrorTests {
  private struct Drawing: Codable {
    @Polymorphic var shapes: [any Shape]
  }

  private struct Triangle: Shape {
    var area: Double { 1 }
  }

  private func text(_ body: () throws -> some Any) -> String {
    do {
      _ = try body()
      return ""
    } catch EncodingError.invalidValue(_, let context) {
      return context.debugDescription
    } catch DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context) {
      return context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test("encoders refuse unregistered types, and the error names the type and the registered ones")
  func unregistered() {
    let drawing = Drawing(shapes: [Circle(radius: 1), Triangle()])
    for coder in coders(.shapes) {
      #expect(failure { try coder.encode(drawing) } == .invalidValue("shapes", 1))
      #expect(
        text { try coder.encode(drawing) }
          == "The type Triangle is not registered. Registered are: circle, group, label, square.")
    }
    #expect(text { try StowEncoder().encode(drawing) }.hasSuffix("No types are registered (see TypeRegistry)."))
  }

  @Test("a subclass is refused if only its superclass is registered")
  func subclass() {
    var types = TypeRegistry()
    types.register(Pet.self, as: "animal")
    struct Zoo: Codable { @Polymorphic var animals: [Pet] }
    for coder in coders(types) {
      #expect(
        failure { try coder.encode(Zoo(animals: [Terrier(name: "Rex", tricks: [])])) }
          == .invalidValue("animals", 0))
    }
  }

  @Test("decoders refuse names of types that are not registered")
  func unknownName() throws {
    for coder in coders(.shapes) {
      let data = try coder.encode(["shapes": [["circle": ["radius": 1.0]], ["Foundation.URL": ["radius": 1.0]]]])
      #expect(
        failure { try coder.decode(Drawing.self, from: data) }
          == .dataCorrupted("shapes", 1, "Foundation.URL"))
      #expect(
        text { try coder.decode(Drawing.self, from: data) }
          == "No type is named \"Foundation.URL\". Registered are: circle, group, label, square.")
      // What is said of a name is not as long as the name.
      let name = String(repeating: "n", count: 100_000)
      let long = try coder.encode(["shapes": [[name: 1]]])
      #expect(text { try coder.decode(Drawing.self, from: long) }.utf8.count < 300)
    }
  }

  @Test("a registered type that does not conform to the wanted protocol is refused")
  func otherFamily() throws {
    for coder in coders(.shapes) {
      let data = try coder.encode(["shapes": [["label": ["text": "a"]]]])
      #expect(failure { try coder.decode(Drawing.self, from: data) } == .typeMismatch("shapes", 0, "label"))
      let text = text { try coder.decode(Drawing.self, from: data) }
      #expect(text.contains("Shape") && text.contains("Label"))
      // It is decoded before it is known that it is of another protocol.
      let broken = try coder.encode(["shapes": [["label": ["text": 1]]]])
      #expect(
        failure { try coder.decode(Drawing.self, from: broken) }
          == .typeMismatch("shapes", 0, "label", "text"))
    }
  }

  @Test("values that are not objects with one key are refused")
  func otherForms() throws {
    for coder in coders(.shapes) {
      for value: JSONValue in [[:], ["circle": ["radius": 1], "square": ["side": 1]], [1], 1, "circle", nil] {
        let data = try coder.encode(["shapes": [value]])
        let found = failure { try coder.decode(Drawing.self, from: data) }
        #expect([.typeMismatch("shapes", 0), .valueNotFound("shapes", 0)].contains(found), "\(value)")
      }
      let data = try coder.encode(["shapes": [["circle": ["radius": "wide"]]]])
      #expect(
        failure { try coder.decode(Drawing.self, from: data) }
          == .typeMismatch("shapes", 0, "circle", "radius"))
    }
  }

  @Test("invalid and repeated keys of a dictionary are refused")
  func keys() throws {
    struct Numbered: Codable { @Polymorphic var numbered: [Int: any Shape] }
    let circle = ["circle": ["radius": 1.0]]
    for coder in coders(.shapes) {
      for keys in [["one": circle], ["1": circle, "01": circle]] {
        let data = try coder.encode(["numbered": keys])
        let found = failure { try coder.decode(Numbered.self, from: data) }
        #expect(found?.kind == .dataCorrupted && found?.path.count == 2)
      }
    }
  }

  @Test("polymorphic values that nest too deep are refused")
  func depth() throws {
    var shape: any Shape = Circle(radius: 1)
    for _ in 0..<400 { shape = ShapeGroup(parts: [shape]) }
    let encoder = StowEncoder()
    encoder.types = .shapes
    #expect(failure { try encoder.encode(polymorphic: shape) }?.kind == .invalidValue)
  }

  @Test("changed bytes of polymorphic values decode or throw a DecodingError")
  func mutations() throws {
    let coder = StowCoder(types: .shapes)
    let drawing = Drawing(shapes: [
      Circle(radius: 1), ShapeGroup(parts: [Square(side: 2)]), Circle(radius: 0.5),
    ])
    let data = [UInt8](try coder.encode(drawing))
    for index in data.indices {
      for byte in stride(from: UInt8.min, to: .max, by: 5) {
        var changed = data
        changed[index] ^= byte
        do { _ = try coder.decoder.decode(Drawing.self, from: changed) } catch is DecodingError {} catch {
          Issue.record(error)
        }
      }
      #expect(throws: DecodingError.self) { try coder.decoder.decode(Drawing.self, from: data[..<index]) }
    }
  }
}
