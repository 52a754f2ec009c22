import Foundation
import Stow
import Testing

/// How messages and decoders find each other's contexts.
@Suite("Ids of contexts")
struct ContextIdentityTests {
  private struct Point: Codable, Equatable {
    var xPosition: Int
    var yPosition: Int
  }

  private static func point() throws -> StowContext {
    try StowContext(learningFrom: [Point(xPosition: 1, yPosition: 2)])
  }

  @Test("a message starts with the id of its context")
  func id() throws {
    let context = try Self.point()
    let message = try StowEncoder(context).encode(Point(xPosition: 3, yPosition: 4))
    let id = withUnsafeBytes(of: context.id.littleEndian) { Data($0) }
    #expect(message == Data([0x7F, 0x01]) + id + Data([0xF0, 2, 0x93, 0x94]))
    #expect(
      try StowEncoder(context, names: false).encode(Point(xPosition: 3, yPosition: 4))
        == Data([0xF0, 2, 0x93, 0x94]))
  }

  @Test("a context is restored from its own message")
  func message() throws {
    let context = try Self.point()
    let copy = try StowContext(from: context.data)
    #expect(copy == context && copy.hashValue == context.hashValue)
    #expect(copy.id == context.id && copy.shapes == context.shapes && copy.symbols == context.symbols)
    #expect(try StowDecoder().decode(Int?.self, from: context.data) == nil)
    let message = try StowEncoder(context).encode(Point(xPosition: 3, yPosition: 4))
    #expect(try StowDecoder([copy]).decode(Point.self, from: message).yPosition == 4)
  }

  private static func description(_ body: () throws -> some Any) -> String {
    do {
      _ = try body()
      return ""
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test("the error for an unknown context names its id")
  func unknown() throws {
    let context = try Self.point()
    let message = try StowEncoder(context).encode(Point(xPosition: 3, yPosition: 4))
    let digits = String(context.id, radix: 16, uppercase: true)
    let id = String(repeating: "0", count: 8 - digits.count) + digits
    let other = try StowContext(learningFrom: [["other key": 1], ["other key": 2]])
    for decoder in [
      StowDecoder(), StowDecoder([]), StowDecoder([other]), StowDecoder([other], implicit: other),
    ] {
      #expect(Self.description { try decoder.decode(Point.self, from: message) }.contains(id))
    }
    #expect(context.description.contains(id))
  }

  @Test("a decoder with many contexts reads the messages of each")
  func many() throws {
    let contexts = try (0..<20).map { try context(shapes: [["key \($0)", "common"]]) }
    let decoder = StowDecoder()
    for context in contexts { try decoder.add(context) }
    try decoder.add(contexts[3])
    #expect(decoder.contexts == contexts)
    for round in 0..<3 {
      for (number, context) in contexts.enumerated() {
        let value = ["key \(number)": round, "common": number]
        let message = try StowEncoder(context, sorted: true).encode(value)
        #expect(try decoder.decode([String: Int].self, from: message) == value)
      }
    }
  }

  @Test("a context whose id another one already has cannot be added to a decoder")
  func repeated() throws {
    let (one, other) = try Collision.contexts()
    #expect(one.id == other.id && one != other)
    let decoder = StowDecoder([one])
    #expect(throws: StowContext.RepeatedID.self) { try decoder.add(other) }
    #expect(decoder.contexts == [one])
    try decoder.add(one)
    #expect(decoder.contexts == [one])
    let message = try StowEncoder(one).encode(one.symbols[0])
    #expect(try decoder.decode(String.self, from: message) == one.symbols[0])
  }

  @Test("of two set contexts with one id, both are kept and neither is used")
  func ambiguous() throws {
    let (one, other) = try Collision.contexts()
    let point = try Self.point()
    let decoder = StowDecoder([one, point, other, one])
    #expect(decoder.contexts == [one, point, other])
    for context in [one, other] {
      let message = try StowEncoder(context).encode(context.symbols[0])
      #expect(Self.description { try decoder.decode(String.self, from: message) }.contains("another"))
      #expect(Self.description { try decoder.message(from: message) }.contains("another"))
      decoder.implicitContext = context
      let unnamed = try StowEncoder(context, names: false).encode(context.symbols[0])
      #expect(try decoder.decode(String.self, from: unnamed) == context.symbols[0])
    }
    let message = try StowEncoder(point).encode(Point(xPosition: 3, yPosition: 4))
    #expect(try decoder.decode(Point.self, from: message) == Point(xPosition: 3, yPosition: 4))
    try decoder.add(other)
    #expect(decoder.contexts == [one, point, other])
    decoder.contexts = [other]
    let read = try decoder.decode(String.self, from: StowEncoder(other).encode(other.symbols[0]))
    #expect(read == other.symbols[0])
  }

  @Test("an implicit context with the id of another makes that id ambiguous")
  func ambiguousImplicit() throws {
    let (one, other) = try Collision.contexts()
    let decoder = StowDecoder([one], implicit: other)
    for context in [one, other] {
      let message = try StowEncoder(context).encode(context.symbols[0])
      #expect(Self.description { try decoder.decode(String.self, from: message) }.contains("another"))
    }
    let unnamed = try StowEncoder(other, names: false).encode(other.symbols[0])
    #expect(try decoder.decode(String.self, from: unnamed) == other.symbols[0])
    decoder.contexts = []
    #expect(throws: StowContext.RepeatedID.self) { try decoder.add(one) }
    try decoder.add(other)
    #expect(decoder.contexts == [other])
  }

  @Test("a message needs no id if the decoder has an implicit context")
  func implicit() throws {
    let context = try Self.point()
    let decoder = StowDecoder([], implicit: context)
    let value = Point(xPosition: 3, yPosition: 4)
    #expect(try decoder.decode(Point.self, from: StowEncoder(context, names: false).encode(value)) == value)
    // Those that name it, of no context, and of another that is named, are read too.
    #expect(try decoder.decode(Point.self, from: StowEncoder(context).encode(value)) == value)
    #expect(try decoder.decode(Point.self, from: StowEncoder().encode(value)) == value)
    decoder.contexts = [try other(["xPosition", "yPosition"])]
    #expect(try decoder.decode(Point.self, from: StowEncoder(decoder.contexts[0]).encode(value)) == value)
    #expect(decoder.implicitContext == context)
    decoder.implicitContext = nil
    #expect(throws: DecodingError.self) {
      try decoder.decode(Point.self, from: StowEncoder(context, names: false).encode(value))
    }
  }

  @Test("a message without an id is another value in another context")
  func anotherContext() throws {
    let (one, other) = (try context(symbols: ["one"]), try context(symbols: ["other"]))
    let message = try StowEncoder(one, names: false).encode("one")
    #expect(try StowDecoder([], implicit: other).decode(String.self, from: message) == "other")
  }

  private func other(_ keys: [String]) throws -> StowContext { try context(symbols: ["x"], shapes: [keys]) }

  @Test("the options for contexts are independent of each other")
  func options() throws {
    let context = try Self.point()
    let encoder = StowEncoder()
    #expect(encoder.context == nil && encoder.contextIdentification == .id)
    encoder.contextIdentification = .none
    #expect(encoder.context == nil)
    #expect(try encoder.encode(1) == Data([0x91]))
    encoder.context = context
    #expect(encoder.context == context && encoder.contextIdentification == .none)
    encoder.contextIdentification = .id
    #expect(try encoder.encode(1).count == 7)
    encoder.context = nil
    #expect(try encoder.encode(1) == Data([0x91]))
    let decoder = StowDecoder()
    decoder.implicitContext = context
    #expect(decoder.contexts.isEmpty)
    decoder.contexts = [context, context]
    #expect(decoder.contexts == [context] && decoder.implicitContext == context)
  }

  @Test("errors in a context name the key at which the type does not match")
  func errors() throws {
    let context = try Self.point()
    struct Outer: Encodable { var inner: [Point] }
    struct Other: Decodable {
      struct Inner: Decodable {
        var xPosition: Int
        var yPosition: String
      }
      var inner: [Inner]
    }
    let message = try StowEncoder(context).encode(Outer(inner: [Point(xPosition: 1, yPosition: 2)]))
    #expect(
      failure { try StowDecoder([context]).decode(Other.self, from: message) }
        == .typeMismatch("inner", 0, "yPosition"))
    #expect(
      failure { try StowDecoder([context]).decode([String: [[String: String]]].self, from: message) }
        == .typeMismatch("inner", 0, "xPosition"))
  }
}

#if os(Linux)
  @Suite(
    "The contexts of an encoder",
    .enabled(if: ResidentMemory.isKnown, "The system says what memory a process has."),
    .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
  struct FormerContextTests {
    @Test("an encoder releases a context when it gets another")
    func former() async {
      await #expect(processExitsWith: .success) {
        let encoder = StowEncoder()
        func use(_ number: Int) throws -> StowContext {
          let symbols = (0..<2_000).map { "symbol \($0) of context \(number)" }
          let made = try context(symbols: symbols)
          encoder.context = made
          #expect(try encoder.encode(symbols[7]).count == 6 + 1)
          return made
        }
        for number in 0..<5 { _ = try use(number) }
        let before = try #require(ResidentMemory.current)
        for number in 5..<55 { _ = try use(number) }
        let after = try #require(ResidentMemory.current)
        let held = try (55..<105).map { try use($0) }
        let least = try #require(ResidentMemory.current) - after
        guard least > 1 << 20, (after - before) * 3 < least else { exit(EXIT_FAILURE) }
        withExtendedLifetime(held) {}
      }
    }
  }
#endif

/// Two contexts with the same id. The checksum is linear, so that some bits of a symbol can change it and others change
/// it back.
private enum Collision {
  private static func context(_ bits: [Bool]) throws -> StowContext {
    let digits = bits.map { $0 ? "1" : "0" }.joined()
    return try StowContext(from: StowContext(symbols: ["#" + digits], shapes: []).data)
  }

  static func contexts() throws -> (StowContext, StowContext) {
    let count = 40
    let zero = try context([Bool](repeating: false, count: count))
    // What each bit does to the checksum, and which bits do that together.
    var rows: [(effect: UInt32, bits: UInt64)] = []
    for bit in 0..<count {
      let changed = try context((0..<count).map { $0 == bit })
      var row = (effect: changed.id ^ zero.id, bits: UInt64(1) << UInt64(bit))
      for known in rows where row.effect & (1 << (31 - UInt32(known.effect.leadingZeroBitCount))) != 0 {
        row = (row.effect ^ known.effect, row.bits ^ known.bits)
      }
      if row.effect == 0 { return (zero, try context((0..<count).map { row.bits >> UInt64($0) & 1 == 1 })) }
      rows.append(row)
      rows.sort { $0.effect > $1.effect }
    }
    throw Refusal()
  }
}
