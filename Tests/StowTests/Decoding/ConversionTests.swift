import Foundation
import Stow
import Testing

@Suite("Conversions between types as in JSON")
struct ConversionTests {
  private static let dates = [
    0, 1, -1, 0.5, 700_000_000, 700_000_000.123456, -1e10, 1e-9, 63_113_904_000.25,
  ].map { Date(timeIntervalSinceReferenceDate: $0) }

  @Test("a Date is read as a Double, and back")
  func dates() throws {
    for date in Self.dates {
      #expect(try transcode(date, to: Double.self) == date.timeIntervalSinceReferenceDate)
      #expect(try transcode(date.timeIntervalSinceReferenceDate, to: Date.self) == date)
    }
    let seconds = Self.dates.map(\.timeIntervalSinceReferenceDate)
    #expect(try transcode(Self.dates, to: [Double].self) == seconds)
    #expect(try transcode(seconds, to: [Date].self) == Self.dates)
    #expect(try transcode(["k": Self.dates[4]], to: [String: Double].self) == ["k": seconds[4]])
  }

  @Test("a UUID is read as a String, and back")
  func uuids() throws {
    let ids = (0..<4).map { _ in UUID() }
    #expect(try transcode(ids[0], to: String.self) == ids[0].uuidString)
    #expect(try transcode(ids, to: [String].self) == ids.map(\.uuidString))
    #expect(try transcode(ids.map(\.uuidString), to: [UUID].self) == ids)
    #expect(try transcode(ids[0].uuidString.lowercased(), to: UUID.self) == ids[0])
    #expect(try transcode(["k": ids[0]], to: [String: String].self) == ["k": ids[0].uuidString])
  }

  @Test("a URL is read as a String, and back")
  func urls() throws {
    let urls = ["https://example.org/a?b=c#d", "relative/path", "mailto:a@example.org"].map {
      URL(string: $0)!
    }
    #expect(try transcode(urls, to: [String].self) == urls.map(\.absoluteString))
    #expect(try transcode(urls.map(\.absoluteString), to: [URL].self) == urls)
    #expect(try transcode(urls[0], to: String.self) == urls[0].absoluteString)
    let relative = URL(string: "c/d", relativeTo: URL(string: "https://example.org/a/b"))!
    #expect(try transcode(relative, to: String.self) == "https://example.org/a/c/d")
  }

  @Test("a dictionary with integer keys is read with string keys, and back")
  func integerKeys() throws {
    #expect(try transcode([1: "a", -2: "b"], to: [String: String].self) == ["1": "a", "-2": "b"])
    #expect(try transcode(["1": "a", "-2": "b"], to: [Int: String].self) == [1: "a", -2: "b"])
    #expect(try transcode([[1: [2: 3]]], to: [[String: [String: Int]]].self) == [["1": ["2": 3]]])
  }

  @Test("an enum with raw values is read as its raw value, and back")
  func rawValues() throws {
    enum Color: String, Codable { case red, green }
    enum Level: Int, Codable {
      case low = 1
      case high = 10
    }
    #expect(try transcode([Color.red, .green], to: [String].self) == ["red", "green"])
    #expect(try transcode(["red", "red"], to: [Color].self) == [.red, .red])
    #expect(try transcode([Level.low, .high], to: [Int].self) == [1, 10])
    #expect(try transcode([10, 1], to: [Level].self) == [.high, .low])
  }

  @Test("a set is read as an array, and a struct as a dictionary, and back")
  func collections() throws {
    struct Point: Codable, Equatable {
      var x: Int
      var y: Int
    }
    #expect(try transcode(Set([1]), to: [Int].self) == [1])
    #expect(try transcode([1, 2, 2], to: Set<Int>.self) == [1, 2])
    #expect(try transcode(Point(x: 1, y: 2), to: [String: Int].self) == ["x": 1, "y": 2])
    #expect(try transcode(["x": 1, "y": 2], to: Point.self) == Point(x: 1, y: 2))
    #expect(try transcode([Point(x: 1, y: 2)], to: [[String: Double]].self) == [["x": 1, "y": 2]])
    let points = (0..<30).map { Point(x: $0, y: -$0 * 1000) }
    #expect(try transcode(points, to: [[String: Int]].self) == points.map { ["x": $0.x, "y": $0.y] })
    #expect(try transcode(points.map { ["x": $0.x, "y": $0.y] }, to: [Point].self) == points)
  }
}

@Suite("Decimals read as numbers")
struct DecimalConversionTests {
  @Test("a whole Decimal is read as an integer and as a floating-point number")
  func whole() throws {
    #expect(try transcode(Decimal(42), to: Int.self) == 42)
    #expect(try transcode(Decimal(-42), to: Int8.self) == -42)
    #expect(try transcode(Decimal(42), to: Double.self) == 42)
    expectRefused(Int8.self, from: Decimal(300))
  }

  @Test("a Decimal is read as a Double, rounded")
  func fraction() throws {
    #expect(try transcode(Decimal(string: "12.5")!, to: Double.self) == 12.5)
    #expect(abs(try transcode(Decimal(string: "0.1")!, to: Double.self) - 0.1) < 1e-16)
    #expect(try transcode(Decimal(string: "-0.25")!, to: Float.self) == -0.25)
    expectRefused(Int.self, from: Decimal(string: "12.5")!)
  }
}

@Suite("Data as bytes")
struct DataConversionTests {
  private static let samples: [[UInt8]] = [[], [0], [255], [1, 2, 3], [7, 7, 7, 7], Array(0...255)]

  @Test("Data is read as [UInt8], and back")
  func bytes() throws {
    for bytes in Self.samples {
      #expect(try transcode(Data(bytes), to: [UInt8].self) == bytes)
      #expect(try transcode(bytes, to: Data.self) == Data(bytes))
      #expect(try transcode(["k": Data(bytes)], to: [String: [UInt8]].self) == ["k": bytes])
      #expect(try transcode(["k": [bytes]], to: [String: [Data]].self) == ["k": [Data(bytes)]])
    }
  }

  @Test("rows of a matrix are read as Data")
  func rows() throws {
    let rows = (0..<5).map { row in (0..<4).map { UInt8(50 * row + $0) } }
    let data = try StowEncoder().encode(rows)
    #expect(data.first == 0x7B)
    #expect(try StowDecoder().decode([Data].self, from: data) == rows.map { Data($0) })
    #expect(try StowDecoder().decode(Data.self, from: data, at: [3]) == Data(rows[3]))
    #expect(throws: DecodingError.self) { try transcode([[1, 256], [2, 3], [4, 5]], to: [Data].self) }
  }

  @Test("Data is read as any array of integers that hold its bytes, and back")
  func integers() throws {
    #expect(try transcode(Data([1, 255]), to: [Int].self) == [1, 255])
    #expect(try transcode([1, 255] as [Int64], to: Data.self) == Data([1, 255]))
    #expect(try transcode(Data([1, 2]), to: Set<UInt16>.self) == [1, 2])
    expectRefused([Int8].self, from: Data([1, 255]), at: 1)
  }

  @Test("integers that are not bytes are not read as Data")
  func notBytes() {
    for value in [[1, 256], [-1], [1, nil], ["a"], [0.5], [[1]], true, 1, "AQI=", [:]] as [JSONValue] {
      let failure = failure(decoding: [Data].self, from: [value])
      #expect([.typeMismatch, .dataCorrupted, .valueNotFound].contains(failure?.kind))
      #expect(failure?.path.first == 0)
    }
  }

  @Test("Data is read byte by byte through an unkeyed container")
  func unkeyed() throws {
    try read(Data([1, 2, 3])) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(list.count == 3)
      #expect(try list.decode(UInt8.self) == 1)
      #expect(try !list.decodeNil())
      #expect(failure { try list.decode(String.self) } == .typeMismatch(1))
      #expect(try list.decode(Int.self) == 2)
      #expect(list.currentIndex == 2)
      #expect(try list.decode(Double.self) == 3)
      #expect(list.isAtEnd)
      #expect(failure { try list.decode(UInt8.self) } == .valueNotFound(3))
    }
  }
}

@Suite("Generic values")
struct GenericReadingTests {
  private struct Everything: Codable, Equatable {
    struct Point: Codable, Equatable {
      var x: Double
      var y: Int
      var on: Bool
    }
    var date = Date(timeIntervalSinceReferenceDate: 12.5)
    var id = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
    var url = URL(string: "https://example.org/x")!
    var data = Data([1, 2, 255])
    var decimal = Decimal(7)
    var ints = [1, 1000, -70000]
    var same = [5, 5, 5, 5]
    var doubles = [0.5, 0.25, 1e300]
    var scaled = [0.1, 0.2, 0.3]
    var floats: [Float] = [0.5, 1.5]
    var bools = [true, false, true]
    var points = [
      Point(x: 0.5, y: 1, on: true), Point(x: 1.5, y: 2, on: false), Point(x: 2.5, y: 3, on: true),
    ]
    var dates = [Date(timeIntervalSinceReferenceDate: 0.5), Date(timeIntervalSinceReferenceDate: 1.5)]
    var ids = [UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!]
    var missing: Int?
    var matrix = [[0.5, 1.5], [2.5]]
    var names = [1: "one"]
  }

  @Test("a generic value reads dates, UUIDs, URLs, data, decimals and packed arrays")
  func everything() throws {
    let id: JSONValue = "00112233-4455-6677-8899-AABBCCDDEEFF"
    var value = try transcode(Everything(), to: JSONValue.self)
    if case .object(var fields) = value {
      // A whole Decimal may be read as an integer or as a float.
      #expect([.int(7), .double(7)].contains(fields.removeValue(forKey: "decimal")))
      value = .object(fields)
    }
    #expect(
      value == [
        "date": 12.5, "id": id, "url": "https://example.org/x", "data": [1, 2, 255],
        "ints": [1, 1000, -70000], "same": [5, 5, 5, 5], "doubles": [0.5, 0.25, 1e300],
        "scaled": [0.1, 0.2, 0.3], "floats": [0.5, 1.5], "bools": [true, false, true],
        "points": [
          ["x": 0.5, "y": 1, "on": true], ["x": 1.5, "y": 2, "on": false], ["x": 2.5, "y": 3, "on": true],
        ],
        "dates": [0.5, 1.5], "ids": [id], "matrix": [[0.5, 1.5], [2.5]], "names": ["1": "one"],
      ])
  }

  @Test("what a generic value writes is read as the original type")
  func backAgain() throws {
    let value = Everything()
    let generic = try transcode(value, to: JSONValue.self)
    #expect(try transcode(generic, to: Everything.self) == value)
    #expect(try transcode([generic, generic], to: [Everything].self) == [value, value])
  }

  @Test("a generic value reads arrays whose elements alternate in type")
  func alternating() throws {
    let date = Date(timeIntervalSinceReferenceDate: 0.5)
    let data = try message { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(date)
      try list.encode(0.5)
      try list.encode(Data([1]))
      try list.encode([1])
      try list.encode(date)
      try list.encode(Decimal(string: "0.5")!)
      try list.encode(Float(0.5))
    }
    let value = try StowDecoder().decode(JSONValue.self, from: data)
    #expect(value == [0.5, 0.5, [1], [1], 0.5, 0.5, 0.5])
  }
}
