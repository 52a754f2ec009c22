import Foundation
import Stow
import Testing

@Suite("Arrays of records")
struct RecordArrayTests {
  private struct Point: Codable, Equatable {
    var x: Double
    var y: Double
    var z: Double
  }

  private struct Sample: Codable, Equatable {
    var on: Bool
    var count: Int
    var small: UInt8
    var value: Float
    var time: Date
    var exact: Double
  }

  private struct Sparse: Codable, Equatable {
    var a: Int?
    var b: Double?
    var c: Bool?
    var d: Int
  }

  @Test("arrays of points of every length are decoded unchanged")
  func points() {
    forEachCase(of: [0, 1, 2, 3, 4, 10, 255, 256, 2000]) { (count: Int) in
      expectRoundTrip((0..<count).map { Point(x: Double($0), y: Double($0) / 8, z: -0.1 * Double($0)) })
      expectRoundTrip([Point](repeating: Point(x: 0.5, y: 0, z: -0.0), count: count))
    }
  }

  @Test("columns of Bools, integers, floats and dates are decoded unchanged")
  func columns() {
    let samples = (0..<100).map { (i: Int) -> Sample in
      let time = Date(timeIntervalSinceReferenceDate: 1e8 + Double(i) * 0.25)
      let value = Float(i) / 3
      let exact = Double(i) / 7
      return Sample(on: i % 3 == 0, count: i * 1000 - 50000, small: UInt8(i), value: value, time: time, exact: exact)
    }
    expectRoundTrip(samples)
  }

  @Test("columns whose values differ in width from row to row are decoded unchanged")
  func widths() {
    let values = [0, 1, -1, 127, -128, 255, 300, -40000, 70000, 1 << 40, .max, .min]
    expectRoundTrip(
      values.map {
        Sample(
          on: $0 > 0, count: $0, small: 0, value: Float($0), time: Date(timeIntervalSinceReferenceDate: 0),
          exact: $0 == 300 ? .infinity : Double($0))
      })
  }

  @Test("columns of optionals that are absent in some rows are decoded unchanged")
  func optionals() {
    expectRoundTrip(
      (0..<64).map { i in
        Sparse(a: i & 1 == 0 ? nil : i, b: i & 2 == 0 ? nil : Double(i) / 2, c: i & 4 == 0 ? nil : i % 5 == 0, d: i)
      })
    expectRoundTrip((0..<20).map { Sparse(a: $0 == 13 ? nil : $0, b: 0.5, c: true, d: $0) })
    expectRoundTrip((0..<20).map { Sparse(a: $0 == 13 ? 1 : nil, b: nil, c: nil, d: $0) })
    expectRoundTrip([Sparse](repeating: Sparse(d: 1), count: 20))
  }

  @Test("rows with one that does not fit the others are decoded unchanged")
  func oddRow() {
    let rows: [JSONValue] = (0..<20).map { ["x": .int($0), "y": .double(Double($0) / 4 + 0.125)] }
    let odd: [JSONValue] = [
      nil, 1, "text", [], [:], ["x": 1], ["x": "text", "y": 0.5], ["x": 1, "y": 0.5, "z": 1],
      ["y": 0.5, "x": nil],
      ["x": [1], "y": 0.5], ["x": true, "y": 0.5], ["x": 0.25, "y": 3], ["x": .uint(.max), "y": 1e300],
    ]
    for row in odd {
      for index in [0, 10, 20] {
        var values = rows
        values.insert(row, at: index)
        expectRoundTrip(values)
      }
    }
  }

  @Test("records within records are decoded unchanged")
  func nested() {
    struct Line: Codable, Equatable {
      var from: Point
      var to: Point
      var label: String?
      var points: [Point]
    }
    let point = Point(x: 0.5, y: 1, z: -0.1)
    expectRoundTrip(
      (0..<30).map { i in
        Line(
          from: point, to: Point(x: Double(i), y: 0, z: 0), label: i % 4 == 0 ? "label" : nil,
          points: [Point](repeating: point, count: i % 5))
      })
  }

  @Test("alternating records of several shapes are decoded unchanged")
  func severalShapes() {
    expectRoundTrip(
      (0..<60).map { i -> JSONValue in
        switch i % 3 {
        case 0: ["a": .int(Int64(i)), "b": "text"]
        case 1: ["b": "text", "c": [1, 2]]
        default: ["a": .int(Int64(i)), "b": "text", "c": ["a": 1, "b": "deep"]]
        }
      })
  }

  @Test("records with the same keys and values of other types are decoded unchanged")
  func sameKeys() throws {
    struct A: Codable, Equatable {
      var id: Int
      var value: String
    }
    struct B: Codable, Equatable {
      var value: [Int]
      var id: Bool
    }
    struct Both: Codable, Equatable {
      var first: [A]
      var second: [B]
    }
    expectRoundTrip(
      Both(
        first: (0..<10).map { A(id: $0, value: "v") }, second: (0..<10).map { B(value: [$0], id: $0 == 1) }))
  }

  @Test("records of one field and of fields that are all absent are decoded unchanged")
  func small() {
    struct One: Codable, Equatable {
      var only: Int
    }
    struct Maybe: Codable, Equatable {
      var only: Int?
    }
    expectRoundTrip((0..<300).map { One(only: $0) })
    expectRoundTrip([One(only: 1)])
    expectRoundTrip([Maybe](repeating: Maybe(), count: 50))
    expectRoundTrip((0..<50).map { Maybe(only: $0 % 2 == 0 ? nil : $0) })
  }
}

@Suite("Records with many optional fields")
struct OptionalRecordTests {
  private struct Wide: Codable, Equatable {
    var a: Int?
    var b: String?
    var c: Double?
    var d: Bool?
    var e: [Int]?
    var f: UInt8?
    var g: String?
    var h: Date?
    var i: Int?
    var j: String?
    var k: Double?
    var l: Bool?
    var m: [String: Int]?
    var n: Int16?
    var o: Float?
    var p: String?

    init(bits: Int, number: Int) {
      func on(_ bit: Int) -> Bool { bits >> bit & 1 == 1 }
      a = on(0) ? number : nil
      b = on(1) ? "b \(number % 7)" : nil
      c = on(2) ? Double(number) / 4 : nil
      d = on(3) ? number % 2 == 0 : nil
      e = on(4) ? [number] : nil
      f = on(5) ? UInt8(truncatingIfNeeded: number) : nil
      g = on(6) ? "g" : nil
      h = on(7) ? Date(timeIntervalSinceReferenceDate: Double(number)) : nil
      i = on(8) ? -number : nil
      j = on(9) ? "j" : nil
      k = on(10) ? 0.1 : nil
      l = on(11) ? true : nil
      m = on(12) ? ["m": number] : nil
      n = on(13) ? 300 : nil
      o = on(14) ? 0.5 : nil
      p = on(15) ? "p \(number)" : nil
    }
  }

  @Test("300 records with random choices of sixteen optional fields are decoded unchanged")
  func random() {
    var random = SeededGenerator(seed: 1)
    expectRoundTrip((0..<300).map { Wide(bits: Int.random(in: 0..<65536, using: &random), number: $0) })
  }

  @Test("fields that are mostly present, mostly absent or never present are decoded unchanged")
  func shares() {
    var random = SeededGenerator(seed: 2)
    func bits() -> Int { Int.random(in: 0..<65536, using: &random) }
    expectRoundTrip((0..<100).map { Wide(bits: bits() | bits() | bits(), number: $0) })
    expectRoundTrip((0..<100).map { Wide(bits: bits() & bits() & bits(), number: $0) })
    expectRoundTrip((0..<100).map { Wide(bits: 0, number: $0) })
    expectRoundTrip((0..<100).map { Wide(bits: 65535, number: $0) })
    expectRoundTrip((0..<16).map { Wide(bits: 1 << $0, number: $0) })
    expectRoundTrip(Wide(bits: 0b1010_1010_1010_1010, number: 5))
  }

  @Test("a field that only the last record has is decoded unchanged")
  func lateField() {
    expectRoundTrip((0..<100).map { Wide(bits: $0 == 99 ? 1 : 0b1000, number: $0) })
    expectRoundTrip((0..<100).map { Wide(bits: $0 == 99 ? 1 << 15 : 0b1000, number: $0) })
  }

  @Test("a column stores offsets from its least integer only if that takes fewer bytes")
  func offsets() throws {
    for (count, type) in [3: 0x02, 4: 0xD1] as [Int: UInt8] {
      let rows = (0..<count).map { [1000 + $0, $0, 300 * $0] }
      #expect(try [UInt8](StowEncoder().encode(rows)).dropFirst(2).prefix(2) == [3, type])
    }
  }
}
