import Foundation
import Stow
import Testing

@Suite("Dictionaries")
struct DictionaryTests {
  private enum Suit: String, Codable, CodingKeyRepresentable { case hearts, spades }
  private enum Rank: Int, Codable, CodingKeyRepresentable {
    case ace = 1
    case two = 2
  }
  private enum Bare: String, Codable { case x, y }
  private struct Point: Codable, Hashable {
    var x: Int
    var y: Int
  }
  private struct Name: CodingKeyRepresentable, Codable, Hashable {
    var text: String
    var codingKey: any CodingKey { AnyKey(text) }
    init(_ text: String) { self.text = text }
    init?(codingKey: some CodingKey) { text = codingKey.stringValue }
  }

  @Test("dictionaries with string keys are decoded unchanged")
  func strings() {
    expectRoundTrip([String: Int]())
    expectRoundTrip(["": 0, "a": 1, "b": -1])
    expectRoundTrip(["a": ["b": ["c": ["d": 1]]], "e": [:]])
    expectRoundTrip(["a": "text", "b": "text", "c": ""])
    expectRoundTrip(["a": [1, 2], "b": []])
    expectRoundTrip(["a": Point(x: 1, y: 2)])
  }

  @Test("dictionaries with integer keys are decoded unchanged")
  func integers() {
    expectRoundTrip([Int: String]())
    expectRoundTrip([0: "a", -1: "b", .max: "c", .min: "d"])
    expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<500).map { ($0 * 7 - 1000, [$0]) }))
    expectRoundTrip([1: [2: [3: 4]]])
  }

  @Test("dictionaries with CodingKeyRepresentable keys are objects")
  func representable() throws {
    expectRoundTrip([Suit.hearts: 1, .spades: 2])
    expectRoundTrip([Rank.ace: "one", .two: "two"])
    expectRoundTrip([Name("x"): [Name("y"): 1]])
    #expect(try transcode([Suit.hearts: 1, .spades: 2], to: JSONValue.self) == ["hearts": 1, "spades": 2])
    #expect(try transcode([Rank.ace: "one"], to: JSONValue.self) == ["1": "one"])
    #expect(try transcode([Name("x"): 1], to: JSONValue.self) == ["x": 1])
  }

  @Test("dictionaries with other keys are arrays of alternating keys and values")
  func alternating() throws {
    expectRoundTrip([Bare.x: 1, .y: 2])
    expectRoundTrip([Point(x: 1, y: 2): "a", Point(x: 3, y: 4): "b"])
    expectRoundTrip([0.5: "half", -1.5: "less"])
    expectRoundTrip([true: 1, false: 0])
    expectRoundTrip([UInt8(1): UInt8(2)])
    expectRoundTrip([[1]: [2], []: []])
    #expect(try transcode([Bare.x: 1], to: JSONValue.self) == ["x", 1])
    #expect(try transcode([Point(x: 1, y: 2): 3], to: JSONValue.self) == [["x": 1, "y": 2], 3])
  }

  /// Keys that are equal if their letters are, small or capital.
  private struct Header: CodingKeyRepresentable, Codable, Hashable {
    var name: String
    var codingKey: any CodingKey { AnyKey(name) }
    init?(codingKey: some CodingKey) { name = codingKey.stringValue.lowercased() }
  }

  @Test("an object is refused if two of its keys are equal in the dictionary")
  func equalKeys() throws {
    func expectRefused<T: Decodable>(_ type: T.Type, from value: StowValue) throws {
      let list: StowValue = ["list": .array(Array(repeating: value, count: 20))]
      for value in [["list": [value]], list] {
        #expect(failure { try value.decode([String: [T]].self) } == .dataCorrupted("list", 0))
        #expect(failure { try value.decode([String: [T?]].self) } == .dataCorrupted("list", 0))
        let message = try StowMessage(from: value.encoded())
        #expect(failure { try message.decode(type, at: ["list", 0]) } == .dataCorrupted("list", 0))
      }
    }
    try expectRefused([Int: Int].self, from: ["1": 1, "01": 2])
    try expectRefused([Int: StowValue].self, from: ["7": [1], "+7": "x", "8": nil])
    let id = UUID().uuidString
    try expectRefused([UUID: Int].self, from: [.string(id), 1, .string(id.lowercased()), 2])
    try expectRefused([Header: String].self, from: ["Host": "a", "host": "b"])
    try expectRefused([Float: Int].self, from: [1.5, 1, 1.50000000001, 2])
    #expect(try (["1": 1, "2": 2] as StowValue).decode([Int: Int].self) == [1: 1, 2: 2])
  }

  @Test("arrays of similar and different dictionaries are decoded unchanged")
  func inArrays() {
    expectRoundTrip((0..<50).map { ["a": $0, "b": -$0] })
    expectRoundTrip((0..<50).map { ["only \($0)": $0] })
    expectRoundTrip((0..<50).map { i in Dictionary(uniqueKeysWithValues: (0..<(i % 6)).map { ("k\($0)", i) }) })
    expectRoundTrip([[:], ["a": [[:], ["b": [1]]]]])
    expectRoundTrip([[1: "a"], [2: "b", 3: "c"], [:]])
  }

  @Test("dictionaries with values of many kinds are decoded unchanged")
  func generic() {
    let value: JSONValue = [
      "n": nil, "b": true, "i": 1, "d": 0.5, "s": "s", "a": [1, "a", nil],
      "o": ["n": nil, "o": ["b": false]],
    ]
    expectRoundTrip(value)
    expectRoundTrip(["x": value, "y": [value, value]] as JSONValue)
  }

  @Test("equal keys at different depths are decoded unchanged")
  func sameKeys() {
    expectRoundTrip(["a": ["a": ["a": ["a": 1]]]])
    expectRoundTrip(["a": ["a": 1, "b": 2], "b": ["a": 3, "b": 4]])
  }

  @Test("dictionaries of every value type with a form of its own are decoded unchanged")
  func specialValues() {
    expectRoundTrip(["a": Date(timeIntervalSinceReferenceDate: 0.5), "b": .distantPast])
    expectRoundTrip(["a": UUID(), "b": UUID()])
    expectRoundTrip(["a": Data([1, 2]), "b": Data()])
    expectRoundTrip(["a": Decimal(string: "1.5")!])
    expectRoundTrip(["a": [true, false], "b": []])
    expectRoundTrip(["a": 0.5, "b": -0.25])
    expectRoundTrip(["a": Float(0.1)])
    expectRoundTrip(["a": true])
    expectRoundTrip(["a": 1 as Int?, "b": nil])
  }
}
