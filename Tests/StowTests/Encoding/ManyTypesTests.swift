import Stow
import Testing

/// An object whose keys are of another type for any two other types.
private struct Marked<First, Second>: Encodable {
  enum CodingKeys: String, CodingKey {
    case mark = "a key that is long"
  }

  let mark: Int

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(mark, forKey: .mark)
  }
}

private struct AnyEncodable: Encodable {
  let value: any Encodable

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

@Suite("Messages of very many types")
struct ManyTypesTests {
  private static let types: [Any.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, UInt128.self, Bool.self, String.self, Double.self, Float.self, Character.self,
    Substring.self, Never.self, Void.self, Int?.self, Bool?.self, String?.self, [Int].self, [Bool].self,
    [String].self,
  ]

  private static func marked<First, Second>(_: First.Type, _: Second.Type) -> any Encodable {
    // So that types lie in memory in another order than the encoder meets them in.
    Marked<First, Second>(mark: Marked<First, Second>.CodingKeys.mark.rawValue.count)
  }

  /// An object of each of 676 types.
  private static func objects() -> [AnyEncodable] {
    var random = SeededGenerator(seed: 1)
    let objects = types.flatMap { first in types.map { AnyEncodable(value: marked(first, $0)) } }
    return objects.shuffled(using: &random)
  }

  @Test("objects have the same bytes whether the encoder meets their types first or again")
  func twice() throws {
    let encoder = StowEncoder()
    let values = Self.objects() + Self.objects()
    let first = try encoder.encode(values)
    for _ in 0..<4 { #expect(try encoder.encode(values) == first) }
  }
}
