import Foundation
import Stow
import Testing

#if compiler(>=6.2) && os(Linux)
  /// The most memory that messages take which are made to take much, in multiples of their size. SECURITY.md
  /// states them. In a process of its own, where nothing else takes memory.
  @Suite("Memory stays within a multiple of the message")
  struct HostileMemoryTests {
    /// What is resident, or was at most, in bytes.
    private static func resident(_ field: String) -> Int {
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
      return (Int(line?.filter(\.isNumber) ?? "") ?? 0) << 10
    }

    /// Decodes a message, and ends the process if that takes more than so many times its size.
    private static func expect<Value: Decodable>(
      _: String, _ type: Value.Type, _ message: [UInt8], atMost limit: Int
    ) {
      try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      let before = resident("VmRSS:")
      let result = Result { try StowDecoder().decode(type, from: message) }
      let multiple = max(0, resident("VmHWM:") - before) / message.count
      withExtendedLifetime(result) {
        // Sanitizers keep memory of their own.
        guard multiple <= limit || isSanitized else { exit(EXIT_FAILURE) }
      }
    }

    /// One entry, or no more than that, within each other as deep as may be, around a string of the rest.
    private static func nest(_ size: Int) -> [UInt8] {
      var message = Bomb.sized(0x1D, [UInt8](repeating: 0x61, count: size))
      for _ in 0..<500 { message = Bomb.sized(0x71, [0x81, 0x61] + message) }
      return message
    }

    @Test("of generic values")
    func generic() async {
      await #expect(processExitsWith: .success) {
        let count = 1 << 15
        func list(_ element: [UInt8]) -> [UInt8] {
          Bomb.sized(0x70, Bomb.repeated(element, count / element.count))
        }
        Self.expect("warming up", JSONValue.self, list([0xE1, 0x91]), atMost: 1000)
        Self.expect("integers", JSONValue.self, list([0x91]), atMost: 50)
        Self.expect("arrays of one", JSONValue.self, list([0xE1, 0x91]), atMost: 120)
        Self.expect("objects of one", JSONValue.self, list([0xC3, 0x81, 0x61, 0x91]), atMost: 150)
        let bits = Bomb.sized(0x74, [0x0C, 0] + [UInt8](repeating: 0, count: count / 4))
        Self.expect("bits", JSONValue.self, bits, atMost: 250)
        let prelude = Bomb.prelude(symbol: Array("long".utf8)) + list([0x50])
        Self.expect("symbols", JSONValue.self, prelude, atMost: 50)
        for width in [1, 2, 7] {
          let types = [UInt8](repeating: 0, count: width) + [UInt8](repeating: 1, count: width)
          let texts = Bomb.repeated([0x3F] + [UInt8](repeating: 0x61, count: 15), width)
          let rows = types + texts + [UInt8](repeating: 5, count: count / width * width)
          let size = UInt8(2 * width)
          Self.expect("rows of a matrix", JSONValue.self, Bomb.sized(0x7B, [size] + rows), atMost: 250)
          let keys: [UInt8] = (0..<size).flatMap { [0x81, UInt8(ascii: "a") + $0] }
          let prelude: [UInt8] = [0x1F, 0, 1, size] + keys
          let table = prelude + Bomb.sized(0x7A, [0] + rows)
          Self.expect("rows of a table", JSONValue.self, table, atMost: 250)
        }
        Self.expect("maps around maps", JSONValue.self, Self.nest(count * 8), atMost: 60)
        Self.expect("few maps around maps", JSONValue.self, Self.nest(10_000), atMost: 100)
      }
    }

    @Test("of other types, and of the decoder itself")
    func others() async {
      await #expect(processExitsWith: .success) {
        let count = 1 << 18
        let zeros = Bomb.sized(0x74, [0x0D] + Bomb.number(2 * count) + [UInt8](repeating: 0, count: count))
        Self.expect("integers of no bytes", [Int].self, zeros, atMost: 40)
        let names = Bomb.sized(0x70, [UInt8](repeating: 0x50, count: count))
        Self.expect("URLs", [URL].self, Bomb.prelude(symbol: Array("u:v".utf8)) + names, atMost: 40)
        let bits = Bomb.sized(0x74, [0x0C, 0] + [UInt8](repeating: 0, count: count))
        Self.expect("bits", [Bool].self, bits, atMost: 20)
        let symbols = [0x1F] + Bomb.number(count) + [UInt8](repeating: 0x80, count: count) + [0, 0x50]
        Self.expect("symbols that are not used", String.self, symbols, atMost: 60)
        let shapes = Bomb.repeated([1, 0xC0], count / 2)
        let records = Bomb.repeated([0xF0, 1, 0x91], count / 6)
        let prelude = [0x1F, 1, 0x81, 0x61] + Bomb.number(count / 2) + shapes
        Self.expect("shapes", [[String: Int]].self, prelude + Bomb.sized(0x70, records), atMost: 150)
        let wide = Bomb.prelude(keys: 100_000) + Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: 100_000))
        Self.expect("keys of one shape", [String: Int].self, wide, atMost: 100)
      }
    }
  }
#endif
