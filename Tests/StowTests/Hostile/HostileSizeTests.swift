import Foundation
import Stow
import Testing

/// Few bytes that claim to be much: messages made to take time, memory or stack beyond their size.
@Suite("Bombs take time and memory in proportion to their bytes")
struct HostileSizeTests {
  /// Decodes, and checks that this does not take long. The limits are far above what it takes, and far below
  /// what it would take if it were not linear.
  @discardableResult
  private func decode<Value: Decodable>(
    _ type: Value.Type, _ message: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
  ) -> Value? {
    let start = ContinuousClock.now
    defer { #expect(ContinuousClock.now - start < .seconds(30), sourceLocation: sourceLocation) }
    do {
      return try StowDecoder().decode(type, from: message)
    } catch {
      #expect(error is DecodingError, sourceLocation: sourceLocation)
      return nil
    }
  }

  // MARK: symbols

  private static let long = Array("https://example.org/".utf8) + [UInt8](repeating: 0x61, count: 100_000)

  @Test("a long string that is named very often is one string, and one URL")
  func symbolBomb() {
    let count = 50_000
    let message = Bomb.prelude(symbol: Self.long) + Bomb.sized(0x70, [UInt8](repeating: 0x50, count: count))
    #expect(decode([String].self, message)?.count == count)
    #expect(decode([URL].self, message)?.count == count)
    #expect(decode([UUID].self, message) == nil)
    #expect(decode([Lossy<UUID>].self, message)?.count == count)
    #expect(decode([Lossy<URL>].self, message)?.count == count)
    #expect(decode([Int].self, message) == nil)
  }

  /// A value that may fail to be read.
  private struct Lossy<Value: Decodable>: Decodable {
    let value: Value?
    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
  }

  @Test("long constants of a table are refused; short ones and symbols stand for every row")
  func constants() {
    let rows = [UInt8](repeating: 5, count: 3_000)
    func matrix(_ constant: [UInt8]) -> [UInt8] { Bomb.sized(0x7B, [2, 0, 1] + constant + rows) }
    let text = Bomb.sized(0x1D, Self.long)
    for constant in [text, [0x1A] + text, Bomb.sized(0x19, Self.long)] {
      #expect(decode([[JSONValue]].self, matrix(constant)) == nil)
    }
    #expect(decode([[JSONValue]].self, matrix([0x31, 0x61]))?.count == rows.count)
    #expect(decode([[JSONValue]].self, Bomb.prelude(symbol: Self.long) + matrix([0x50]))?.count == rows.count)
  }

  // MARK: shapes

  @Test("a shape of 100,000 keys does not stand for as many in every record")
  func emptyRecords() {
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
    let records = Bomb.sized(0x70, Bomb.repeated([0xF0, 0], 50_000))
    let values = decode([Optional].self, Bomb.prelude(keys: 65_536) + records)
    #expect(values?.reduce(0) { $0 + $1.keys } == 0)
    #expect(decode([[String: Int]].self, Bomb.prelude(keys: 65_536) + records) == nil)
  }

  @Test("a record, a partial record and a table of very many keys are read")
  func manyKeys() {
    let keys = 100_000
    let prelude = Bomb.prelude(keys: keys)
    let values = [UInt8](repeating: 0x91, count: keys)
    let full = Bomb.sized(0xF0, values)
    let bits = [UInt8](repeating: 0, count: keys / 8 - 1) + [0x80]
    let partial = Bomb.sized(0xF8, bits + [0x91])
    let types = [UInt8](repeating: 1, count: keys)
    let table = Bomb.sized(0x7A, [0] + types + values)
    #expect(decode([String: Int].self, prelude + full)?.isEmpty == false)
    #expect(decode([String: Int].self, prelude + partial)?.count == 1)
    #expect(decode([[String: Int]].self, prelude + table)?.count == 1)
    let matrix = Bomb.sized(0x7B, Bomb.number(1_000_000) + Bomb.repeated([1], 2_000_000))
    #expect(decode([[Int]].self, matrix)?.map(\.count) == [1_000_000])
  }

  // MARK: nesting

  @Test("maps and arrays within each other that each hold all the rest")
  func nestedClaims() {
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
      var message: [UInt8] = Bomb.sized(0x1D, [UInt8](repeating: 0x61, count: 1_000_000))
      for _ in 0..<500 { message = Bomb.sized(tag, key + message) }
      #expect(decode(Nest.self, message) != nil)
    }
  }

  @Test("a nest of a million levels is refused", arguments: [0x70, 0x71] as [UInt8])
  func deep(tag: UInt8) {
    // From the inside out, the last byte first.
    var reversed: [UInt8] = [0x91]
    for _ in 0..<1_000_000 {
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
