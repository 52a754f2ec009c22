import Stow
import Testing

@Suite("Optionals")
struct OptionalTests {
  private struct Fields: Codable, Equatable {
    var int: Int?
    var text: String?
    var list: [Int?]?
    var nested: [String: Bool?]?
  }

  @Test("optional fields are decoded unchanged, absent or present")
  func fields() {
    expectRoundTrip(Fields())
    expectRoundTrip(Fields(int: 1, text: "", list: [], nested: [:]))
    expectRoundTrip(Fields(list: [nil, 1, nil], nested: ["a": nil, "b": true]))
    expectRoundTrip([Fields(), Fields(int: 1), Fields(text: "x"), Fields()])
  }

  @Test("optional elements, values of keys and messages are decoded unchanged")
  func elsewhere() {
    expectRoundTrip(Int?.none)
    expectRoundTrip(Int?.some(1))
    expectRoundTrip([1, nil, 3] as [Int?])
    expectRoundTrip([nil, nil] as [Int?])
    expectRoundTrip([nil, 0.5, nil] as [Double?])
    expectRoundTrip([true, nil, false] as [Bool?])
    expectRoundTrip([nil, "a", "a"] as [String?])
    expectRoundTrip(["a": nil, "b": 1] as [String: Int?])
    expectRoundTrip([[1, nil], nil, []] as [[Int?]?])
  }

  @Test("an absent field has no key in the object")
  func absent() throws {
    #expect(try transcode(Fields(int: 1), to: JSONValue.self) == ["int": 1])
    #expect(try transcode(Fields(), to: JSONValue.self) == [:])
  }
}

@Suite("Levels of optionals")
struct OptionalLevelTests {
  private struct Two: Codable, Equatable {
    var value: Int??
    var text: String??
    var other = 0
  }

  private struct Three: Codable, Equatable {
    var value: Int???
  }

  private static let two: [Int??] = [.none, .some(.none), 1]
  private static let three: [Int???] = [.none, .some(.none), .some(.some(.none)), 1]

  @Test("optionals at the top level keep their levels")
  func top() throws {
    for value in Self.two { #expect(try roundTrip(value) == value) }
    for value in Self.three { #expect(try roundTrip(value) == value) }
  }

  @Test("optionals in arrays keep their levels")
  func arrays() {
    expectRoundTrip(Self.two)
    expectRoundTrip(Self.three)
    expectRoundTrip([Int??](repeating: .some(.none), count: 20))
    expectRoundTrip([[Int??]](repeating: Self.two, count: 3))
    expectRoundTrip([.some(.none), "a", .none, "a"] as [String??])
    expectRoundTrip([.some(.none), true, .none] as [Bool??])
    expectRoundTrip([.some(.none), [1], .none] as [[Int]??])
  }

  @Test("optionals in dictionaries keep their levels")
  func dictionaries() {
    expectRoundTrip(["a": .none, "b": .some(.none), "c": 1] as [String: Int??])
    expectRoundTrip([1: .none, 2: .some(.none), 3: .some(.some(.none)), 4: 1] as [Int: Int???])
  }

  @Test("optionals in fields keep their levels")
  func fields() {
    for value in Self.two {
      expectRoundTrip(Two(value: value))
      expectRoundTrip(Two(value: value, text: .some(.none), other: 1))
    }
    expectRoundTrip(Self.two.map { Two(value: $0) })
    expectRoundTrip(Self.three.map { Three(value: $0) })
    for value in Self.three { expectRoundTrip(Three(value: value)) }
  }

  @Test("optionals of optional objects keep their levels")
  func objects() {
    struct Holder: Codable, Equatable {
      var two: Two??
    }
    expectRoundTrip([
      Holder(two: .none), Holder(two: .some(.none)), Holder(two: Two(value: .some(.none))),
      Holder(two: Two()),
    ])
  }

  @Test("optionals that are written to containers by hand keep their levels")
  func byHand() throws {
    struct Value: Codable, Equatable {
      var keyed: Int??
      var list: [Int???] = []

      enum CodingKeys: CodingKey { case keyed, list }

      init(keyed: Int??, list: [Int???]) {
        self.keyed = keyed
        self.list = list
      }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(keyed, forKey: .keyed)
        var nested = container.nestedUnkeyedContainer(forKey: .list)
        for element in list { try nested.encode(element) }
      }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keyed = try container.decode(Int??.self, forKey: .keyed)
        var nested = try container.nestedUnkeyedContainer(forKey: .list)
        while !nested.isAtEnd { list.append(try nested.decode(Int???.self)) }
      }
    }
    for value in Self.two { expectRoundTrip(Value(keyed: value, list: Self.three)) }
  }

  @Test("a reader of plain optionals finds nil at every level")
  func plainReader() throws {
    #expect(try transcode(Self.two, to: [Int?].self) == [nil, nil, 1])
    #expect(try transcode(Self.three, to: [Int?].self) == [nil, nil, nil, 1])
    #expect(try transcode(["k": Int??.some(.none)], to: [String: Int?].self) == ["k": nil])
    #expect(try transcode(Int??.some(.none), to: Int?.self) == nil)
    struct Plain: Codable, Equatable {
      var value: Int?
      var other: Int
    }
    #expect(
      try transcode(Self.two.map { Two(value: $0, other: 3) }, to: [Plain].self)
        == [Plain(value: nil, other: 3), Plain(value: nil, other: 3), Plain(value: 1, other: 3)])
  }

  @Test("a generic reader finds nil at every level")
  func genericReader() throws {
    #expect(try transcode(Self.three, to: JSONValue.self) == [nil, nil, nil, 1])
    #expect(try transcode(Int??.some(.none), to: JSONValue.self) == nil)
  }

  @Test("plain optionals are read with more levels")
  func fromPlain() throws {
    let values = try transcode([nil, 1] as [Int?], to: [Int??].self)
    #expect(values.map { $0 ?? nil } == [nil, 1] as [Int?])
    #expect(try transcode(["other": 2], to: Two.self) == Two(other: 2))
    #expect(try transcode(["value": 1, "other": 2], to: Two.self) == Two(value: 1, other: 2))
  }

  @Test("decodeNil is true at every level")
  func decodeNil() throws {
    try read(Self.three) { decoder in
      var list = try decoder.unkeyedContainer()
      for _ in 0..<3 { #expect(try list.decodeNil()) }
      #expect(try list.decode(Int.self) == 1)
    }
    try read(["k": Int??.some(.none)]) { decoder in
      let container = try decoder.container(keyedBy: AnyKey.self)
      #expect(container.contains("k"))
      #expect(try container.decodeNil(forKey: "k"))
      #expect(failure { try container.decode(Int.self, forKey: "k") } == .valueNotFound("k"))
    }
  }
}
