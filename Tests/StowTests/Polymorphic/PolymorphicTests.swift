import Foundation
import Stow
import Testing

@Suite("Values of several types")
struct PolymorphicTests {
  private struct Drawing: Codable {
    @Polymorphic var shapes: [any Shape]
    @Polymorphic var frame: (any Shape)?
    @Polymorphic var named: [String: any Shape]
    @Polymorphic var rows: [[(any Shape)?]]
    @Polymorphic var numbered: [Int: any Shape]?
  }

  private static let drawing = Drawing(
    shapes: [Circle(radius: 1), ShapeGroup(parts: [Square(side: 2), Circle(radius: 0.5)])],
    frame: Square(side: 9), named: ["a": Square(side: 1)], rows: [[Circle(radius: 3), nil], []],
    numbered: [-4: Circle(radius: 4)])

  @Test("polymorphic values are decoded unchanged in all kinds of properties, by any coder")
  func properties() throws {
    for coder in coders(.shapes) {
      let copy = try coder.decode(Drawing.self, from: coder.encode(Self.drawing))
      #expect(copy.shapes[0] as? Circle == Circle(radius: 1))
      let parts = try #require(copy.shapes[1] as? ShapeGroup).parts
      #expect(parts[0] as? Square == Square(side: 2))
      #expect(parts[1] as? Circle == Circle(radius: 0.5))
      #expect(copy.shapes.count == 2 && parts.count == 2)
      #expect(copy.frame as? Square == Square(side: 9))
      #expect(copy.named["a"] as? Square == Square(side: 1))
      #expect(copy.rows[0][0] as? Circle == Circle(radius: 3))
      #expect(copy.rows[0][1] == nil && copy.rows[1].isEmpty && copy.rows.count == 2)
      #expect(copy.numbered?[-4] as? Circle == Circle(radius: 4))
    }
  }

  @Test("an optional polymorphic value is nil if its path leads to nothing")
  func missingParts() throws {
    let coder = StowCoder(types: .shapes)
    let decoder = StowDecoder()
    decoder.types = .shapes
    var unframed = Self.drawing
    unframed.frame = nil
    let data = try coder.encode([Self.drawing, unframed])
    #expect(try decoder.decode(polymorphic: (any Shape)?.self, from: data, at: [1, "frame"]) == nil)
    #expect(try decoder.decode(polymorphic: (any Shape)?.self, from: data, at: [0, "shapes", 7]) == nil)
    let frames = try decoder.decode(polymorphic: [(any Shape)?].self, from: data, at: [.each, "frame"])
    #expect(frames.count == 2 && frames[0] as? Square == Square(side: 9) && frames[1] == nil)
    #expect(throws: DecodingError.self) {
      try decoder.decode(polymorphic: (any Shape).self, from: data, at: [1, "frame"])
    }
  }

  @Test("a polymorphic value is an object with one key, the name of its type")
  func form() throws {
    let coder = StowCoder(types: .shapes)
    let value = try StowValue(from: coder.encode(Self.drawing))
    #expect(value["shapes"]?[0] == ["circle": ["radius": 1.0]])
    #expect(value["rows"]?[0]?[1] == .null)
    #expect(value["numbered"] == ["-4": ["circle": ["radius": 4.0]]])
  }

  @Test("optional values are left out if they are nil, and are nil if they are missing")
  func missing() throws {
    struct Frame: Codable { @Polymorphic var frame: (any Shape)? }
    struct Nothing: Codable {}
    for coder in coders(.shapes) {
      let empty = try coder.encode(Frame(frame: nil))
      #expect(try coder.decode([String: Circle].self, from: empty).isEmpty)
      #expect(try coder.decode(Frame.self, from: empty).frame == nil)
      #expect(try coder.decode(Frame.self, from: coder.encode(["frame": Int?.none])).frame == nil)
    }
  }

  @Test("a missing value that is not optional throws keyNotFound")
  func required() throws {
    struct Frame: Codable { @Polymorphic var frame: any Shape }
    for coder in coders(.shapes) {
      let empty = try coder.encode([String: Int]())
      #expect(failure { try coder.decode(Frame.self, from: empty) } == .keyNotFound("frame"))
    }
  }

  @Test("a polymorphic value may be the whole message")
  func top() throws {
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    encoder.types = .shapes
    decoder.types = .shapes
    let shape: any Shape = Square(side: 4)
    let data = try encoder.encode(polymorphic: shape)
    #expect(try decoder.decode(polymorphic: (any Shape).self, from: data) as? Square == Square(side: 4))
    #expect(try decoder.decode(polymorphic: (any Shape).self, from: [UInt8](data)) as? Square == Square(side: 4))
    // A type that is wanted as itself is named, too.
    #expect(try decoder.decode(polymorphic: Square.self, from: data) == Square(side: 4))
    let list: [any Shape] = [shape, Circle(radius: 1)]
    let copy = try decoder.decode(polymorphic: [any Shape].self, from: encoder.encode(polymorphic: list))
    #expect(copy[1] as? Circle == Circle(radius: 1))
    let nothing: (any Shape)? = nil
    let none = try encoder.encode(polymorphic: nothing)
    #expect(try decoder.decode(polymorphic: (any Shape)?.self, from: none) == nil)
  }

  @Test("polymorphic values may be subclasses, which are found by their dynamic type")
  func classes() throws {
    var types = TypeRegistry()
    types.register(Pet.self, as: "animal")
    types.register(Terrier.self, as: "dog")
    struct Zoo: Codable { @Polymorphic var animals: [Pet] }
    for coder in coders(types) {
      let zoo = Zoo(animals: [Pet(name: "Ida"), Terrier(name: "Rex", tricks: ["sit"])])
      let copy = try coder.decode(Zoo.self, from: coder.encode(zoo)).animals
      #expect(type(of: copy[0]) == Pet.self && copy[0].name == "Ida")
      #expect((copy[1] as? Terrier)?.tricks == ["sit"] && copy[1].name == "Rex")
    }
  }

  @Test("a nested nil whose level would be lost is an error")
  func nestedNil() throws {
    struct Levels: Codable { @Polymorphic var value: (any Shape)?? }
    for coder in coders(.shapes) {
      #expect(failure { try coder.encode(Levels(value: .some(nil))) } == .invalidValue("value"))
      let some = Levels(value: Circle(radius: 1))
      let copy = try coder.decode(Levels.self, from: coder.encode(some)).value
      #expect(copy as? Circle == Circle(radius: 1))
      #expect(try coder.decode(Levels.self, from: coder.encode(Levels(value: nil))).value as Any? == nil)
    }
  }

  @Test("wrappers of polymorphic values are equal, hashable and sendable if their values are")
  func conformances() {
    func isSendable(_ value: some Sendable) {}
    isSendable(Polymorphic<[any Shape]>(wrappedValue: []))
    #expect(Polymorphic(wrappedValue: Circle(radius: 1)) == Polymorphic(wrappedValue: Circle(radius: 1)))
    #expect(Set([Polymorphic(wrappedValue: 1), Polymorphic(wrappedValue: 1)]).count == 1)
  }

  @Test("64 threads encode and decode polymorphic values with one coder")
  func threads() throws {
    let coder = StowCoder(types: .shapes)
    let data = try coder.encode(Self.drawing)
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      #expect(throws: Never.self) {
        for _ in 0..<20 {
          let copy = try coder.decode(Drawing.self, from: data)
          #expect(copy.frame as? Square == Square(side: 9))
          #expect(try coder.encode(copy) == data)
        }
      }
    }
  }
}
