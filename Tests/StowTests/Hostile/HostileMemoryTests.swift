import Foundation
import Stow
import StowNotation
import Testing

#if os(Linux)
  /// The most memory that messages take which are made to take much, in multiples of their size: the numbers that
  /// SECURITY.md states. In a process of its own, where nothing else takes memory.
  @Suite(
    "Memory of hostile messages",
    .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
    .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
  struct HostileMemoryTests {
    /// Decodes a message, and ends the process if that takes more than so many times its size.
    private static func expect<Value: Decodable>(
      _ name: String, _ type: Value.Type, _ message: [UInt8], atMost limit: Int, isRefused: Bool = false
    ) {
      expect(name, message, atMost: limit, isRefused: isRefused) { try StowDecoder().decode(type, from: $0) }
    }

    /// The same for whatever reads a message.
    private static func expect<Value>(
      _ name: String, _ message: [UInt8], atMost limit: Int, isRefused: Bool = false,
      _ read: ([UInt8]) throws -> Value
    ) {
      do {
        // What the system takes away from the process between two looks counts as growth: the least of three.
        var multiple = Int.max
        for _ in 0..<3 where multiple > limit {
          try ResidentMemory.resetPeak()
          let before = try #require(ResidentMemory.current)
          let result = Result { try read(message) }
          let peak = try #require(ResidentMemory.peak)
          multiple = min(multiple, max(0, peak - before) / message.count)
          if isRefused {
            #expect(throws: DecodingError.self) { try result.get() }
          } else {
            _ = try result.get()
          }
        }
        guard multiple <= limit else { fail("\(name): \(multiple) times the message") }
      } catch {
        fail("\(name): \(error)")
      }
    }

    private static func fail(_ description: String) -> Never {
      FileHandle.standardError.write(Data((description + "\n").utf8))
      exit(EXIT_FAILURE)
    }

    /// One entry, or no more than that, within each other as deep as may be, around a string of the rest.
    private static func nest(_ size: Int) -> [UInt8] {
      var message = Bomb.sized(0x1D, [UInt8](repeating: 0x61, count: size))
      for _ in 0..<500 { message = Bomb.sized(0x71, [0x81, 0x61] + message) }
      return message
    }

    /// The most that messages may take, decoded as a type that holds any value.
    private struct Limits {
      /// Of those without tables and bits.
      let others: Int
      let bits: Int
      let rows: Int
    }

    private static func expect<Value: Decodable>(generic type: Value.Type, _ limits: Limits) {
      let count = 1 << 14
      func list(_ element: [UInt8]) -> [UInt8] { Bomb.sized(0x70, Bomb.repeated(element, count / element.count)) }
      expect("warming up", type, list([0xE1, 0x91]), atMost: 1000)
      expect("integers", type, list([0x91]), atMost: limits.others)
      expect("arrays of one", type, list([0xE1, 0x91]), atMost: limits.others)
      expect("objects of one", type, list([0xC3, 0x81, 0x61, 0x91]), atMost: limits.others)
      let bits = Bomb.sized(0x74, [0x0C, 0] + [UInt8](repeating: 0, count: count / 4))
      expect("bits", type, bits, atMost: limits.bits)
      let prelude = Bomb.prelude(symbol: [UInt8](repeating: 0x61, count: 64)) + list([0x50])
      expect("symbols", type, prelude, atMost: limits.others)
      for width in [1, 7] {
        let types = [UInt8](repeating: 0, count: width) + [UInt8](repeating: 1, count: width)
        let texts = Bomb.repeated([0x3F] + [UInt8](repeating: 0x61, count: 15), width)
        let rows = types + texts + [UInt8](repeating: 5, count: count / 2 / width * width)
        let size = UInt8(2 * width)
        expect("rows of a matrix", type, Bomb.sized(0x7B, [size] + rows), atMost: limits.rows)
        let keys: [UInt8] = (0..<size).flatMap { [0x81, UInt8(ascii: "a") + $0] }
        let prelude: [UInt8] = [0x1F, 0, 1, size] + keys
        let table = prelude + Bomb.sized(0x7A, [0] + rows)
        expect("rows of a table", type, table, atMost: limits.rows)
      }
      expect("maps around maps", type, nest(count * 8), atMost: limits.others)
      expect("few maps around maps", type, nest(10_000), atMost: limits.others)
      expect("records around records", type, records(count), atMost: limits.others, isRefused: true)
    }

    /// Records within each other of a shape that promises more values than there are.
    private static func records(_ size: Int) -> [UInt8] {
      var message = Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: size))
      for _ in 0..<500 { message = Bomb.sized(0xF0, message) }
      return Bomb.prelude(keys: size) + message
    }

    @Test("generic values take memory within a multiple of the message")
    func generic() async {
      await #expect(processExitsWith: .success) {
        Self.expect(generic: JSONValue.self, Limits(others: 60, bits: 220, rows: 250))
      }
    }

    @Test("values of StowValue take memory within a multiple of the message")
    func values() async {
      await #expect(processExitsWith: .success) {
        Self.expect(generic: StowValue.self, Limits(others: 70, bits: 280, rows: 150))
      }
    }

    @Test("values of other types and the decoder take memory within a multiple of the message")
    func others() async {
      await #expect(processExitsWith: .success) {
        let count = 1 << 18
        let zeros = Bomb.sized(0x74, [0x0D] + Bomb.number(2 * count) + [UInt8](repeating: 0, count: count))
        Self.expect("integers of no bytes", [Int].self, zeros, atMost: 30)
        let names = Bomb.sized(0x70, [UInt8](repeating: 0x50, count: count))
        let url = Array("u:".utf8) + [UInt8](repeating: 0x76, count: 62)
        Self.expect("URLs", [URL].self, Bomb.prelude(symbol: url) + names, atMost: 30)
        let bits = Bomb.sized(0x74, [0x0C, 0] + [UInt8](repeating: 0, count: count))
        Self.expect("bits", [Bool].self, bits, atMost: 30)
        Self.expect("strings", [String].self, Bomb.prelude(symbol: url) + names, atMost: 30)
        Self.expect("decoders of bits", CountedDecoders.self, bits, atMost: 5)
        let symbols = [0x1F] + Bomb.number(count) + [UInt8](repeating: 0x80, count: count) + [0, 0x50]
        Self.expect("symbols that are not used", String.self, symbols, atMost: 25)
        let shapes = Bomb.repeated([1, 0xC0], count / 2)
        let records = Bomb.repeated([0xF0, 1, 0x91], count / 6)
        let prelude = [0x1F, 1, 0x81, 0x61] + Bomb.number(count / 2) + shapes
        Self.expect("shapes", [[String: Int]].self, prelude + Bomb.sized(0x70, records), atMost: 25)
        let wide = Bomb.prelude(keys: 100_000) + Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: 100_000))
        Self.expect("keys of one shape", [String: Int].self, wide, atMost: 25)
      }
    }

    /// How many elements an array has, each of which gives a decoder.
    private struct CountedDecoders: Decodable {
      private(set) var count = 0

      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
          let element = try container.superDecoder()
          guard element.codingPath.last?.intValue == count else { throw Refusal() }
          count += 1
        }
      }
    }

    @Test("open messages and their parts take memory within a multiple of the message")
    func parts() async {
      await #expect(processExitsWith: .success) {
        let count = 1 << 18
        func expect(_ name: String, _ message: [UInt8], _ path: StowPath, atMost limit: Int) {
          Self.expect(name, message, atMost: limit) { bytes in
            let message = try StowMessage(from: Data(bytes))
            return (message, try message.decode(StowValue?.self, at: path), try message.count())
          }
        }
        expect("warming up", Bomb.sized(0x70, [UInt8](repeating: 0x91, count: count)), [7], atMost: 1000)
        let symbols = [0x1F] + Bomb.number(count) + [UInt8](repeating: 0x80, count: count) + [0, 0xE1, 0x50]
        expect("symbols", symbols, [0], atMost: 60)
        let shapes = [0x1F, 1, 0x81, 0x61] + Bomb.number(count / 2) + Bomb.repeated([1, 0xC0], count / 2)
        expect("shapes", shapes + [0xE1, 0x91], [0], atMost: 60)
        let wide = Bomb.prelude(keys: 100_000) + Bomb.sized(0xF0, [UInt8](repeating: 0x91, count: 100_000))
        expect("keys of one shape", wide, ["?"], atMost: 60)
        let zeros = Bomb.sized(0x74, [0x0D] + Bomb.number(2 * count) + [UInt8](repeating: 0, count: count))
        expect("integers of no bytes", zeros, [.index(count)], atMost: 30)
        let integers = Bomb.sized(0x70, [UInt8](repeating: 0x91, count: count))
        expect("marks", integers, [.index(count - 1)], atMost: 5)
      }
    }

    @Test("open messages take memory within a multiple of their bytes after all parts are read")
    func allParts() async {
      await #expect(processExitsWith: .success) {
        func expect(_ name: String, keys: Int, atMost limit: Int) {
          let message = Self.records(1 << 14, keys: keys)
          Self.expect(name, message, atMost: limit) { bytes in
            let message = try StowMessage(from: Data(bytes))
            for element in try message.elements() {
              _ = try element.decode([String: Int].self)
              _ = try element.keys()
            }
            return message
          }
        }
        expect("warming up", keys: 1, atMost: 1000)
        for keys in [1, 2, 4, 9, 20] { expect("shapes of \(keys) keys", keys: keys, atMost: 60) }
      }
    }

    /// An array of records of shapes of their own.
    private static func records(_ count: Int, keys: Int) -> [UInt8] {
      let names: [UInt8] = (0..<keys).flatMap { [0x81, UInt8(ascii: "a") + UInt8($0)] as [UInt8] }
      let shapes = Bomb.repeated([UInt8(keys)] + names, count)
      let values = [UInt8(keys)] + [UInt8](repeating: 0x91, count: keys)
      let records: [UInt8] = (0..<count).flatMap { [0x72] + Bomb.shortNumber($0) + values }
      return [0x1F, 0] + Bomb.number(count) + shapes + Bomb.sized(0x70, records)
    }

    @Test("contexts take memory within a multiple of their bytes")
    func contexts() async {
      await #expect(processExitsWith: .success) {
        for kind in HostileContextTests.Kind.allCases {
          let bytes = [UInt8](kind.message(1 << 18))
          Self.expect("warming up", bytes, atMost: 1000) { try StowContext(from: $0) }
          Self.expect("\(kind)", bytes, atMost: 120) { try StowContext(from: $0) }
        }
      }
    }

    @Test("texts that are encoded while they are read take memory within a multiple of their bytes")
    func texts() async {
      await #expect(processExitsWith: .success) {
        func expect(_ name: String, _ item: String, atMost limit: Int = 20) {
          let text = Array("[\(Array(repeating: item, count: 1 << 15).joined(separator: ","))]".utf8)
          Self.expect(name, text, atMost: limit) { bytes in
            try bytes.withUnsafeBufferPointer { try StowEncoder().encode(NotationText($0)) }
          }
        }
        expect("warming up", "1", atMost: 1000)
        expect("integers", "1")
        expect("objects", "{\"a\":[1]}")
        expect("objects within each other", "{\"a\":{\"b\":{\"c\":{}}}}")
      }
    }
  }
#endif
