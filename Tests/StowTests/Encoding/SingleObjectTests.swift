import Foundation
import Stow
import Testing

/// Most messages are one object of scalars: no key and hardly a string comes twice, and there is nothing to share.
@Suite("Messages of one object")
struct SingleObjectTests {
  /// A key of one byte, as those are that the compiler makes.
  private struct Key: CodingKey {
    let byte: UInt8

    init(_ byte: Int) { self.byte = UInt8(byte) }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }

    var intValue: Int? { nil }
    /// Every ninth is longer than what is copied at once; those from 200 on are nearly.
    var stringValue: String {
      if byte >= 200 { return "a key of some length \(byte)" }
      return byte % 9 == 8 ? String(repeating: "long ", count: 12) + "\(byte)" : "key\(byte)"
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
  private func check(_ entries: [Entry], firstKey: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
    func message(isPlanned: Bool) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: Key.self)
          for (index, entry) in entries.enumerated() { try entry(&container, Key(firstKey + index)) }
          if isPlanned { try? container.encode(Writes { _ in throw Refusal() }, forKey: Key(firstKey)) }
        })
    }
    // The second message has the keys of the first.
    let bytes = try message(isPlanned: false)
    #expect(try message(isPlanned: false) == bytes, sourceLocation: sourceLocation)
    #expect(try message(isPlanned: true) == bytes, sourceLocation: sourceLocation)
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      try StowDecoder().decode(JSONValue.self, from: bytes)
    }
  }

  @Test("an object with one value has the same bytes whether its message is planned or not")
  func one() {
    forEachCase(of: Self.scalars.indices) { (index: Int) in
      try check([Self.scalars[index]])
    }
  }

  @Test("an object with many values has the same bytes whether its message is planned or not")
  func many() {
    forEachCase(of: [0, 1, 2, 5, 8, 9, 17, 64, 65, 200]) { (count: Int) in
      for start in Self.scalars.indices {
        try check((0..<count).map { Self.scalars[(start + $0 * 7) % Self.scalars.count] })
      }
    }
  }

  /// Those that nothing but an object's own container is needed for.
  private static let plain: [Entry] = [
    { try $0.encode(-1, forKey: $1) },
    { try $0.encodeNil(forKey: $1) },
    { try $0.encode(2.5, forKey: $1) },
    { try $0.encode("text \($1.byte)", forKey: $1) },
    { try $0.encode(false, forKey: $1) },
    { try $0.encodeIfPresent(nil as Int?, forKey: $1) },
    { try $0.encode(Float(0.1), forKey: $1) },
    { try $0.encode(UInt64(1) << 62, forKey: $1) },
  ]

  @Test("a long key in any place gives the same bytes whether the message is planned or not")
  func longKey() {
    forEachCase(of: 0..<9) { (place: Int) in
      for start in Self.plain.indices {
        try check((0..<9).map { Self.plain[(start + $0) % Self.plain.count] }, firstKey: 8 - place)
      }
    }
  }

  @Test("one less simple value gives the same bytes whether the message is planned or not")
  func oddValue() {
    forEachCase(of: 0..<8) { (place: Int) in
      let odd: [Entry] = [
        { try $0.encode(Float.nan, forKey: $1) }, { try $0.encode(-Float.nan, forKey: $1) },
        { try $0.encode(UInt64.max, forKey: $1) }, { try $0.encode(Int128(-7), forKey: $1) },
        { try $0.encode(UInt128(7), forKey: $1) }, Self.text("text \(max(0, place - 2))"),
        Self.text(String(repeating: "x", count: 223)), Self.text(String(repeating: "x", count: 224)),
        { container, _ in
          var value = container.superEncoder().singleValueContainer()
          try value.encode("super")
        },
      ]
      for entry in odd {
        // With one more there would be a long key.
        var entries = (0..<7).map { Self.plain[$0] }
        entries.insert(entry, at: place)
        try check(entries, firstKey: 9)
      }
    }
  }

  @Test("an object of about a KiB has the same bytes whether its message is planned or not")
  func large() {
    forEachCase(of: Array(Self.plain.indices) + [-1]) { (kind: Int) in
      for count in 1...56 {
        try check((0..<count).map { Self.plain[kind < 0 ? $0 % Self.plain.count : kind] }, firstKey: 200)
      }
      for length in stride(from: 0, to: 222, by: 3) {
        let text = String(repeating: "t", count: length)
        try check((0..<6).map { Self.text(text + "\($0)") } + [Self.plain[max(kind, 0)]], firstKey: 200)
      }
    }
  }

  @Test("up to 20 strings give the same bytes whether the message is planned or not")
  func strings() {
    forEachCase(of: 1...20) { (count: Int) in
      try check((0..<count).map { Self.text("string \($0)") })
      // The first again as the last.
      try check((0..<count).map { Self.text("string \($0)") } + [Self.text("string 0")])
      let long = String(repeating: "long ", count: 9)
      try check((0..<count).map { Self.text(long + "\($0)") } + [Self.text(long + "\(count - 1)")])
    }
  }

  @Test("strings equal to keys give the same bytes whether the message is planned or not")
  func keys() {
    forEachCase(of: 0..<12) { (index: Int) in
      try check((0..<12).map { Self.text($0 == index ? Key(index).stringValue : "other \($0)") })
      try check((0..<12).map { $0 == 3 ? Self.text(Key(index).stringValue) : Self.scalars[$0] })
    }
  }

  @Test("a key that is also a value is written once")
  func keyWrittenOnce() throws {
    func size(of text: String) throws -> Int {
      try StowEncoder().encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: Key.self)
          try container.encode(text, forKey: Key(200))
        }
      ).count
    }
    let key = Key(200).stringValue
    #expect(try size(of: key) + key.utf8.count / 2 < size(of: String(key.reversed())))
  }

  @Test("an object has the same bytes after any other object")
  func afterEachOther() throws {
    var random = SystemRandomNumberGenerator()
    let objects = Self.scalars.indices.map { start in
      Writes { encoder in
        var container = encoder.container(keyedBy: Key.self)
        for index in 0..<start { try Self.scalars[(start + index) % Self.scalars.count](&container, Key(index)) }
      }
    }
    let expected = try objects.map { try StowEncoder().encode($0) }
    for _ in 0..<300 {
      let index = Int.random(in: objects.indices, using: &random)
      #expect(try StowEncoder().encode(objects[index]) == expected[index])
    }
  }
}
