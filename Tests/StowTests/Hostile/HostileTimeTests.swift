import Foundation
import Stow
import Testing

/// Reads objects in a way of its own.
private protocol Reader: Decodable {}

private struct Fields: Reader {
  let a: Int?
  let b: Int?
}

private struct Dynamic: Reader {
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    for key in ["a", "z", "b"] as [AnyKey] { _ = try container.decodeIfPresent(Int.self, forKey: key) }
  }
}

private struct AllKeys: Reader {
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    for key in container.allKeys {
      if try container.contains(key) && !container.decodeNil(forKey: key) {
        _ = try container.decode(Int.self, forKey: key)
      }
    }
    for key in container.allKeys.reversed() { _ = try container.decode(Int?.self, forKey: key) }
  }
}

private struct Super: Reader {
  init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: AnyKey.self).superDecoder().codingPath
  }
}

private var readers: [any Reader.Type] { [Fields.self, Dynamic.self, AllKeys.self, Super.self] }

/// A message with objects of about so many bytes, half of them those of the symbols.
private struct Objects: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable (_ count: Int, _ symbol: (Int) -> [UInt8]) -> [UInt8]

  static let all = [
    Objects(testDescription: "maps of one key") { count, symbol in
      prelude([symbol(count / 2)]) + Bomb.sized(0x70, Bomb.repeated([0xC2, 0xC0, 0x91], count / 6))
    },
    Objects(testDescription: "maps of very many keys, all the same") { count, symbol in
      prelude([symbol(count / 2)])
        + Bomb.sized(0x70, Bomb.sized(0x71, Bomb.repeated([0xC0, 0x91], count / 4)))
    },
    Objects(testDescription: "maps of many keys") { count, symbol in
      let map = Bomb.sized(0x71, letters.flatMap { [0x81, $0, 0x91] } + [0xC0, 0x91, 0xC1, 0x91])
      return prelude([symbol(count / 4), symbol(count / 4)])
        + Bomb.sized(0x70, Bomb.repeated(map, count / 120))
    },
    Objects(testDescription: "records of one shape") { count, symbol in
      prelude([symbol(count / 2)], [[2, 0xC0, 0x81, 0x62]])
        + Bomb.sized(0x70, Bomb.repeated([0xF0, 2, 0x91, 0x91], count / 8))
    },
    Objects(testDescription: "records of one shape whose key is no symbol") { count, symbol in
      prelude([], [[1] + Bomb.text(symbol(count / 2))])
        + Bomb.sized(0x70, Bomb.repeated([0xF0, 1, 0x91], count / 6))
    },
    Objects(testDescription: "rows of tables whose key is no symbol") { count, symbol in
      prelude([], [[1] + Bomb.text(symbol(count / 2))])
        + Bomb.sized(0x70, Bomb.repeated([0x7A, 5, 0, 1, 7, 8, 9], count / 14))
    },
    Objects(testDescription: "records of shapes of their own") { count, symbol in
      prelude([symbol(count / 2)], Array(repeating: [2, 0xC0, 0x81, 0x62], count: count / 24))
        + records(count / 24, keys: 2)
    },
    Objects(testDescription: "records of large shapes of their own") { count, symbol in
      let shape: [UInt8] = [UInt8(letters.count + 1), 0xC0] + letters.flatMap { [0x81, $0] as [UInt8] }
      return prelude([symbol(count / 2)], Array(repeating: shape, count: count / 120))
        + records(count / 120, keys: letters.count + 1)
    },
  ]

  /// Those with a long key in each of many objects.
  static let ofLongKeys = all.filter { !$0.testDescription.contains("many keys") }

  private static let letters = Array("bcdefghijklmnopqrst".utf8)

  private static func prelude(_ symbols: [[UInt8]], _ shapes: [[UInt8]] = []) -> [UInt8] {
    [0x1F] + Bomb.number(symbols.count) + symbols.flatMap(Bomb.text) + Bomb.number(shapes.count)
      + shapes.joined()
  }

  private static func records(_ count: Int, keys: Int) -> [UInt8] {
    let values = [UInt8](repeating: 0x91, count: keys)
    return Bomb.sized(
      0x70,
      (0..<count).flatMap { (number: Int) -> [UInt8] in
        [0x72] + Bomb.number(number) + Bomb.number(keys) + values
      })
  }
}

@Suite("Time of hostile messages")
struct HostileTimeTests {
  @Test("long keys that are symbols take time in proportion to the message", arguments: Objects.all)
  private func longSymbols(objects: Objects) throws {
    func check<Element: Reader>(_ type: Element.Type, _ symbol: (Int) -> [UInt8]) throws {
      try expectLinear([Element].self) { objects.make($0, symbol) }
    }
    for reader in readers {
      try check(reader) { [UInt8](repeating: 0x78, count: $0) }
      // Characters that a comparison must put into order first; few in a row, since that is quadratic in itself.
      try check(reader) { Bomb.repeated([0x61, 0xCC, 0x81, 0xCC, 0xA3], $0 / 5) }
      // Zeros before an integer.
      try check(reader) { [UInt8](repeating: 0x30, count: $0) + [0x31] }
    }
  }

  /// The size from which on looking at all of a key takes longer than everything else that is done for it.
  private static let largeSize = 20_000
  private static func largeKey(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x78, count: count) }

  @Test("long keys and strings with many combining marks take time in proportion to the message")
  func manyMarks() throws {
    func marks(_ count: Int) -> [UInt8] { Bomb.repeated([0xCC, 0x81, 0xCC, 0xA3], count / 4) }
    for reader in readers + [StowValue.self] as [any Decodable.Type] {
      func check<Element: Decodable>(_ type: Element.Type) throws {
        try expectLinear([Element].self, size: Self.largeSize) { Objects.all[0].make($0, marks) }
      }
      try check(reader)
    }
  }

  @Test("keys that allKeys has returned take time in proportion to the message", arguments: Objects.ofLongKeys)
  private func returnedKeys(objects: Objects) throws {
    try expectLinear([AllKeys].self, size: Self.largeSize) { objects.make($0, Self.largeKey) }
  }

  @Test("keys in the elements of an open message take time in proportion to the message", arguments: Objects.ofLongKeys)
  private func openMessage(objects: Objects) throws {
    let reads: [(StowMessage) throws -> Void] = [
      { _ = try $0.keys() }, { _ = try $0.count() }, { _ = try $0.contains(["b"]) },
      { _ = try $0.decode(StowValue.self) }, { _ = try $0.decode(AllKeys.self) },
    ]
    let sizes = [Self.largeSize, 8 * Self.largeSize]
    for read in reads {
      let messages = try sizes.map { ($0, try StowMessage(from: objects.make($0, Self.largeKey))) }
      let bySize = Dictionary(uniqueKeysWithValues: messages)
      try expectLinear(small: sizes[0], times: 8) { size in
        for element in try #require(bySize[size]).elements() { try? read(element) }
      }
    }
  }

  @Test("a map of very many different or equal keys takes time in proportion to the message")
  func manyKeys() throws {
    for type in [Fields.self, Dynamic.self, AllKeys.self, [String: Int].self, JSONValue.self]
      as [any Decodable.Type]
    {
      try expectLinear(type) { Bomb.sized(0x71, Bomb.repeated([0x81, 0x63, 0x91], $0 / 3)) }
      try expectLinear(type) { count in
        Bomb.sized(0x71, (0..<count / 8).flatMap { [0x86] + Array("\(100_000 + $0)".utf8) + [0x91] })
      }
    }
  }

  @Test("error paths below a long key take time in proportion to the message")
  func paths() throws {
    // What each value is not makes an error, and it names the key.
    for element in [[0x31, 0x61], [0xE2, 0x31, 0x61], [0xC4, 0x81, 0x61, 0x31, 0x61]] as [[UInt8]] {
      try expectLinear(JSONValue.self, size: 1000) { count in
        let key = Bomb.text([UInt8](repeating: 0x78, count: count / 2))
        return Bomb.sized(0x71, key + Bomb.sized(0x70, Bomb.repeated(element, count / 2 / element.count)))
      }
    }
  }

  @Test("errors of elements take no longer if their array is deep")
  func deepErrors() throws {
    // What each element is not makes errors, whose paths have the steps of all arrays around it.
    let flat = Bomb.sized(0x70, Bomb.repeated([0x91], 4_000))
    let deep = (0..<200).reduce(flat) { inner, _ in Bomb.sized(0x70, inner) }
    func decode(_ message: [UInt8]) throws { _ = try StowDecoder().decode(JSONValue.self, from: message) }
    try expect({ try decode(deep) }, takesLessThan: 3, times: { try decode(flat) })
  }

  @Test("skipped values take time in proportion to the message")
  func skipping() throws {
    try expectLinear([Fields].self) { count in
      let nest = (0..<100).reduce([0x91] as [UInt8]) { inner, _ in Bomb.sized(0x71, [0x81, 0x63] + inner) }
      let object = Bomb.sized(0x71, [0x81, 0x63] + nest)
      return Bomb.sized(0x70, Bomb.repeated(object, count / object.count))
    }
    try expectLinear(Fields.self) { count in
      (0..<100).reduce([UInt8](repeating: 0x91, count: count)) { inner, _ in
        Bomb.sized(0x71, [0x81, 0x63] + Bomb.sized(0x70, inner))
      }
    }
  }

  @Test("reading large objects out of order takes time in proportion to the message")
  func outOfOrder() throws {
    for type in [Fields.self, AllKeys.self, [String: Int].self, [AllKeys].self] as [any Decodable.Type] {
      try expectLinear(type) { count in
        let values = [UInt8](repeating: 0x91, count: count / 7)
        return Bomb.prelude(keys: count / 7) + Bomb.sized(0xF0, values)
      }
      try expectLinear(type) { count in
        let bits = [UInt8](repeating: 0xFF, count: count / 56)
        let values = [UInt8](repeating: 0x91, count: bits.count * 8)
        return Bomb.prelude(keys: values.count) + Bomb.sized(0xF8, bits + values)
      }
      try expectLinear(type) { count in
        let types = [UInt8](repeating: 1, count: count / 8)
        return Bomb.prelude(keys: types.count) + Bomb.sized(0x7A, [0] + types + types)
      }
    }
  }

  @Test("integers without bytes and tables of wide columns take time in proportion to the message")
  func widths() throws {
    for type in [[Int].self, [Int8].self, [Double].self, JSONValue.self] as [any Decodable.Type] {
      try expectLinear(type, size: 1000) { count in
        Bomb.sized(0x74, [0x0D] + Bomb.number(2 * count) + [UInt8](repeating: 0, count: count))
      }
    }
    for type in [[[Double]].self, [[Int]].self, JSONValue.self] as [any Decodable.Type] {
      try expectLinear(type, size: 1000) { count in
        Bomb.sized(0x7B, [4, 0, 1, 8, 1, 0x91] + [UInt8](repeating: 0, count: count))
      }
      try expectLinear(type, size: 1000) { count in
        let types = [UInt8](repeating: 8, count: count / 9)
        return Bomb.sized(0x7B, Bomb.number(types.count) + types + [UInt8](repeating: 0, count: 8 * types.count))
      }
    }
  }
}
