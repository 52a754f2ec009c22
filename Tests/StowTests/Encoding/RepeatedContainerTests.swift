import Stow
import Testing

@Suite("Asking an encoder for a container several times")
struct RepeatedContainerTests {
  @Test("a second keyed container adds to the same object")
  func keyedTwice() throws {
    try expectWritten(["a": 1, "b": 2, "c": 3]) { encoder in
      var first = encoder.container(keyedBy: AnyKey.self)
      try first.encode(1, forKey: "a")
      var second = encoder.container(keyedBy: AnyKey.self)
      try second.encode(2, forKey: "b")
      try first.encode(3, forKey: "c")
    }
  }

  @Test("keyed containers of different key types share one object")
  func keyedByDifferentTypes() throws {
    enum Names: String, CodingKey { case a, b }
    enum Others: String, CodingKey { case b, c }
    try expectWritten(["a": 1, "b": 4, "c": 3]) { encoder in
      var names = encoder.container(keyedBy: Names.self)
      var others = encoder.container(keyedBy: Others.self)
      try names.encode(1, forKey: .a)
      try names.encode(2, forKey: .b)
      try others.encode(3, forKey: .c)
      try others.encode(4, forKey: .b)
    }
  }

  @Test("an object in a single-value container is added to the present one, even if it throws")
  func objectsInSingleValueContainers() throws {
    enum Names: String, CodingKey { case a, b, c, list }
    let adds = Writes { encoder in
      var container = encoder.container(keyedBy: Names.self)
      try container.encode(2, forKey: .b)
    }
    let throwing = Writes { encoder in
      try adds.encode(to: encoder)
      throw Refusal()
    }
    try expectWritten(["a": 1, "b": 2]) { encoder in
      var container = encoder.container(keyedBy: Names.self)
      try container.encode(1, forKey: .a)
      try Optional(adds).encode(to: encoder)
    }
    try expectWritten(["a": 1, "b": 2, "c": 3, "list": [4]]) { encoder in
      var container = encoder.container(keyedBy: Names.self)
      try container.encode(1, forKey: .a)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(4)
      var single = encoder.singleValueContainer()
      #expect(throws: Refusal.self) { try single.encode(throwing) }
      try container.encode(3, forKey: .c)
    }
    try expectWritten(["list": ["a": 1, "b": 2, "c": 3]]) { encoder in
      var outer = encoder.container(keyedBy: Names.self)
      let late = outer.superEncoder(forKey: .list)
      var container = late.container(keyedBy: Names.self)
      try container.encode(1, forKey: .a)
      var single = late.singleValueContainer()
      #expect(throws: Refusal.self) { try single.encode(throwing) }
      try container.encode(3, forKey: .c)
    }
  }

  @Test("a second unkeyed container continues where the first is")
  func unkeyedTwice() throws {
    try expectWritten([1, 2, 3]) { encoder in
      var first = encoder.unkeyedContainer()
      try first.encode(1)
      var second = encoder.unkeyedContainer()
      #expect(second.count == 1)
      try second.encode(2)
      #expect(first.count == 2)
      try first.encode(3)
    }
  }

  @Test("an array continues where it ended, even for a key of another type")
  func arraysByDifferentKeyTypes() throws {
    enum Names: String, CodingKey { case list }
    try expectWritten(["list": [1, 2, 3]]) { encoder in
      var names = encoder.container(keyedBy: Names.self)
      var first = names.nestedUnkeyedContainer(forKey: .list)
      try first.encode(1)
      var others = encoder.container(keyedBy: AnyKey.self)
      var second = others.nestedUnkeyedContainer(forKey: "list")
      #expect(second.count == 1)
      try second.encode(
        Writes {
          #expect($0.codingPath.map(\.stringValue) == ["list", "Index 1"])
          try $0.writeSingle(2)
        })
      try first.encode(3)
      #expect(second.count == 3)
    }
  }

  @Test("a copy of a container writes to the same place")
  func copies() throws {
    try expectWritten(["list": [1, 2], "x": 1, "y": 2]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      var copy = container
      try container.encode(1, forKey: "x")
      try copy.encode(2, forKey: "y")
      var list = container.nestedUnkeyedContainer(forKey: "list")
      var listCopy = list
      try list.encode(1)
      try listCopy.encode(2)
    }
  }

  @Test("requested containers that are not used leave an empty object or array")
  func unused() throws {
    try expectWritten([:]) { _ = $0.container(keyedBy: AnyKey.self) }
    try expectWritten([]) { _ = $0.unkeyedContainer() }
    try expectWritten(["a": [:], "b": []]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
      _ = container.nestedUnkeyedContainer(forKey: "b")
    }
  }

  @Test("a requested single-value container that is not used is not a value")
  func unusedSingle() throws {
    try expectWritten(["a": 1]) { encoder in
      _ = encoder.singleValueContainer()
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
    }
  }

  @Test("subclass and superclass share one keyed container")
  func inheritance() throws {
    let dog = Dog(name: "Rex", breed: "terrier")
    #expect(try transcode(dog, to: JSONValue.self) == ["name": "Rex", "breed": "terrier"])
    let copy = try roundTrip(dog)
    #expect(copy.name == "Rex")
    #expect(copy.breed == "terrier")
  }

  @Test("subclass and superclass share one keyed container in every element of an array")
  func inheritanceInArray() throws {
    let dogs = (0..<50).map { Dog(name: "dog \($0)", breed: "breed \($0 % 3)") }
    let copies = try roundTrip(dogs)
    #expect(copies.map(\.name) == dogs.map(\.name))
    #expect(copies.map(\.breed) == dogs.map(\.breed))
  }

  @Test("a superclass can have an encoder of its own")
  func inheritanceThroughSuperEncoder() throws {
    let cat = Cat(name: "Tom", lives: 9)
    #expect(try transcode(cat, to: JSONValue.self) == ["super": ["name": "Tom"], "lives": 9])
    let copy = try roundTrip(cat)
    #expect(copy.name == "Tom")
    #expect(copy.lives == 9)
  }

  @Test("the count of an unkeyed container grows with every element of any kind")
  func count() throws {
    try expectWritten([1, nil, "s", ["a": 1], [], [:], [1, 2]]) { encoder in
      var list = encoder.unkeyedContainer()
      #expect(list.count == 0)
      try list.encode(1)
      #expect(list.count == 1)
      try list.encodeNil()
      #expect(list.count == 2)
      try list.encode("s")
      #expect(list.count == 3)
      try list.encode(["a": 1])
      #expect(list.count == 4)
      _ = list.nestedUnkeyedContainer()
      #expect(list.count == 5)
      _ = list.nestedContainer(keyedBy: AnyKey.self)
      #expect(list.count == 6)
      try list.encode([1, 2])
      #expect(list.count == 7)
    }
  }

  @Test("the contents of a sequence are encoded one by one")
  func contents() throws {
    try expectWritten([1, 2, "a", "b", true, false, 1.5, 2.5, [3], [4], 5]) { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(contentsOf: [1, 2])
      try list.encode(contentsOf: ["a", "b"])
      try list.encode(contentsOf: [true, false])
      try list.encode(contentsOf: [1.5, 2.5])
      try list.encode(contentsOf: [[3], [4]])
      try list.encode(contentsOf: CollectionOfOne(5 as UInt8))
      #expect(list.count == 11)
    }
  }

  @Test("nil is encoded in every container")
  func encodeNil() throws {
    try expectWritten(nil) { encoder in
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
    try expectWritten(["a": nil, "b": [nil, nil]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encodeNil(forKey: "a")
      var list = container.nestedUnkeyedContainer(forKey: "b")
      try list.encodeNil()
      try list.encode(Int?.none)
    }
  }

  @Test("a conditional object is encoded")
  func encodeConditional() throws {
    let dog = Dog(name: "Rex", breed: "terrier")
    let object: JSONValue = ["name": "Rex", "breed": "terrier"]
    try expectWritten(["dog": object, "list": [object]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encodeConditional(dog, forKey: "dog")
      var list = container.nestedUnkeyedContainer(forKey: "list")
      try list.encodeConditional(dog)
    }
  }

  @Test("only values that are present are encoded if present")
  func encodeIfPresent() throws {
    try expectWritten(["a": 1, "s": "x", "d": ["k": 1]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encodeIfPresent(1 as Int?, forKey: "a")
      try container.encodeIfPresent(nil as Int?, forKey: "b")
      try container.encodeIfPresent("x" as String?, forKey: "s")
      try container.encodeIfPresent(nil as String?, forKey: "t")
      try container.encodeIfPresent(["k": 1] as [String: Int]?, forKey: "d")
      try container.encodeIfPresent(nil as [String: Int]?, forKey: "e")
    }
  }
}

class Animal: Codable {
  var name: String

  init(name: String) {
    self.name = name
  }
}

final class Dog: Animal {
  var breed: String

  private enum CodingKeys: String, CodingKey { case breed }

  init(name: String, breed: String) {
    self.breed = breed
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    breed = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .breed)
    try super.init(from: decoder)
  }

  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(breed, forKey: .breed)
  }
}

final class Cat: Animal {
  var lives: Int

  private enum CodingKeys: String, CodingKey { case lives }

  init(name: String, lives: Int) {
    self.lives = lives
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    lives = try container.decode(Int.self, forKey: .lives)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(lives, forKey: .lives)
    try super.encode(to: container.superEncoder())
  }
}
