import Foundation
import Stow
import Testing

/// Encoding and decoding on threads that have little stack, in processes of their own: what fails here ends the
/// process.
#if os(macOS) || os(Linux)
  @Suite("Small stacks", .disabled(if: isSanitized))
  struct SmallStackTests {
    /// Runs `body` on a thread with a stack of so many bytes.
    private static func onThread(stack: Int, _ body: @escaping @Sendable () -> Void) {
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        body()
        done.signal()
      }
      thread.stackSize = stack
      thread.start()
      done.wait()
    }

    /// Decodes all there is, in every way.
    private static func decodeAll(depth: Int) {
      for message in DeepMessage.allCases.map({ $0.bytes(depth: depth) }) {
        for type in DeepReaders.all { _ = try? StowDecoder().decode(type, from: message) }
        guard let opened = try? StowMessage(from: Data(message)) else { continue }
        let path = StowPath(repeatElement(.each, count: depth))
        _ = try? opened.contains(path)
        _ = try? opened.decode(StowValue.self, at: path)
      }
    }

    /// Encodes in every way. The values go on the stack of this thread: that takes room at every level, too.
    private static func encodeAll(depth: Int, stack: Int) {
      nonisolated(unsafe) let values = DeepWriters.all(depth: depth)
      onThread(stack: stack) { for value in values { _ = try? StowEncoder().encode(value) } }
      withExtendedLifetime(values) {}
    }

    @Test("512 levels are coded or throw on a stack of 512 KB")
    func halfMegabyte() async {
      await #expect(processExitsWith: .success) { Self.onThread(stack: 512 << 10) { Self.decodeAll(depth: 512) } }
      await #expect(processExitsWith: .success) { Self.encodeAll(depth: 512, stack: 512 << 10) }
    }

    @Test("512 levels are coded or throw on a stack of 256 KB")
    func quarterMegabyte() async {
      await #expect(processExitsWith: .success) { Self.onThread(stack: 256 << 10) { Self.decodeAll(depth: 512) } }
      await #expect(processExitsWith: .success) { Self.encodeAll(depth: 512, stack: 256 << 10) }
    }

    @Test("512 levels are coded or throw on stacks of 64, 96 and 128 KB", arguments: [64, 96, 128])
    func smallest(kilobytes: Int) async {
      await #expect(processExitsWith: .success) { [kilobytes] in
        Self.onThread(stack: kilobytes << 10) { Self.decodeAll(depth: 512) }
      }
      await #expect(processExitsWith: .success) { [kilobytes] in
        Self.encodeAll(depth: 512, stack: kilobytes << 10)
      }
    }

    /// Uses so many bytes of the stack, and returns how many calls that took.
    @inline(never)
    private static func use(stack bytes: Int, from start: UInt? = nil) -> Int {
      var calls = 0
      let place = withUnsafeBytes(of: &calls) { UInt(bitPattern: $0.baseAddress) }
      guard (start ?? place) - place < UInt(bytes) else { return calls }
      calls += 1 + use(stack: bytes, from: start ?? place)
      return calls
    }

    /// Needs much of a stack of its size at every level.
    private final class Needy: Decodable {
      let a: Needy?

      enum CodingKeys: CodingKey { case a }
      static let size = CodingUserInfoKey(rawValue: "size")!

      init(from decoder: any Decoder) throws {
        guard let size = decoder.userInfo[Self.size] as? Int, SmallStackTests.use(stack: size * 2 / 5) > 0
        else { fatalError("no size") }
        a = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Needy.self, forKey: .a)
      }
    }

    @Test("the values' own code has nearly half of a small stack, at every level", arguments: [64, 128, 256])
    func ownCode(kilobytes: Int) async {
      await #expect(processExitsWith: .success) { [kilobytes] in
        let size = kilobytes << 10
        Self.onThread(stack: size) {
          let decoder = StowDecoder()
          decoder.userInfo[Needy.size] = size
          do {
            _ = try decoder.decode(Needy.self, from: DeepMessage.map.bytes(depth: 500))
            fatalError("500 levels on \(kilobytes) KB")
          } catch { guard error is DecodingError else { fatalError("\(error)") } }
        }
      }
    }

    private struct Four<Element: Sendable>: Sendable {
      var a, b, c, d: Element
      init(_ element: Element) { (a, b, c, d) = (element, element, element, element) }
    }

    private typealias Kilobyte = Four<Four<Four<String>>>

    /// Holds itself beside memory in place, several copies of which are on the stack in each call.
    private struct Wide<Place>: Codable {
      var place: Place
      var inner: [Wide] = []

      enum CodingKeys: CodingKey { case inner }
      static var placeKey: CodingUserInfoKey { CodingUserInfoKey(rawValue: "place")! }

      init(_ place: Place) { self.place = place }

      init(from decoder: any Decoder) throws {
        let levels = try decoder.container(keyedBy: CodingKeys.self)
        inner = try levels.decode([Wide].self, forKey: .inner)
        guard let place = decoder.userInfo[Self.placeKey] as? Place else { fatalError("no place") }
        self.place = place
      }
    }

    /// Codes values that hold 250 others beside `place`, on a stack of so many bytes, or throws.
    private static func codeWide<Place: Sendable>(_ place: Place, stack: Int) {
      var value = Wide(place)
      for _ in 0..<250 {
        let inner = value
        value = Wide(place)
        value.inner = [inner]
      }
      nonisolated(unsafe) let wide = value
      guard let message = try? StowEncoder().encode(wide) else { fatalError("not encoded") }
      onThread(stack: stack) {
        let decoder = StowDecoder()
        decoder.userInfo[Wide<Place>.placeKey] = place
        _ = try? StowEncoder().encode(wide)
        _ = try? decoder.decode(Wide<Place>.self, from: message)
      }
    }

    @Test(
      "structs that take much of the stack are coded or throw", arguments: [512, 768, 1_024, 2_048, 8_192])
    func wide(kilobytes: Int) async {
      await #expect(processExitsWith: .success) { [kilobytes] in
        let kilobyte = Kilobyte(Four(Four("")))
        Self.codeWide(kilobyte, stack: kilobytes << 10)
        Self.codeWide(Four(kilobyte), stack: kilobytes << 10)
        Self.codeWide(Four(Four(kilobyte)), stack: kilobytes << 10)
      }
    }

    private struct People: Codable {
      @Shared var people: [Member]
    }

    @Test("encoding a chain of shared objects does not use the stack", arguments: [128, 100_000])
    func chain(count: Int) async {
      await #expect(processExitsWith: .success) { [count] in
        Self.onThread(stack: 64 << 10) {
          let members = (0..<count).map { Member("\($0)") }
          for (member, chief) in zip(members, members.dropFirst()) { member.chief = chief }
          do {
            let data = try StowEncoder().encode(SharedGraph(People(people: [members[0]])))
            // Decoding one does. It throws, or has room.
            _ = try? StowDecoder().decode(SharedGraph<People>.self, from: data)
          } catch { if count <= 128 { fatalError("\(error)") } }
          // Otherwise each would release the next one, on the stack.
          for member in members { member.chief = nil }
        }
      }
    }

    @Test("8 levels fit on a stack of 128 KB") func fewLevels() async {
      await #expect(processExitsWith: .success) {
        Self.onThread(stack: 128 << 10) {
          let levels = (0..<8).reduce(Level(nil)) { inner, _ in Level(inner) }
          do {
            _ = try StowDecoder().decode(Level.self, from: StowEncoder().encode(levels))
          } catch { fatalError("\(error)") }
        }
      }
    }

    /// Nests, and has all from the 20th level on coded on a thread with little stack, while its own thread waits.
    private final class Level: Codable {
      let inner: Level?

      enum CodingKeys: CodingKey { case inner }

      init(_ inner: Level?) { self.inner = inner }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        inner = try Self.code(at: decoder.codingPath) { try container.decodeIfPresent(Level.self, forKey: .inner) }
      }

      func encode(to encoder: any Encoder) throws {
        try Self.code(at: encoder.codingPath) {
          var container = encoder.container(keyedBy: CodingKeys.self)
          try container.encodeIfPresent(self.inner, forKey: .inner)
        }
      }

      private static func code<Value>(at path: [any CodingKey], _ body: @escaping () throws -> Value) throws -> Value {
        guard path.count == 20 else { return try body() }
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: Result<Value, any Error>?
        SmallStackTests.onThread(stack: 256 << 10) { result = Result { try body() } }
        return try #require(result).get()
      }
    }

    @Test("values too deep for the 256 KB stack of another thread are coded or throw")
    func anotherThread() async {
      await #expect(processExitsWith: .success) {
        let levels = (0..<500).reduce(Level(nil)) { inner, _ in Level(inner) }
        _ = try? StowEncoder().encode(levels)
      }
      await #expect(processExitsWith: .success) {
        let levels = (0..<500).reduce(StowValue.object([:])) { inner, _ in ["inner": inner] }
        _ = try? StowDecoder().decode(Level.self, from: levels.encoded())
      }
    }

    @Test("512 levels are encoded and decoded on the default stack of threads")
    func defaultStack() throws {
      Self.onThread(stack: 8 << 20) {
        #expect(throws: Never.self) {
          let value = try StowDecoder().decode(JSONValue.self, from: DeepMessage.map.bytes(depth: 500))
          let copy = try StowDecoder().decode(JSONValue.self, from: StowEncoder().encode(value))
          #expect(copy == value)
          let whole = try StowValue(from: DeepMessage.map.bytes(depth: 500))
          #expect(try StowValue(from: whole.encoded()) == whole)
        }
      }
    }
  }
#endif
