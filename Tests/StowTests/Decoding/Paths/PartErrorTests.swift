import Foundation
import Stow
import Testing

@Suite("Errors of parts")
struct PartErrorTests {
  private static let value: StowValue = [
    "people": [["name": "Ada", "age": 36], ["name": "Bo", "age": "old"], ["age": 1]],
    "table": [["x": 1.5, "y": 1], ["x": 2.5, "y": 2]], "ints": [1, 2, 3], "data": .data(Data([1])),
    "none": .null,
    "text": "t", "some": [["n": 1], ["m": 2]],
    "matrix": [[0.5, 1], [2, 3.5]],
  ]
  private static let message = Result { try value.encoded() }

  struct Expected: Sendable, CustomTestStringConvertible {
    let path: StowPath
    let kind: Failure.Kind
    let codingPath: [String]
    var testDescription: String { path.description }
  }

  /// `expected` is the coding path, with `i` before an index.
  private static func of(_ path: StowPath, _ kind: Failure.Kind, _ codingPath: String...) -> Expected {
    Expected(path: path, kind: kind, codingPath: codingPath)
  }

  private static let all: [Expected] = [
    of(["nobody"], .keyNotFound),
    of(["people", 0, "nick"], .keyNotFound, "people", "Index 0"),
    of(["people", .each, "nick"], .keyNotFound, "people", "Index 0"),
    of(["some", .each, "n"], .keyNotFound, "some", "Index 1"),
    of(["table", 1, "z"], .keyNotFound, "table", "Index 1"),
    of(["table", 2], .valueNotFound, "table", "Index 2"),
    of(["people", 3, "name"], .valueNotFound, "people", "Index 3"),
    of(["people", -1], .valueNotFound, "people", "Index -1"),
    of(["ints", 3], .valueNotFound, "ints", "Index 3"),
    of(["ints", -1], .valueNotFound, "ints", "Index -1"),
    of(["table", -1], .valueNotFound, "table", "Index -1"),
    of(["matrix", 0, -1], .valueNotFound, "matrix", "Index 0", "Index -1"),
    of(["none", "name"], .valueNotFound, "none"),
    of(["none", 0], .valueNotFound, "none"),
    of(["none", .each], .valueNotFound, "none"),
    of(["people", "name"], .typeMismatch, "people"),
    of(["table", "x"], .typeMismatch, "table"),
    of(["matrix", 0, "x"], .typeMismatch, "matrix", "Index 0"),
    of(["text", "x"], .typeMismatch, "text"),
    of(["text", 0], .typeMismatch, "text"),
    of(["text", -1], .typeMismatch, "text"),
    of(["ints", 0, -1], .typeMismatch, "ints", "Index 0"),
    of(["text", .each], .typeMismatch, "text"),
    of(["data", 0], .typeMismatch, "data"),
    of(["ints", 0, 0], .typeMismatch, "ints", "Index 0"),
    of(["ints", 0, "x"], .typeMismatch, "ints", "Index 0"),
    of(["table", 0, "y", "x"], .typeMismatch, "table", "Index 0", "y"),
    of(["people", .each, "age", "x"], .typeMismatch, "people", "Index 0", "age"),
    // Inside what is decoded.
    of(["people", 1, "age"], .typeMismatch, "people", "Index 1", "age"),
    of(["people", .each, "age"], .typeMismatch, "people", "Index 1", "age"),
    of(["table", 0], .typeMismatch, "table", "Index 0"),
    of(["people", 0, .each], .typeMismatch, "people", "Index 0", "name"),
    of(["matrix"], .typeMismatch, "matrix", "Index 0"),
    of([], .typeMismatch),
  ]

  @Test("have the path from the top")
  func errors() {
    forEachCase(of: Self.all) { (expected: Expected) in
      let data = try Self.message.get()
      let message = try StowMessage(from: data)
      // As an array where each element is decoded.
      let isArray = expected.path.steps.contains(.each) || expected.path.steps.isEmpty || expected.path == ["matrix"]
      func read(_ decode: () throws -> Void) {
        do {
          try decode()
          Issue.record("nothing is thrown")
        } catch {
          #expect(Failure(error).kind == expected.kind, "\(error)")
          #expect((error as? DecodingError)?.codingPath.map(\.stringValue) == expected.codingPath, "\(error)")
        }
      }
      if isArray {
        read { _ = try StowDecoder().decode([Int].self, from: data, at: expected.path) }
        read { _ = try message.decode([Int].self, at: expected.path) }
      } else {
        read { _ = try StowDecoder().decode(Int.self, from: data, at: expected.path) }
        read { _ = try message.decode(Int.self, at: expected.path) }
        guard let last = expected.path.steps.last, expected.path.steps.count > 1 else { return }
        let parent = StowPath(expected.path.steps.dropLast())
        guard try message.contains(parent) else { return }
        read { _ = try message.part(at: parent).decode(Int.self, at: [last]) }
      }
    }
  }

  @Test("within a part go on from the path")
  func inside() throws {
    struct Holder: Decodable { let list: [[String: Int]] }
    let value: StowValue = ["a": [["b": ["list": [["n": 1], ["n": "x"]]]]]]
    let message = try StowMessage(from: value.encoded())
    for path in [["a", 0, "b"], ["a", 0], ["a"]] as [StowPath] {
      let error = #expect(throws: DecodingError.self) {
        switch path.steps.count {
        case 3: _ = try message.decode(Holder.self, at: path)
        case 2: _ = try message.decode([String: Holder].self, at: path)
        default: _ = try message.elements(at: path).map { try $0.decode([String: Holder].self) }
        }
      }
      #expect(error?.codingPath.map(\.stringValue) == ["a", "Index 0", "b", "list", "Index 1", "n"])
    }
  }

  @Test("of what is no array or object")
  func kinds() throws {
    let message = try StowMessage(from: Self.message.get())
    for path in [["text"], ["data"], ["ints", 0], ["none"], ["table", 0, "x"]] as [StowPath] {
      #expect(throws: DecodingError.self) { try message.count(at: path) }
      #expect(throws: DecodingError.self) { try message.keys(at: path) }
      #expect(throws: DecodingError.self) { try message.elements(at: path) }
    }
    #expect(throws: DecodingError.self) { try message.keys(at: ["ints"]) }
    #expect(throws: DecodingError.self) { try message.keys(at: ["matrix", 0]) }
    #expect(throws: DecodingError.self) { try message.keys(at: ["people", .each]) }
    let error = #expect(throws: DecodingError.self) { try message.keys(at: ["table", 0, "x"]) }
    #expect(error.map { "\($0)".contains("found an element of another kind") } == true)
    #expect(throws: DecodingError.self) { try message.kind(at: ["nobody"]) }
    #expect(throws: DecodingError.self) { try message.part(at: ["nobody"]) }
  }

  @Test("of types that are no arrays, where a path leads to one")
  func noArrays() throws {
    let message = try StowMessage(from: Self.message.get())
    let types: [any Decodable.Type] = [
      Int.self, String.self, Bool.self, Double.self, Date.self, UUID.self, URL.self, Decimal.self,
      Int128.self,
      [String: Int].self, Float?.self,
    ]
    for type in types {
      let error = #expect(throws: DecodingError.self) { _ = try message.decode(type, at: ["ints", .each]) }
      let failure = try #require(error.map { Failure($0) })
      #expect(failure.kind == .typeMismatch)
      #expect(error?.codingPath.map(\.stringValue) == ["ints"])
    }
  }
}

extension DecodingError {
  fileprivate var codingPath: [any CodingKey] {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath
    @unknown default: []
    }
  }
}
