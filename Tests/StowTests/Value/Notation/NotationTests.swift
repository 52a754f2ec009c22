import Foundation
import Stow
import StowNotation
import Testing

@Suite("Diagnostic notation")
struct NotationTests {
  /// Whether a text is read as the value, to the bytes of its message.
  private func expectSame(_ text: String, _ value: StowValue) throws {
    let read = try StowValue(notation: text)
    #expect(read.isSame(as: value), "\(text)")
    #expect(try read.encoded() == value.encoded(), "\(text)")
  }

  @Test("values have the diagnostic notation that FORMAT.md gives")
  func examples() throws {
    let examples = try FormatDocument.load().notations
    #expect(examples.count > 20)
    for (message, text) in examples {
      let value = try StowValue(from: message)
      #expect(value.description == text)
      try expectSame(text, value)
    }
  }

  @Test("the notation of every vector is read as the same value")
  func vectors() throws {
    for vector in try VectorFile.all.get() where vector.kind != .refused && vector.context == nil {
      let value = try StowValue(from: vector.bytes)
      guard vector.isWritable else { continue }
      try expectSame(value.description, value)
      // The few longest take long, and have nothing that others lack.
      if vector.bytes.count > 10_000 { continue }
      for width in [0, 20, 100] { try expectSame(value.notation(width: width), value) }
    }
  }

  @Test("the notation of random values is read as the same values")
  func randomValues() {
    forEachCase(of: 0..<8) { (seed: UInt64) in
      var random = SeededGenerator(seed: seed)
      for _ in 0..<500 {
        let value = StowValue.ofAnyKind(&random, depth: 4)
        try expectSame(value.description, value)
        try expectSame(value.notation(width: random.below(120)), value)
      }
    }
  }

  @Test("the notation of dates keeps every bit")
  func dates() throws {
    var random = SeededGenerator(seed: 7)
    var seconds: [Double] = [
      0, -0.0, 0.5, -0.5, -1e-3, 1e-9, 86_399.999, -63_145_526_400, 252_423_993_599, .nan,
    ]
    seconds += [
      252_423_993_600, -63_145_526_400.5, 801_234_567.123, .infinity, .leastNonzeroMagnitude, 1e300,
    ]
    for _ in 0..<5_000 {
      seconds.append((Double(random.below(800_000_000)) - 4e8) / [1, 2, 10, 1000, 0.01].randomElement(using: &random)!)
      seconds.append(Double(bitPattern: random.next()))
    }
    for seconds in seconds {
      let value = StowValue.date(Date(timeIntervalSinceReferenceDate: seconds))
      #expect(try StowValue(notation: value.description) == value, "\(seconds): \(value)")
    }
  }

  @Test("the notation names days as Foundation does")
  func calendar() throws {
    // Before 1582 Foundation has another calendar.
    for days in stride(from: -150_000, to: 2_900_000, by: 1_237) {
      let date = Date(timeIntervalSinceReferenceDate: Double(days) * 86_400 + 3_661)
      #expect(StowValue.date(date).description == "date\"\(date.ISO8601Format())\"")
    }
    for text in [
      "2000-02-29T23:59:59Z", "1900-02-28T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
    ] {
      #expect(try StowValue(notation: "date\"\(text)\"").description == "date\"\(text)\"")
    }
  }

  @Test("the notation reads JSON")
  func json() throws {
    let text = #" { "a" : [ 1 , -0 , 2.5e3, 1E2, "\u00e9\ud83d\ude00\/\b\f" ] , "b":{} , "c" : [ ],"d":null}  "#
    let expected: StowValue = [
      "a": [1, 0, 2500.0, 100.0, "é😀/\u{8}\u{C}"], "b": [:], "c": [], "d": .null,
    ]
    #expect(try StowValue(notation: text) == expected)
  }

  @Test("the notation breaks lines only where it must")
  func lines() {
    let value: StowValue = [
      "name": "Ada", "tags": ["a", "b"], "numbers": .array((0..<6).map { StowValue($0) }),
    ]
    #expect(value.notation() == value.description)
    #expect(
      value.notation(width: 24) == """
        {
          "name": "Ada",
          "tags": ["a", "b"],
          "numbers": [
            0,
            1,
            2,
            3,
            4,
            5
          ]
        }
        """)
    let lines = StowValue.array([value, value]).notation(width: 64).split(separator: "\n")
    #expect(lines.count == 12 && lines.allSatisfy { $0.count <= 64 })
    // To the last column, and no further.
    #expect(StowValue.array([12, 34]).notation(width: 8) == "[12, 34]")
    #expect(StowValue.array([12, 34]).notation(width: 7) == "[\n  12,\n  34\n]")
    #expect(StowValue.array([12, 34]).notation(width: .min) == "[\n  12,\n  34\n]")
    #expect(StowValue.array([["k": [1]], 2]).notation(width: 12) == "[\n  {\n    \"k\": [1]\n  },\n  2\n]")
    #expect(StowValue.array([["k": [1]], 2]).notation(width: 13) == "[\n  {\"k\": [1]},\n  2\n]")
  }

  @Test("notation is written and read in time in proportion to the value")
  func longStringsInside() throws {
    func nest(depth: Int) throws -> StowValue {
      var value = StowValue.string(String(repeating: "é", count: 20_000))
      for _ in 0..<depth { value = .array([value]) }
      #expect(try StowValue(notation: value.notation()) == value)
      return value
    }
    let (deep, flat) = (try nest(depth: 500), try nest(depth: 1))
    // The string is most of both. Written again for each level, it would take 500 times as long.
    try expect(
      { _ = try StowValue(notation: deep.notation()) }, takesLessThan: 100,
      times: { _ = try StowValue(notation: flat.notation()) })
  }
}
