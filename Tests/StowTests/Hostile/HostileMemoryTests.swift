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
      _ name: String, _ type: Value.Type, _ message: [UInt8], atMost limit: Int
    ) {
      expect(name, message, atMost: limit) { try StowDecoder().decode(type, from: $0) }
    }

    /// The same for whatever reads a message.
    private static func expect<Value>(
      _: String, _ message: [UInt8], atMost limit: Int, _ read: ([UInt8]) throws -> Value
    ) {
      try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      let before = resident("VmRSS:")
      let result = Result { try read(message) }
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

    /// The most that each kind of message may take, decoded as a type that holds any value.
    private struct Limits {
      let integers: Int
      let arrays: Int
      let objects: Int
      let bits: Int
      let rows: Int
      let nests: Int
    }

    private static func expect<Value: Decodable>(generic type: Value.Type, _ limits: Limits) {
      let count = 1 << 15
      func list(_ element: [UInt8]) -> [UInt8] {
        Bomb.sized(0x70, Bomb.repeated(element, count / element.count))
      }
      expect("warming up", type, list([0xE1, 0x91]), atMost: 1000)
      expect("integers", type, list([0x91]), atMost: limits.integers)
      expect("arrays of one", type, list([0xE1, 0x91]), atMost: limits.arrays)
      expect("objects of one", type, list([0xC3, 0x81, 0x61, 0x91]), atMost: limits.objects)
      let bits = Bomb.sized(0x74, [0x0C, 0] + [UInt8](repeating: 0, count: count / 4))
      expect("bits", type, bits, atMost: limits.bits)
      let prelude = Bomb.prelude(symbol: Array("long".utf8)) + list([0x50])
      expect("symbols", type, prelude, atMost: limits.integers)
      for width in [1, 2, 7] {
        let types = [UInt8](repeating: 0, count: width) + [UInt8](repeating: 1, count: width)
        let texts = Bomb.repeated([0x3F] + [UInt8](repeating: 0x61, count: 15), width)
        let rows = types + texts + [UInt8](repeating: 5, count: count / width * width)
        let size = UInt8(2 * width)
        expect("rows of a matrix", type, Bomb.sized(0x7B, [size] + rows), atMost: limits.rows)
        let keys: [UInt8] = (0..<size).flatMap { [0x81, UInt8(ascii: "a") + $0] }
        let prelude: [UInt8] = [0x1F, 0, 1, size] + keys
        let table = prelude + Bomb.sized(0x7A, [0] + rows)
        expect("rows of a table", type, table, atMost: limits.rows)
      }
      expect("maps around maps", type, nest(count * 8), atMost: 60)
      expect("few maps around maps", type, nest(10_000), atMost: limits.nests)
      expect("records around records", type, records(count), atMost: limits.nests)
    }

    /// Records within each other of a shape that promises more values than there are.
    private static func records(_ size: Int) -> [UInt8] {
      var message = Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: size))
      for _ in 0..<500 { message = Bomb.sized(0xF0, message) }
      return Bomb.prelude(keys: size) + message
    }

    @Test("of generic values")
    func generic() async {
      await #expect(processExitsWith: .success) {
        Self.expect(
          generic: JSONValue.self,
          Limits(integers: 50, arrays: 120, objects: 150, bits: 250, rows: 250, nests: 100))
      }
    }

    @Test("of StowValue")
    func values() async {
      await #expect(processExitsWith: .success) {
        Self.expect(
          generic: StowValue.self,
          Limits(integers: 50, arrays: 80, objects: 80, bits: 300, rows: 200, nests: 100))
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

    @Test("of open messages and their parts")
    func parts() async {
      await #expect(processExitsWith: .success) {
        let count = 1 << 18
        func expect(_ name: String, _ message: [UInt8], _ path: StowPath, atMost limit: Int) {
          Self.expect(name, message, atMost: limit) { bytes in
            let message = try StowMessage(Data(bytes))
            return (message, try message.decode(StowValue?.self, at: path), try message.count())
          }
        }
        expect("warming up", Bomb.sized(0x70, [UInt8](repeating: 0x91, count: count)), [7], atMost: 1000)
        let symbols = [0x1F] + Bomb.number(count) + [UInt8](repeating: 0x80, count: count) + [0, 0xE1, 0x50]
        expect("symbols", symbols, [0], atMost: 80)
        let shapes = [0x1F, 1, 0x81, 0x61] + Bomb.number(count / 2) + Bomb.repeated([1, 0xC0], count / 2)
        expect("shapes", shapes + [0xE1, 0x91], [0], atMost: 60)
        let wide = Bomb.prelude(keys: 100_000) + Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: 100_000))
        expect("keys of one shape", wide, ["?"], atMost: 100)
        let zeros = Bomb.sized(0x74, [0x0D] + Bomb.number(2 * count) + [UInt8](repeating: 0, count: count))
        expect("integers of no bytes", zeros, [.index(count)], atMost: 40)
        let integers = Bomb.sized(0x70, [UInt8](repeating: 0x91, count: count))
        expect("marks", integers, [.index(count - 1)], atMost: 5)
      }
    }
  }
#endif
