import Stow
import Testing

/// Containers that outlive the call that made them: they go nowhere, and harm nothing.
@Suite("Encoding containers kept beyond their message")
struct KeptEncoderTests {
  @Test("with keys whose message was put in order")
  func normalized() throws {
    var kept: KeyedEncodingContainer<AnyKey>?
    _ = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for number in 0..<9 { try container.encode("lost \(number)", forKey: "k") }
        try container.encode(1, forKey: "last")
        kept = container
      })
    for key in ["late", "k", "last", "later"] { try kept?.encode(2, forKey: AnyKey(key)) }
    #expect(try transcode(["a": 1], to: [String: Int].self) == ["a": 1])
  }

  @Test("whose message was large have a path still", arguments: [10, 600_000])
  func large(count: Int) throws {
    var kept: (any UnkeyedEncodingContainer)?
    _ = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.unkeyedContainer()
        for number in 0..<count { try container.encode(number) }
        kept = container
      })
    #expect(kept?.codingPath.isEmpty == true)
  }
}
