import Foundation
import Stow
import Testing

/// Collects what an observer is told, as texts.
private final class Observer: DecodingObserver {
  private(set) var types: Set<String> = []
  private(set) var missing: Set<String> = []

  func note(_ type: Any.Type, at path: [any CodingKey]) { types.insert("\(text(path)): \(type)") }
  func noteMissing(_ path: [any CodingKey]) { missing.insert(text(path)) }

  private func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
}

private struct Order: Codable {
  var name: String?
  var lines: [Line]
  var prices: [String: Line]
  var tags: Set<Int>?
}

private struct Line: Codable, StowFields {
  var count: Int
  var note: String?

  enum CodingKeys: CodingKey, StowFormerNames {
    case count, note
    static let formerNames: [CodingKeys: [String]] = [.note: ["text"]]
  }

  static var stowFields: FieldTable<Line> {
    FieldTable(Self.init(count:note:), Field("count", \.count), Field("note", \.note))
  }
}

@Suite("Observed decoding")
struct ObservingTests {
  private func observe<Value: Decodable>(_ type: Value.Type, _ value: StowValue) throws -> Observer {
    let observer = Observer()
    _ = try value.encoded().withUnsafeBytes { try StowDecoder().decode(type, $0, observer: observer) }
    return observer
  }

  @Test("types of values and keys are observed in maps, records and rows, even of tables of fields")
  func types() throws {
    let order: StowValue = ["lines": [["count": 1]], "prices": ["a": ["count": 2]], "tags": [3]]
    for (value, path) in [(order, ""), ([order, order], "Index 1.")] as [(StowValue, String)] {
      let types = try value.array == nil ? observe(Order.self, value).types : observe([Order].self, value).types
      for (place, name) in [
        ("lines", "Array<Line>"), ("lines.Index 0", "Line"), ("lines.Index 0", "CodingKeys"),
        ("prices", "Dictionary<String, Line>"), ("prices.a", "Line"), ("tags", "Set<Int>"),
      ] { #expect(types.contains("\(path)\(place): \(name)")) }
    }
  }

  @Test("the observer gets each missing key, even one that is found under a former name")
  func missing() throws {
    let line: StowValue = ["count": 1, "note": "n"]
    let value: StowValue = [
      "lines": [["count": 1], line, ["count": 1, "text": "t"]], "prices": ["a": line],
    ]
    #expect(try observe(Order.self, value).missing == ["name", "tags", "lines.Index 0.note", "lines.Index 2.note"])
    #expect(try observe([Line].self, [line, line]).missing == [])
  }

  @Test("observation ends with its call, even for containers that are kept")
  func end() throws {
    let value: StowValue = ["count": 1]
    let (observer, decoder) = (Observer(), StowDecoder())
    let kept = Kept()
    decoder.userInfo[Kept.key] = kept
    _ = try value.encoded().withUnsafeBytes { try decoder.decode(Keeping.self, $0, observer: observer) }
    let container = try #require(kept.container)
    let (types, missing) = (observer.types, observer.missing)
    for _ in 0..<10 {
      #expect(try container.decode(Int.self, forKey: .count) == 1)
      #expect(!container.contains(.note))
      #expect(try [value].map { try $0.decode(Line.self) }.count == 1)
    }
    #expect(observer.types == types && observer.missing == missing)
  }

  @Test("observed decoding throws for bytes that are not a message")
  func malformed() throws {
    let whole = try StowEncoder().encode([String](repeating: "some words", count: 9))
    for bytes in [Data(), Data([0xFF, 0xFF])] + (1..<whole.count).map({ whole.prefix($0) }) {
      #expect(throws: DecodingError.self) {
        try bytes.withUnsafeBytes { try StowDecoder().decode([String].self, $0, observer: Observer()) }
      }
    }
  }
}

private final class Kept: @unchecked Sendable {
  static let key = CodingUserInfoKey(rawValue: "kept")!
  var container: KeyedDecodingContainer<Line.CodingKeys>?
}

private struct Keeping: Decodable {
  init(from decoder: any Decoder) throws {
    (decoder.userInfo[Kept.key] as? Kept)?.container = try decoder.container(keyedBy: Line.CodingKeys.self)
  }
}
