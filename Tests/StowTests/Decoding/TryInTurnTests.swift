import Foundation
import Stow
import Testing

@Suite("Trying one type and then another")
struct TryInTurnTests {
  private enum Either<Left: Codable & Equatable, Right: Codable & Equatable>: Codable, Equatable {
    case left(Left)
    case right(Right)

    init(from decoder: any Decoder) throws {
      do {
        self = .left(try Left(from: decoder))
      } catch {
        self = .right(try Right(from: decoder))
      }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .left(let value): try value.encode(to: encoder)
      case .right(let value): try value.encode(to: encoder)
      }
    }
  }

  private struct Point: Codable, Equatable {
    var x: Int
    var y: Int
  }

  private struct Named: Codable, Equatable {
    var x: Int
    var name: String
  }

  @Test("a generic value survives a round trip")
  func genericValue() throws {
    let value: JSONValue = [
      "null": nil, "yes": true, "no": false, "zero": 0, "one": 1, "minus": -1, "big": 9_007_199_254_740_993,
      "least": .int(.min), "most": .uint(.max), "half": 0.5, "tenth": 0.1, "huge": 1e300,
      "text": "text", "empty": "", "list": [1, "two", nil, [true, [], [:]], ["k": [0.25]]],
      "object": ["a": ["b": ["c": nil]]], "ints": [1, 2, 3], "doubles": [0.5, 1.5], "bools": [true, false],
    ]
    expectRoundTrip(value)
    guard case .object(let fields) = value else { return }
    for field in fields.values { expectRoundTrip(field) }
  }

  @Test("the first type that fits is taken")
  func either() throws {
    typealias Value = Either<Point, Named>
    let values: [Value] = [
      .left(Point(x: 1, y: 2)), .right(Named(x: 3, name: "n")), .left(Point(x: 4, y: 5)),
    ]
    expectRoundTrip(values)
    expectRoundTrip(["k": values])
    expectRoundTrip([Either<Int, String>.left(1), .right("1"), .left(-1), .right("")])
    expectRoundTrip([Either<[Int], [String: Int]>.left([1, 2]), .right(["k": 1]), .left([]), .right([:])])
    expectRoundTrip([Either<Bool, Double>.left(true), .right(0.5), .left(false)])
  }

  @Test("a failure deep inside the first type does not affect the second")
  func deepFailure() throws {
    typealias Value = Either<[[Point]], [[Either<Point, Named>]]>
    let point = Point(x: 1, y: 2)
    expectRoundTrip(Value.left([[point, point], [], [point]]))
    expectRoundTrip(Value.right([[.left(point)], [.left(point), .right(Named(x: 3, name: "n"))]]))
    expectRoundTrip([String: Value].init(uniqueKeysWithValues: [("k", .right([[.right(Named(x: 1, name: "n"))]]))]))
  }

  @Test("elements and fields can be tried as one type and then another by hand")
  func byHand() throws {
    try read([["x": 1, "y": "two"], ["x": 3, "y": 4]] as JSONValue) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect((try? list.decode(Point.self)) == nil)
      #expect((try? list.decode([Int].self)) == nil)
      let object = try list.nestedContainer(keyedBy: AnyKey.self)
      #expect((try? object.decode(Int.self, forKey: "y")) == nil)
      #expect(try object.decode(String.self, forKey: "y") == "two")
      #expect((try? object.nestedUnkeyedContainer(forKey: "x")) == nil)
      #expect(try object.decode(Int.self, forKey: "x") == 1)
      #expect(try list.decode(Point.self) == Point(x: 3, y: 4))
    }
  }

  @Test("one decoder can be tried for containers of every kind until one fits")
  func containersInTurn() throws {
    func kind(_ decoder: any Decoder) throws -> String {
      if (try? decoder.container(keyedBy: AnyKey.self)) != nil { return "object" }
      if (try? decoder.unkeyedContainer()) != nil { return "array" }
      return try decoder.singleValueContainer().decodeNil() ? "nil" : "scalar"
    }
    let values: [(JSONValue, String)] = [
      (["k": 1], "object"), ([:], "object"), ([1], "array"), ([], "array"), (nil, "nil"), (1, "scalar"),
      ("s", "scalar"), (true, "scalar"), (0.5, "scalar"), ([0.5, 1.5], "array"), ([["x": 1]], "array"),
    ]
    for (value, expected) in values { #expect(try read(value, kind) == expected) }
  }

  @Test("a lossy array drops the elements that do not fit")
  func lossyArray() throws {
    struct Lossy: Decodable {
      var points: [Point] = []
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
          if let point = try? list.decode(Point.self) {
            points.append(point)
          } else {
            _ = try list.superDecoder()
          }
        }
      }
    }
    let value: JSONValue = [["x": 1, "y": 2], 3, ["x": 4], nil, ["x": "5", "y": 6], ["x": 7, "y": 8], []]
    #expect(try transcode(value, to: Lossy.self).points == [Point(x: 1, y: 2), Point(x: 7, y: 8)])
  }

  @Test("a decoder reads the next message after one failed")
  func nextMessage() throws {
    let decoder = StowDecoder()
    let data = try StowEncoder().encode([Point(x: 1, y: 2), Point(x: 3, y: 4)])
    for _ in 0..<3 {
      #expect(throws: DecodingError.self) { try decoder.decode([Named].self, from: data) }
      #expect(try decoder.decode([Point].self, from: data) == [Point(x: 1, y: 2), Point(x: 3, y: 4)])
    }
  }
}
