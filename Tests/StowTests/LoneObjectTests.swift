import Foundation
import Stow
import Testing

/// A message that is one object of scalars is written without being planned. Nobody must be able to tell from the bytes.
@Suite("Messages of one object")
struct LoneObjectTests {
  /// A key of one byte, as those are that the compiler makes.
  private struct Key: CodingKey {
    let byte: UInt8

    init(_ byte: Int) { self.byte = UInt8(byte) }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }

    var intValue: Int? { nil }
    /// Every ninth is longer than what is copied at once.
    var stringValue: String {
      byte % 9 == 8 ? String(repeating: "long ", count: 12) + "\(byte)" : "key\(byte)"
    }
  }

  private typealias Entry = @Sendable (inout KeyedEncodingContainer<Key>, Key) throws -> Void

  private static func text(_ text: String) -> Entry { { try $0.encode(text, forKey: $1) } }

  /// All that an object may have without another container in it.
  private static let scalars: [Entry] = [
    { try $0.encode(true, forKey: $1) },
    { try $0.encode(1.25, forKey: $1) },
    { try $0.encode(Float(1.1), forKey: $1) },
    { try $0.encode(Int.min, forKey: $1) },
    { try $0.encode(-7 as Int8, forKey: $1) },
    { try $0.encode(UInt64.max, forKey: $1) },
    { try $0.encodeNil(forKey: $1) },
    { try $0.encodeIfPresent(nil as String?, forKey: $1) },
    { try $0.encode(Int??.some(nil), forKey: $1) },
    { try $0.encode(Date(timeIntervalSince1970: 1e9), forKey: $1) },
    { try $0.encode(Data([1, 2, 3]), forKey: $1) },
    { try $0.encode(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), forKey: $1) },
    { try $0.encode(Decimal(string: "-12.75"), forKey: $1) },
    { try $0.encode(URL(string: "https://example.org/\($1.byte)"), forKey: $1) },
    { try $0.encode(Array(0..<40), forKey: $1) },
    { try $0.encode(Writes { _ in }, forKey: $1) },
    text(""), text("a"), text("fifteen letters"), text("sixteen letters."), text("äöü"),
    text(String(repeating: "y", count: 31)), text(String(repeating: "z", count: 32)),
    text(String(repeating: "long ", count: 60)),
  ]

  /// Checks that a message is the same if it is planned, because a value threw in it, and that it can be read.
  private func check(_ entries: [Entry], sourceLocation: SourceLocation = #_sourceLocation) throws {
    func message(isPlanned: Bool) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: Key.self)
          for (index, entry) in entries.enumerated() { try entry(&container, Key(index)) }
          if isPlanned { try? container.encode(Writes { _ in throw Refusal() }, forKey: Key(0)) }
        })
    }
    // The keys of the first message are predicted for the second.
    let bytes = try message(isPlanned: false)
    #expect(try message(isPlanned: false) == bytes, sourceLocation: sourceLocation)
    #expect(try message(isPlanned: true) == bytes, sourceLocation: sourceLocation)
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      try StowDecoder().decode(JSONValue.self, from: bytes)
    }
  }

  @Test("with one value", arguments: scalars.indices)
  func one(index: Int) throws {
    try check([Self.scalars[index]])
  }

  @Test("with many values", arguments: [0, 1, 2, 5, 8, 9, 17, 64, 65, 200])
  func many(count: Int) throws {
    for start in Self.scalars.indices {
      try check((0..<count).map { Self.scalars[(start + $0 * 7) % Self.scalars.count] })
    }
  }

  @Test("with as many strings as are compared one by one, and more", arguments: 1...20)
  func strings(count: Int) throws {
    try check((0..<count).map { Self.text("string \($0)") })
    // The first again as the last.
    try check((0..<count).map { Self.text("string \($0)") } + [Self.text("string 0")])
    let long = String(repeating: "long ", count: 9)
    try check((0..<count).map { Self.text(long + "\($0)") } + [Self.text(long + "\(count - 1)")])
  }

  @Test("with strings that are its keys", arguments: 0..<12)
  func keys(index: Int) throws {
    try check((0..<12).map { Self.text($0 == index ? Key(index).stringValue : "other \($0)") })
    try check((0..<12).map { $0 == 3 ? Self.text(Key(index).stringValue) : Self.scalars[$0] })
  }

  @Test("and of all after each other")
  func afterEachOther() throws {
    var random = SystemRandomNumberGenerator()
    let objects = Self.scalars.indices.map { start in
      Writes { encoder in
        var container = encoder.container(keyedBy: Key.self)
        for index in 0..<start {
          try Self.scalars[(start + index) % Self.scalars.count](&container, Key(index))
        }
      }
    }
    let expected = try objects.map { try StowEncoder().encode($0) }
    for _ in 0..<300 {
      let index = Int.random(in: objects.indices, using: &random)
      #expect(try StowEncoder().encode(objects[index]) == expected[index])
    }
  }
}
