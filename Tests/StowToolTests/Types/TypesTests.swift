import Foundation
import Stow
import StowNotation
import StowRecords
import Testing

@Suite("stowtool types")
struct TypesTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func types(_ notation: String, _ options: String...) throws -> Tool.Run {
    try Tool.run(["types"] + options + ["-"], input: StowValue(notation: notation).encoded())
  }

  /// The properties of all structs that are written.
  private func properties(_ notation: String) throws -> [String] {
    let run = try types(notation)
    #expect(run.code == 0 && run.errors.isEmpty)
    return run.lines.filter { $0.hasPrefix("  var ") }.map { String($0.dropFirst(6)) }
  }

  @Test("the written types compile and decode the values that were read")
  func compiled() throws {
    let text = #"""
      {
        "station": "Elbe", "opened": date"2026-11-23T10:00:00Z", "id": uuid"00112233-4455-6677-8899-AABBCCDDEEFF",
        "home_page": url"https://example.org/elbe", "zero": decimal"4.25", "key": data"AAEC", "class": "river",
        "count": -3, "tag": 18446744073709551615, "digits": 170141183460469231731687303715884105727, "self": true,
        "levels": [4.25, nan, null, null(1)], "mixed": [1, "a", {}], "note": null, "none": [],
        "twins": {"\u00E9": 1, "e\u0301": 2},
        "crew": [
          {"name": "Ada", "inout": 1}, {"name": "Alan", "since": date"2025-01-01T00:00:00Z", "inout": 2, "boss": null}
        ],
        "days": {"2026-11-23": {"low": 1.5, "high": 2.5}, "2026-11-24": {"low": 0.5, "high": 9.5}},
        "now": {"high": 1.25, "low": 1.125}, "quote\"\\(d)\u202E": 1, "Quote-d": 2, "stowFields": {"1": null, "2": true}
      }
      """#
    let run = try types(text, "--fields", "--name", "PrintedStation")
    // The output of this call is the file.
    #expect(try run.text == Vectors.document("Tests/StowToolTests/Types/PrintedStation.swift"))
    var value = try StowValue(notation: text)
    let station = try StowDecoder().decode(PrintedStation.self, from: value.encoded())
    #expect(station.station == "Elbe" && station.crew[1].since != nil && station.days["2026-11-24"]?.high == 9.5)
    try PrintedStation.stowFields.check(station)
    try Crew.stowFields.check(station.crew[1])
    try Day.stowFields.check(station.now)
    // An optional that is nil has no key.
    value["crew"]?[1]?["boss"] = nil
    #expect(try StowValue(from: StowEncoder().encode(station)) == value)
  }

  @Test("numbers get a type that holds all of them")
  func numbers() throws {
    let text = """
      {"int": [1, -9223372036854775808], "unsigned": [9223372036854775808, 1], "wide": [9223372036854775808, -1],
      "widest": [340282366920938463463374607431768211455], "none": [340282366920938463463374607431768211455, -1],
      "double": [1, 2.5], "exact": [9007199254740993, 2.5], "decimal": [decimal"1.5", 1], "bool": [true, 1]}
      """
    #expect(
      try properties(text) == [
        "int: [Int]", "unsigned: [UInt64]", "wide: [Int128]", "widest: [UInt128]", "none: [StowValue]",
        "double: [Double]", "exact: [StowValue]", "decimal: [StowValue]", "bool: [StowValue]",
      ])
  }

  @Test("values that may be missing or nil become optionals, and mixed ones become StowValue")
  func optionals() throws {
    let text = """
      [{"a": 1, "b": null, "c": [null, null(1), "x"], "d": url"a b", "e": null, "g": null},
      {"b": "x", "c": [], "d": url"a:b", "e": null, "f": [[]], "g": [1]}]
      """
    #expect(
      try properties(text) == [
        "a: Int?", "b: String?", "c: [String??]", "d: StowValue", "e: StowValue", "g: [Int]?",
        "f: [[StowValue]]?",
      ])
    #expect(try types("[]").text == "import Stow\n\ntypealias Root = [StowValue]\n")
    #expect(try types("[1, null]", "--name", "Levels").text == "typealias Levels = [Int?]\n")
    #expect(
      try types("[{\"a\": 1}]", "--name", "Levels").text == """
        typealias Levels = [Level]

        struct Level: Codable {
          var a: Int
        }

        """)
  }

  @Test("objects whose keys are data become dictionaries")
  func dictionaries() throws {
    let id = "00112233-4455-6677-8899-AABBCCDDEEFF"
    #expect(
      try properties(
        "{\"a\": {\"1\": 2, \"-3\": null}, \"b\": {\"\(id)\": \"x\"}, \"c\": {}, \"d\": {\"1\": 2, \"x\": 2}}"
      )
        == [
          "a: [String: Int?]", "b: [String: String]", "c: [String: StowValue]", "d: D", "_1: Int", "x: Int",
        ])
    func object(_ keys: Range<Int>, _ value: (Int) -> String) -> String {
      "{\(keys.map { "\"k\($0)\": \(value($0))" }.joined(separator: ", "))}"
    }
    #expect(try properties("{\"many\": \(object(0..<201) { "\($0)" })}") == ["many: [String: Int]"])
    #expect(try properties("{\"few\": \(object(0..<200) { "\($0)" })}").count == 201)
    let (one, two) = (object(0..<12) { "{\"a\": \($0)}" }, object(12..<24) { "{\"a\": \($0), \"b\": 1}" })
    #expect(try properties("{\"list\": [\(one), \(two)]}") == ["list: [[String: List]]", "a: Int", "b: Int?"])
    let (texts, numbers) = (object(0..<12) { "\"\($0)\"" }, object(12..<24) { "\($0)" })
    #expect(try properties("{\"list\": [\(texts), \(numbers)]}").count == 25)
  }

  @Test("names are made from keys, and no name is used twice")
  func names() throws {
    let keys = [
      "opening_hours", "XMLFile", "ID", "MAX_SIZE", "a b", "aB", "", "€", "2x", "größe", "$ref", "x1", "X1",
      "\u{202E}y",
    ]
    let value = StowValue.object(StowObject(keys.map { ($0, true) }))
    #expect(
      try properties(value.description).map { $0.dropLast(6) } == [
        "openingHours", "xmlFile", "id", "maxSize", "aB", "aB2", "value", "value2", "_2x", "größe", "ref",
        "x1", "x1_2",
        "y",
      ])
    let text = """
      {"data": {"data": data"AA=="}, "items": [{"type": {"a": 1}}], "item": {"b": 1}, "type": {"a": 2}}
      """
    #expect(
      try properties(text) == [
        "data: Data2", "items: [Item]", "item: Item2", "type: Type2", "data: Data", "type: Type2", "a: Int",
        "b: Int",
      ])
    for name in ["class", "String", "a b", "", "1", "_", "A\n"] {
      let run = try types("{}", "--name", name)
      #expect(run.code == 2 && run.output.isEmpty && run.errors.contains("--name needs"), "\(name)")
    }
  }

  @Test("keys that Swift considers equal but that have different bytes get different structs")
  func spellings() throws {
    let lines = try properties(#"{"a": {"\u00E9": 1}, "b": {"e\u0301": 1}, "c": {"\u00E9": 2}}"#)
    #expect(
      lines.map { Array($0.utf8) }
        == ["a: A", "b: B", "c: A", "\u{E9}: Int", "e\u{301}: Int"].map { Array($0.utf8) })
  }

  @Test("all records of logs and streams, and all files, share one type")
  func records() throws {
    let log = try RecordLog(at: folder.url.appending(path: "log"))
    for number in 0..<300 { try log.append(number < 299 ? ["number": number] : ["number": 1, "last": 2]) }
    try log.close()
    let stream = RecordStreamEncoder()
    try folder.file("stream", stream.encode(["text": "a"]) + stream.encode(["number": 1.5]))
    func lines(_ arguments: String...) throws -> [String] {
      let run = try Tool.run(["types"] + arguments)
      #expect(run.code == 0)
      return run.lines.filter { $0.hasPrefix("  var ") || $0.hasPrefix("typealias ") }
    }
    #expect(try lines(folder.path("log")) == ["  var number: Int", "  var last: Int?"])
    #expect(try lines("--record", "3-7", folder.path("log")) == ["  var number: Int"])
    #expect(try lines("--path", "number", folder.path("log")) == ["typealias Root = Int"])
    #expect(
      try lines(folder.path("stream"), folder.path("log"))
        == ["  var text: String?", "  var number: Double?", "  var last: Int?"])
  }

  @Test("unreadable input is reported, and deeply nested values are written")
  func hostile() throws {
    let bad = try Tool.run("types", "-", input: Data([0x91, 0x91]))
    #expect(bad.code == 1 && bad.output.isEmpty && bad.errors.contains("offset 1"))
    #expect(try Tool.run("types", folder.path("none")).code == 2)
    try RecordLog(at: folder.url.appending(path: "empty")).close()
    let empty = try Tool.run("types", folder.path("empty"))
    #expect(empty.code == 1 && empty.output.isEmpty && empty.errors.contains("no values"))
    for (opening, closing) in [("[", "]"), ("{\"a\": ", "}"), ("{\"1\": ", "}"), ("[{\"a\": ", "}]")] {
      let count = opening.utf8.first == UInt8(ascii: "[") && closing.count == 2 ? 255 : 510
      let text = String(repeating: opening, count: count) + "1" + String(repeating: closing, count: count)
      let run = try types(text, "--fields")
      #expect(run.code == 0 && run.text.contains("Int"))
      // With many of these in one type, the compiler takes for ever.
      #expect(run.lines.allSatisfy { $0.count { $0 == "[" } <= 8 })
    }
    let log = try RecordLog(at: folder.url.appending(path: "damaged"))
    for number in 0..<20_000 { try log.append(["number": number]) }
    try log.close()
    var data = try Data(contentsOf: folder.url.appending(path: "damaged"))
    data[data.count / 2] ^= 0xFF
    try folder.file("damaged", data)
    let damaged = try Tool.run("types", folder.path("damaged"))
    #expect(damaged.code == 1 && damaged.text.contains("number: Int\n") && !damaged.errors.isEmpty)
  }
}
