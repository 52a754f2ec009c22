import Foundation
import Stow
import Testing

/// Contexts from strangers, and messages from strangers that rely on contexts.
@Suite("Hostile contexts")
struct HostileContextTests {
  private static let messages: [Data] = [
    StowContext(
      symbols: ["name", "caf\u{E9}", String(repeating: "long ", count: 20)],
      shapes: [["id", "name"], ["caf\u{E9}"]]),
    StowContext(symbols: (0..<40).map { "symbol \($0)" }, shapes: (0..<9).map { ["k\($0)", "symbol \($0 * 4)"] }),
    StowContext(symbols: [], shapes: [["x"]]), StowContext(symbols: ["x"], shapes: []),
  ].map(\.data)

  @Test("contexts that are cut off are refused")
  func truncated() {
    forEachCase(of: Self.messages) { (message: Data) in
      for count in 0..<message.count {
        #expect(throws: DecodingError.self) { try StowContext(from: message.prefix(count)) }
      }
      #expect(throws: DecodingError.self) { try StowContext(from: message + [0]) }
    }
  }

  @Test("changed contexts are refused or keep exactly their bytes")
  func mutated() {
    forEachCase(of: Self.messages) { (message: Data) in
      for offset in message.indices {
        let step = message.count < 16 ? 1 : message.count < 200 ? 11 : 29
        for byte in stride(from: offset % step, to: 256, by: step) {
          var bytes = message
          bytes[offset] = UInt8(byte)
          do {
            let context = try StowContext(from: bytes)
            #expect(context.data == bytes)
            #expect(StowContext(symbols: context.symbols, shapes: context.shapes).data == bytes)
            #expect(try StowDecoder().decode(Int?.self, from: bytes) == nil)
          } catch {
            #expect(error is DecodingError)
          }
        }
      }
    }
  }

  @Test("contexts that break a rule are refused")
  func refused() {
    forEachCase(of: [
      "00", "1F 00 00", "1F 00 00 91", "1F 00 00 00 00", "1F FC 00 00 00 00 00 00", "1F 00 FC 00 00 00 00 00",
      // A symbol, a shape and a key twice.
      "1F 02 81 61 81 61 00 00", "1F 00 02 01 81 61 01 81 61 00", "1F 00 01 02 81 61 81 61 00",
      "1F 01 81 61 02 01 C0 01 C0 00", "1F 01 81 61 01 02 C0 C0 00",
      // A symbol that is no reference, a reference that is longer than need be, or to nothing.
      "1F 01 81 61 01 01 81 61 00", "1F 01 81 61 01 01 E0 00 00", "1F 01 81 61 01 01 C1 00",
      // No keys, and a text that is not the shortest.
      "1F 00 01 00 00", "1F 01 84 6E 61 6D 65 00 00", "7F 01 32 40 89 27 00",
    ]) { (text: String) in
      let bytes = try VectorFile.bytes(text)
      #expect(throws: DecodingError.self) { try StowContext(from: bytes) }
    }
  }

  @Test("keys with two spellings are two symbols of a context")
  func spellings() throws {
    for text in [
      "1F 00 01 02 82 C3 A9 83 65 CC 81 00", "1F 02 82 C3 A9 83 65 CC 81 01 02 C0 C1 00",
      "1F 01 82 C3 A9 01 02 C0 83 65 CC 81 00",
    ] {
      #expect(try StowContext(from: VectorFile.bytes(text)).shapes[0].count == 2)
    }
    let context = try StowContext(from: VectorFile.bytes("1F 02 82 C3 A9 83 65 CC 81 02 01 C0 01 C1 00"))
    #expect(context.symbols.count == 2 && context.shapes.count == 2)
    let decoder = StowDecoder([], implicit: context)
    #expect(
      try decoder.decode([[String: Int]].self, from: Data([0xE6, 0xF0, 1, 0x91, 0xF1, 1, 0x92])) == [
        ["\u{E9}": 1], ["\u{E9}": 2],
      ])
  }

  private struct Record: Codable {
    var id: Int?
    var name: String?
    var list: [Record]?
    var map: [String: Record]?
    var url: URL?
  }

  @Test("changed messages that rely on contexts do no harm")
  func mutatedMessages() throws {
    let context = try StowContext(from: Self.messages[0])
    let record = Record(
      id: 1, name: "name",
      list: [Record(id: 2), Record(name: "name"), Record(id: 3, name: context.symbols[2])],
      map: ["caf\u{E9}": Record(id: 5), "id": Record(url: URL(string: "name"))])
    let table = (0..<10).map { ["id": $0, "name": 5] }
    let decoder = StowDecoder([context], implicit: context)
    for message in [
      try StowEncoder(context, sorted: true).encode(record),
      try StowEncoder(context, names: false, sorted: true).encode([record, record]),
      try StowEncoder(context).encode(table), try StowEncoder(context).encode(["caf\u{E9}": 1]),
    ] {
      #expect((try? decoder.decode(JSONValue.self, from: message)) != nil)
      for bytes in Self.mutations(of: message) {
        do { _ = try decoder.decode(JSONValue.self, from: bytes) } catch { #expect(error is DecodingError) }
        do { _ = try decoder.decode([Record].self, from: bytes) } catch { #expect(error is DecodingError) }
        do { _ = try decoder.decode(Record.self, from: bytes) } catch { #expect(error is DecodingError) }
      }
    }
  }

  /// The message cut off at every place, and with other values of every byte.
  private static func mutations(of message: Data) -> [Data] {
    let cut = message.indices.map { Data(message.prefix($0)) }
    let changed = message.indices.flatMap { offset in
      stride(from: offset % 29, to: 256, by: 29).map { byte in
        var bytes = message
        bytes[offset] = UInt8(byte)
        return bytes
      }
    }
    return cut + changed
  }

  // MARK: time

  /// Contexts of about as many bytes, each of which could make something take long.
  enum Kind: CaseIterable, Sendable {
    case shapesWithOneLongSymbol, shapesWithCommonKeys, manySymbols, manyKeys, shapesOfEveryLength

    private static func reference(_ number: Int) -> [UInt8] {
      number < 32 ? [0xC0 + UInt8(number)] : [0xE0] + Bomb.shortNumber(number)
    }

    private static func keys(_ count: Int, after prefix: [UInt8] = []) -> [UInt8] {
      (0..<count).flatMap { prefix + Bomb.key($0) }
    }

    func message(_ size: Int) -> Data {
      var bytes: [UInt8] = [0x1F]
      switch self {
      case .shapesWithOneLongSymbol:
        let count = size / 18
        bytes += [1] + Bomb.text([UInt8](repeating: 0x61, count: size / 2)) + Bomb.shortNumber(count)
        bytes += Self.keys(count, after: [2, 0xC0])
      case .shapesWithCommonKeys:
        let count = size / 19
        bytes += [2, 0x81, 0x61, 0x81, 0x62] + Bomb.shortNumber(2 * count)
        bytes += Self.keys(count, after: [3, 0xC0, 0xC1])
        bytes += Self.keys(count, after: [2, 0xC0])
      case .manySymbols:
        bytes += Bomb.shortNumber(size / 7) + Self.keys(size / 7) + [0]
      case .manyKeys:
        bytes += [0, 1] + Bomb.shortNumber(size / 7) + Self.keys(size / 7)
      case .shapesOfEveryLength:
        let count = Int(Double(size).squareRoot())
        bytes += Bomb.shortNumber(count) + Self.keys(count) + Bomb.shortNumber(count)
        for length in 1...count {
          bytes += Bomb.shortNumber(length)
          for key in 0..<length { bytes += Self.reference(key) }
        }
      }
      return Data(bytes + [0])
    }
  }

  @Test("contexts take time in proportion to their bytes", .enabled(if: !isSanitized), arguments: Kind.allCases)
  func time(kind: Kind) throws {
    let sizes = [4_000, 64_000]
    let messages = Dictionary(uniqueKeysWithValues: sizes.map { ($0, kind.message($0)) })
    try expectLinear(small: sizes[0]) { size in
      let context = try StowContext(from: messages[size] ?? Data())
      #expect(!context.symbols.isEmpty || !context.shapes.isEmpty)
    }
  }

  @Test("large contexts do not make small messages slow", .enabled(if: !isSanitized), arguments: Kind.allCases)
  func reading(kind: Kind) throws {
    func roundTrip(_ encoder: StowEncoder, _ decoder: StowDecoder) throws {
      for _ in 0..<20 {
        let message = try encoder.encode(["a": "a", "b": "b"])
        #expect(try decoder.decode([String: String].self, from: message).count == 2)
        #expect(try decoder.decode(Sparse.self, from: message) == Sparse(a: "a", c: nil))
        #expect(try decoder.decode(Sparse.self, from: encoder.encode(Sparse(a: "x"))) == Sparse(a: "x"))
      }
    }
    func coders(_ size: Int) throws -> (StowEncoder, StowDecoder) {
      let context = try StowContext(from: kind.message(size))
      return (StowEncoder(context, names: false), StowDecoder([], implicit: context))
    }
    let (small, large) = (try coders(4_000), try coders(64_000))
    // What is made of a context once is made in the first run.
    try expect({ try roundTrip(large.0, large.1) }, takesLessThan: 5, times: { try roundTrip(small.0, small.1) })
  }

  private struct Sparse: Codable, Equatable {
    var a: String
    var c: String?
  }
}
