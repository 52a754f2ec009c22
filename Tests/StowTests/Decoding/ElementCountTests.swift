import Stow
import Testing

/// An array has no count of its own.
@Suite("Counts of arrays that are being read")
struct ElementCountTests {
  /// Asks for the count before every element, in this array and those within it.
  private struct Counted: Decodable, Equatable {
    var elements: [JSONValue] = []

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      while container.currentIndex < (container.count ?? 0) { elements.append(try container.decode(Either.self).value) }
    }

    init(_ elements: [JSONValue]) { self.elements = elements }
  }

  private struct Either: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
      if let array = try? Counted(from: decoder) {
        value = .array(array.elements)
      } else {
        value = try JSONValue(from: decoder)
      }
    }
  }

  @Test(
    "the count is right at every element",
    arguments: [
      [], ["a"], ["a", [["b", "c"], ["d", ["e", "f", "g"]]], "h", [["i", ["j", ["k", "l"]]]]],
      [[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h", "i"]]],
    ] as [[JSONValue]])
  func nested(elements: [JSONValue]) throws {
    #expect(try transcode(elements, to: Counted.self) == Counted(elements))
  }

  @Test("the count is right for containers that take turns")
  func turns() throws {
    struct Turns: Decodable {
      init(from decoder: any Decoder) throws {
        var outer = try decoder.unkeyedContainer()
        var containers = [try outer.nestedUnkeyedContainer(), try outer.nestedUnkeyedContainer(), outer]
        let counts = [3, 4, 3]
        for _ in 0..<3 {
          for (index, count) in counts.enumerated() {
            #expect(containers[index].count == count)
            if !containers[index].isAtEnd { _ = try containers[index].decode(JSONValue.self) }
          }
        }
      }
    }
    let value: [JSONValue] = [["a", "b", "c"], ["d", "e", "f", "g"], "h"]
    _ = try transcode(value, to: Turns.self)
  }

  @Test("reading takes linear time even if the count is requested at every element")
  func linear() throws {
    struct Flat: Decodable {
      var count = 0

      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while container.currentIndex < (container.count ?? 0) {
          _ = try container.decode(String.self)
          count += 1
        }
      }
    }
    try expectLinear(small: 1_000) { count in
      let texts = (0..<count).map { "text \($0)" }
      let flat = try transcode(texts, to: Flat.self)
      #expect(flat.count == count)
    }
  }
}
