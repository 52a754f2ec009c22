import Foundation
import Stow
import Testing

@Suite("Decoding errors compared with those of JSONDecoder")
struct DecodingErrorTests {
  private struct Point: Codable {
    var x: Int
    var y: Double
  }

  private struct Shape: Codable {
    var name: String
    var corners: [Point]
    var center: Point?
    var tags: [String: [Bool]]
  }

  private enum Color: String, Codable { case red, green }

  private enum Command: Codable {
    case move(x: Int, y: Int)
    case stop
    case say(String)
  }

  private static let good: JSONValue = [
    "name": "n", "corners": [["x": 1, "y": 2.5]], "center": nil, "tags": ["t": [true]],
  ]

  private static func shape(_ key: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var fields) = good else { return nil }
    fields[key] = value
    return .object(fields)
  }

  @Test("values of the wrong kind at the top fail as in JSON")
  func top() {
    forEachCase(of: [nil, true, 1, 1.5, "text", [], [1], [:], ["k": 1], ["x": 1]] as [JSONValue]) {
      (value: JSONValue) in
      func check<T: Codable>(_ type: T.Type) {
        if case .double = value, type is any BinaryInteger.Type {
          expectRefused(type, from: value)
        } else if (try? JSONDecoder().decode(type, from: JSONEncoder().encode(value))) == nil {
          expectFailsAsInJSON(type, from: value)
        }
      }
      if value != nil { check(Bool.self) }
      check(Int.self)
      check(UInt8.self)
      check(String.self)
      check(Double.self)
      check(Float.self)
      check([Int].self)
      check([String: Int].self)
      check([Int: Int].self)
      check(Point.self)
      check([Point].self)
      check(Color.self)
      check(Command.self)
      check(Date.self)
      check(UUID.self)
      check(URL.self)
      check(Decimal.self)
      check([Bool].self)
      check([String].self)
      check([Double].self)
      check([Color: Int].self)
    }
  }

  @Test("typeMismatch in fields, elements and dictionaries is the same as in JSON")
  func typeMismatch() {
    expectFailsAsInJSON(Shape.self, from: Self.shape("name", 1))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", "x"))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": 1.5], ["x": "1", "y": 1.5]]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": 1.5], ["x": 1, "y": true]]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": 1.5], 7]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("center", []))
    expectFailsAsInJSON(Shape.self, from: Self.shape("tags", ["t": [true, 1]]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("tags", ["t": ["u": true]]))
    expectFailsAsInJSON([Shape].self, from: [Self.good, Self.shape("tags", ["t": [true, false, "x"]])])
  }

  @Test("valueNotFound in fields, elements and dictionaries is the same as in JSON")
  func valueNotFound() {
    expectFailsAsInJSON(Shape.self, from: Self.shape("name", JSONValue.null))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", JSONValue.null))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": 2], nil]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": nil]]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("tags", ["t": nil]))
    expectFailsAsInJSON([String: Date].self, from: ["d": JSONValue.null])
    expectFailsAsInJSON([String: UUID].self, from: ["d": JSONValue.null])
    expectFailsAsInJSON([Decimal].self, from: [1, JSONValue.null])
  }

  /// JSONDecoder calls this one a type mismatch, unlike nil for every other type.
  @Test("nil for a Bool is valueNotFound or typeMismatch")
  func nilForBool() {
    for failure in [
      failure(decoding: [Bool].self, from: [true, nil] as JSONValue),
      failure(decoding: [String: [Bool]].self, from: ["k": [true, nil]] as JSONValue),
    ] {
      #expect([.valueNotFound, .typeMismatch].contains(failure?.kind))
      #expect(failure?.path.last == 1)
    }
  }

  @Test("keyNotFound in objects at every depth is the same as in JSON")
  func keyNotFound() {
    for key in ["name", "corners", "tags"] {
      expectFailsAsInJSON(Shape.self, from: Self.shape(key, nil))
      expectFailsAsInJSON([Shape].self, from: [Self.good, Self.shape(key, nil)])
    }
    expectFailsAsInJSON(Shape.self, from: Self.shape("corners", [["x": 1, "y": 2], ["y": 2]]))
    expectFailsAsInJSON(Shape.self, from: Self.shape("center", ["x": 1]))
    #expect(
      failure(decoding: [Shape].self, from: [Self.shape("center", ["x": 1])])
        == .keyNotFound("y", 0, "center"))
  }

  @Test("dataCorrupted thrown by the types themselves is the same as in JSON")
  func dataCorrupted() {
    expectFailsAsInJSON([Color].self, from: ["red", "blue"])
    expectFailsAsInJSON([String: Color].self, from: ["a": "blue"])
    expectFailsAsInJSON([UUID].self, from: ["not a UUID"])
    expectFailsAsInJSON([URL].self, from: ["http://example.org", ""])
    expectFailsAsInJSON([Color: Int].self, from: ["red"])
    expectFailsAsInJSON(Range<Int>.self, from: [2, 1])
  }

  @Test("enums with associated values fail as in JSON")
  func enums() {
    let values: [JSONValue] = [
      [:], ["fly": [:]], ["move": [:], "stop": [:]], ["move": ["x": 1]], ["move": ["x": 1, "y": "2"]],
      ["move": 1], ["say": [:]], ["say": ["_0": 1]], ["stop": nil],
    ]
    for value in values {
      expectFailsAsInJSON(Command.self, from: value)
      expectFailsAsInJSON([String: [Command]].self, from: ["list": [["stop": [:]], value]])
    }
  }

  @Test("dictionaries with keys of other types fail as in JSON")
  func dictionaryKeys() {
    expectFailsAsInJSON([Int: Int].self, from: ["one": 1])
    expectFailsAsInJSON([[Int: Int]].self, from: [["1": 1], ["one": 1]])
    expectFailsAsInJSON([Color: Int].self, from: ["red", 1, "blue", 2] as [JSONValue])
    expectFailsAsInJSON([Color: Int].self, from: ["red", "1"] as [JSONValue])
    expectFailsAsInJSON([Color: Int].self, from: ["red": 1])
  }

  @Test("containers requested by hand fail as in JSON")
  func byHand() {
    let value: JSONValue = ["i": 1, "n": nil, "o": ["x": [1]], "l": [1, nil]]
    for key in ["i", "n", "o", "l", "missing"] as [AnyKey] {
      if key != "o" {
        expectFailsAsInJSON(reading: value) {
          _ = try $0.container(keyedBy: AnyKey.self).nestedContainer(keyedBy: AnyKey.self, forKey: key)
        }
        expectFailsAsInJSON(reading: value) {
          _ = try $0.container(keyedBy: AnyKey.self).superDecoder(forKey: key).container(keyedBy: AnyKey.self)
        }
      }
      if key != "l" {
        expectFailsAsInJSON(reading: value) {
          _ = try $0.container(keyedBy: AnyKey.self).nestedUnkeyedContainer(forKey: key)
        }
        expectFailsAsInJSON(reading: value) {
          _ = try $0.container(keyedBy: AnyKey.self).superDecoder(forKey: key).unkeyedContainer()
        }
      }
      expectFailsAsInJSON(reading: value) {
        _ = try $0.container(keyedBy: AnyKey.self).superDecoder(forKey: key).readSingle(String.self)
      }
      expectFailsAsInJSON(reading: value) {
        _ = try $0.container(keyedBy: AnyKey.self).decode(String.self, forKey: key)
      }
    }
    expectFailsAsInJSON(reading: value) { try $0.container(keyedBy: AnyKey.self).decodeNil(forKey: "missing") }
    expectFailsAsInJSON(reading: value) {
      _ = try $0.container(keyedBy: AnyKey.self).decodeIfPresent(Int.self, forKey: "o")
    }
    expectFailsAsInJSON(reading: value) { _ = try $0.unkeyedContainer() }
    expectFailsAsInJSON(reading: [1]) { _ = try $0.container(keyedBy: AnyKey.self) }
  }

  @Test("an error that a type throws keeps its path")
  func ownErrors() {
    struct Picky: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "never")
      }
    }
    #expect(failure(decoding: [String: [Picky]].self, from: ["k": [1]]) == .dataCorrupted("k", 0))
    struct Refusing: Decodable {
      init(from decoder: any Decoder) throws { throw Refusal() }
    }
    #expect(throws: Refusal()) { try transcode(["k": [1]], to: [String: [Refusing]].self) }
  }
}
