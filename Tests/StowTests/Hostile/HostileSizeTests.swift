import Foundation
import Stow
import Testing

/// Few bytes that claim to be much: messages made to take time, memory or stack beyond their size.
@Suite("Bombs")
struct HostileSizeTests {
  private func decode<Value: Decodable>(
    _ type: Value.Type, _ message: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
  ) -> Value? {
    do {
      return try StowDecoder().decode(type, from: message)
    } catch {
      #expect(error is DecodingError, sourceLocation: sourceLocation)
      return nil
    }
  }

  // MARK: symbols

  /// A string of a size, as a URL has it.
  private static func long(_ size: Int) -> [UInt8] {
    Array("https://example.org/".utf8) + [UInt8](repeating: 0x61, count: size)
  }

  @Test("a long symbol with 20,000 references is decoded as one string or one URL")
  func symbolBomb() throws {
    func message(_ count: Int) -> [UInt8] {
      Bomb.prelude(symbol: Self.long(count)) + Bomb.sized(0x70, [UInt8](repeating: 0x50, count: count))
    }
    let count = 20_000
    #expect(decode([String].self, message(count))?.count == count)
    #expect(decode([URL].self, message(count))?.count == count)
    #expect(decode([UUID].self, message(count)) == nil)
    #expect(decode([Lossy<UUID>].self, message(count))?.count == count)
    #expect(decode([Lossy<URL>].self, message(count))?.count == count)
    #expect(decode([Int].self, message(count)) == nil)
    let types: [any Decodable.Type] = [
      [String].self, [URL].self, [Lossy<UUID>].self, [Lossy<URL>].self, [UUID].self, [Int].self,
    ]
    for type in types { try expectLinear(type, size: 1_000, message) }
  }

  /// A value that may fail to be read.
  private struct Lossy<Value: Decodable>: Decodable {
    let value: Value?
    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
  }

  @Test("a table may repeat short constants and symbols in every row, but not long ones")
  func constants() throws {
    func matrix(_ constant: [UInt8], rows: Int) -> [UInt8] {
      Bomb.sized(0x7B, [2, 0, 1] + constant + [UInt8](repeating: 5, count: rows))
    }
    func withSymbol(_ size: Int) -> [UInt8] { Bomb.prelude(symbol: Self.long(size)) + matrix([0x50], rows: size) }
    let long = Self.long(100_000)
    let text = Bomb.sized(0x1D, long)
    for constant in [text, [0x1A] + text, Bomb.sized(0x19, long)] {
      #expect(decode([[JSONValue]].self, matrix(constant, rows: 3_000)) == nil)
    }
    #expect(decode([[JSONValue]].self, matrix([0x31, 0x61], rows: 1_000))?.count == 1_000)
    #expect(decode([[JSONValue]].self, withSymbol(1_000))?.count == 1_000)
    try expectLinear([[JSONValue]].self, size: 400) { matrix([0x31, 0x61], rows: $0) }
    try expectLinear([[JSONValue]].self, size: 400, withSymbol)
  }

  // MARK: shapes

  @Test("empty records of a shape with very many keys take linear time")
  func emptyRecords() throws {
    struct Optional: Decodable {
      let a, b: Int?
      let keys: Int

      enum CodingKeys: CodingKey { case a, b }

      init(from decoder: any Decoder) throws {
        let container = try? decoder.container(keyedBy: CodingKeys.self)
        a = try container?.decodeIfPresent(Int.self, forKey: .a)
        b = try container?.decodeIfPresent(Int.self, forKey: .b)
        keys = (try? decoder.container(keyedBy: AnyKey.self).allKeys.count) ?? 0
      }
    }
    func message(_ count: Int) -> [UInt8] {
      Bomb.prelude(keys: count) + Bomb.sized(0x70, Bomb.repeated([0xF0, 0], count))
    }
    let values = decode([Optional].self, message(10_000))
    #expect(values?.count == 10_000 && values?.reduce(0) { $0 + $1.keys } == 0)
    #expect(decode([[String: Int]].self, message(10_000)) == nil)
    try expectLinear([Optional].self, size: 500, message)
    try expectLinear([[String: Int]].self, size: 500, message)
  }

  @Test("a record, a partial record and a table of very many keys are read")
  func manyKeys() throws {
    func full(_ keys: Int) -> [UInt8] {
      Bomb.prelude(keys: keys) + Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: keys))
    }
    func partial(_ keys: Int) -> [UInt8] {
      let bits = [UInt8](repeating: 0, count: keys / 8 - 1) + [0x80]
      return Bomb.prelude(keys: keys) + Bomb.sized(0xF8, bits + [0x91])
    }
    func table(_ keys: Int) -> [UInt8] {
      let types = [UInt8](repeating: 1, count: keys)
      return Bomb.prelude(keys: keys)
        + Bomb.sized(0x7A, [0] + types + [UInt8](repeating: 0x91, count: keys))
    }
    func matrix(_ columns: Int) -> [UInt8] {
      Bomb.sized(0x7B, Bomb.number(columns) + [UInt8](repeating: 1, count: 2 * columns))
    }
    let keys = 80_000
    #expect(decode([String: Int].self, full(keys))?.count == keys)
    #expect(decode([String: Int].self, partial(keys))?.count == 1)
    #expect(decode([[String: Int]].self, table(8_000))?.count == 1)
    #expect(decode([[Int]].self, matrix(100_000))?.map(\.count) == [100_000])
    try expectLinear([String: Int].self, size: 800, full)
    try expectLinear([String: Int].self, size: 800, partial)
    try expectLinear([[String: Int]].self, size: 800, table)
    try expectLinear([[Int]].self, size: 4_000, matrix)
  }

  // MARK: nesting

  @Test("decoding nested maps and arrays does not read the inner bytes again at each level")
  func nestedClaims() throws {
    indirect enum Nest: Decodable {
      case map([String: Nest])
      case list([Nest])
      case leaf

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let map = try? container.decode([String: Nest].self) {
          self = .map(map)
        } else if let list = try? container.decode([Nest].self) {
          self = .list(list)
        } else {
          self = .leaf
        }
      }
    }
    for (tag, key) in [(0x71, [0x81, 0x61]), (0x70, [])] as [(UInt8, [UInt8])] {
      func message(_ size: Int) -> [UInt8] {
        let text = Bomb.sized(0x1D, [UInt8](repeating: 0x61, count: size))
        return (0..<500).reduce(text) { inner, _ in Bomb.sized(tag, key + inner) }
      }
      let (short, long) = (message(1_000), message(1_000_000))
      #expect(decode(Nest.self, short) != nil && decode(Nest.self, long) != nil)
      // No level goes over the bytes of all levels in it.
      try expect({ _ = decode(Nest.self, long) }, takesLessThan: 5, times: { _ = decode(Nest.self, short) })
    }
  }

  @Test("a nest of 100,000 levels is refused", arguments: [0x70, 0x71] as [UInt8])
  func deep(tag: UInt8) {
    // From the inside out, the last byte first.
    var reversed: [UInt8] = [0x91]
    for _ in 0..<100_000 {
      if tag == 0x71 { reversed += [0x61, 0x81] }
      reversed += Bomb.number(reversed.count).reversed()
      reversed.append(tag)
    }
    let message = [UInt8](reversed.reversed())
    #expect(decode(JSONValue.self, message) == nil)
    #expect(decode(Int.self, message) == nil)
    #expect(decode([String: Lossy<Int>].self, Bomb.sized(0x71, [0x81, 0x61] + message)) == nil)
  }
}
