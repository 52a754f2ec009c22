import Foundation
import Stow
import Testing

/// Reads "c" twice, each time out of turn. What the first time throws is swallowed.
private struct Twice: Codable, Equatable {
  var a = ""
  var b = ""
  var c: String? = ""

  private enum Key: String, CodingKey {
    case a, b, c
  }

  init(_ a: String, _ b: String, _ c: String) { (self.a, self.b, self.c) = (a, b, c) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    _ = try? container.decode(String.self, forKey: .b)
    _ = try? container.decode(String.self, forKey: .a)
    _ = try? container.decode(String.self, forKey: .c)
    c = try container.decodeIfPresent(String.self, forKey: .c)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(a, forKey: .a)
    try container.encode(b, forKey: .b)
    try container.encode(c, forKey: .c)
  }
}

/// Reads the last key of a message twice. What the first time throws is swallowed.
private struct LastKey: Decodable {
  let value: Int?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    _ = try? container.decode(Int.self, forKey: "é")
    value = try container.decodeIfPresent(Int.self, forKey: "é")
  }
}

@Suite("Repeated faults")
struct RepeatedFaultTests {
  @Test("a record with a value that ends after it is refused, even if the error is swallowed once")
  func record() throws {
    let whole = try message {
      try $0.writeSingle([[Twice("xx", "b0", "cc")], [Twice("yy", "b1", "dd"), Twice("zz", "b2", "ee")]])
    }
    #expect(try StowDecoder().decode([[Twice]].self, from: whole)[0][0].c == "cc")
    // The text "b0" is made to say that it is longer than its record.
    let place = try #require(whole.range(of: Data("b0".utf8))).lowerBound - 1
    var broken = whole
    broken[place] += 8
    #expect(throws: DecodingError.self) { try StowDecoder().decode([[Twice]].self, from: broken) }
  }

  @Test("a map with a key longer than the map is refused, even if the error is swallowed once")
  func map() throws {
    let whole = try message { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for (number, key) in ["ä", "ü", "é"].enumerated() { try container.encode(number, forKey: AnyKey(key)) }
    }
    #expect(try StowDecoder().decode(LastKey.self, from: whole).value == 2)
    let place = try #require(whole.range(of: Data("ü".utf8))).lowerBound - 1
    var broken = whole
    broken[place] += 30
    #expect(throws: DecodingError.self) { try StowDecoder().decode(LastKey.self, from: broken) }
  }
}
