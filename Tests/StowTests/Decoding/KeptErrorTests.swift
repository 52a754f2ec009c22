import Stow
import Testing

/// Errors are used again once nobody holds them; those that somebody does hold stay as they are.
@Suite("Kept errors")
struct KeptErrorTests {
  /// What is kept of an error, and what it must go on saying.
  private enum Keepsake {
    case error(any Error, path: [Step], description: String)
    case description(String, expected: String)

    var isAsBefore: Bool {
      switch self {
      case .error(let error, let path, let description):
        guard let context = context(of: error) else { return false }
        return steps(context.codingPath) == path && context.debugDescription == description
      case .description(let description, let expected): return description == expected
      }
    }
  }

  /// Tries everything at every place of a message, and keeps some of the errors.
  private struct Taster {
    let keepEvery: Int
    let keepsErrors: Bool
    var errorCount = 0
    var kept: [Keepsake] = []

    mutating func taste(_ decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      attempt(Bool.self, decoder) { try container.decode(Bool.self) }
      attempt(Int8.self, decoder) { try container.decode(Int8.self) }
      attempt(Double.self, decoder) { try container.decode(Double.self) }
      attempt(String.self, decoder) { try container.decode(String.self) }
      attempt([Int8].self, decoder) { try container.decode([Int8].self) }
      if var list = try? decoder.unkeyedContainer() {
        while !list.isAtEnd { try taste(list.superDecoder()) }
      } else if let object = try? decoder.container(keyedBy: AnyKey.self) {
        for key in object.allKeys { try taste(object.superDecoder(forKey: key)) }
      }
    }

    /// Checks the error of a failed attempt, if it is one of the decoder's own place.
    private mutating func attempt(_ type: Any.Type, _ decoder: any Decoder, _ body: () throws -> Any) {
      do {
        _ = try body()
      } catch {
        guard let context = context(of: error) else {
          Issue.record(error)
          return
        }
        let path = steps(context.codingPath)
        guard path == steps(decoder.codingPath) else {
          #expect(path.starts(with: steps(decoder.codingPath)))
          return
        }
        let description = copy(context.debugDescription)
        #expect(description.hasPrefix("Expected a value of type \(type), but found "))
        #expect(description.contains(" at offset "))
        errorCount += 1
        if errorCount % keepEvery > 0 { return }
        kept.append(
          keepsErrors
            ? .error(error, path: path, description: description)
            : .description(context.debugDescription, expected: description))
      }
    }

    /// The same text, in storage of its own.
    private func copy(_ text: String) -> String { String(decoding: Array(text.utf8), as: UTF8.self) }
  }

  private static func context(of error: any Error) -> DecodingError.Context? {
    switch error as? DecodingError {
    case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .dataCorrupted(let context)?:
      context
    default: nil
    }
  }

  private static let value: JSONValue = [
    "list": [1, "two", nil, [true, [], [:]], ["k": [0.25, "x"]], 3.5, 300], "ints": [1, 2, 3], "nil": nil,
    "points": [["x": 1, "y": 2], ["x": 3, "y": 4], ["x": 5, "y": 6], ["x": 7, "y": 8]],
    "matrix": [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [6.5, 7.5]], "bools": [true, false, true],
    "names": ["some name", "another name", "a third name of more than fifteen characters"],
    "nested": ["a": ["b": ["c": ["d": [["e": "f"], ["e": "g"], ["e": 5]]]]]],
  ]

  @Test("kept errors keep their path, their offset and their text")
  func kept() {
    forEachCase(of: [1, 2, 3, 5, 7, 1000], [true, false]) { (count: Int, errors: Bool) in
      let taster = try read(Self.value) { decoder in
        var taster = Taster(keepEvery: count, keepsErrors: errors)
        try taster.taste(decoder)
        return taster
      }
      #expect(taster.errorCount > 150)
      #expect(taster.kept.count == taster.errorCount / count)
      // Other messages, read in the same session, change nothing either.
      for _ in 0..<3 { _ = try roundTrip(Self.value) }
      #expect(taster.kept.allSatisfy { $0.isAsBefore })
    }
  }

  @Test("errors have the offsets of their own values")
  func offsets() throws {
    struct Offsets: Decodable {
      var texts: [String] = []
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
          do { _ = try list.decode(Int.self) } catch let DecodingError.typeMismatch(_, context) {
            texts.append(context.debugDescription)
            _ = try list.superDecoder()
          }
        }
      }
    }
    // An array of strings of seven bytes and a tag, after a tag and a length of one byte.
    let strings = (0..<20).map { "text \($0 + 10)" }
    let texts = try transcode(strings, to: Offsets.self).texts
    #expect(texts == (0..<20).map { "Expected a value of type Int, but found a string at offset \(2 + 8 * $0)" })
  }

  @Test("an error thrown by decode is not changed by the messages that follow")
  func comesOut() throws {
    let decoder = StowDecoder()
    func failure(_ value: [String: [String]]) throws -> DecodingError.Context? {
      do {
        _ = try decoder.decode([String: [Int]].self, from: StowEncoder().encode(value))
        return nil
      } catch {
        return Self.context(of: error)
      }
    }
    let first = try #require(try failure(["a": ["b"]]))
    let description = Array(first.debugDescription.utf8)
    for _ in 0..<10 { _ = try failure(["c": ["dd"]]) }
    #expect(steps(first.codingPath) == ["a", 0])
    #expect(Array(first.debugDescription.utf8) == description)
  }
}
