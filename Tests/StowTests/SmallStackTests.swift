import Foundation
import Stow
import Testing

/// Decoding on threads that have little stack, in processes of their own: what fails here ends the process.
#if compiler(>=6.2) && (os(macOS) || os(Linux))
  @Suite("On a small stack, what nests deeply decodes or throws", .disabled(if: isSanitized))
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

    /// Arrays or maps within each other.
    static func nest(_ depth: Int, isKeyed: Bool) -> [UInt8] {
      var message: [UInt8] = [0x91]
      for _ in 0..<depth {
        if isKeyed { message = [0x81, 0x61] + message }
        let length = (0..<4).map { UInt8(truncatingIfNeeded: message.count >> (8 * $0)) }
        message = [isKeyed ? 0x71 : 0x70, 0xFC] + length + message
      }
      return message
    }

    private final class Chain: Decodable {
      let a: Chain?

      private enum CodingKeys: CodingKey { case a }

      required init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
          a = nil
          return
        }
        a = try container.decodeIfPresent(Chain.self, forKey: .a)
      }
    }

    /// Decodes all there is, and says how deep it was decoded before an error was thrown, if one was.
    private static func decodeAll(depth: Int) {
      for isKeyed in [false, true] {
        let message = nest(depth, isKeyed: isKeyed)
        _ = try? StowDecoder().decode(JSONValue.self, from: message)
        _ = try? StowDecoder().decode(Chain.self, from: message)
      }
    }

    @Test("512 levels on 512 KB")
    func halfMegabyte() async {
      await #expect(processExitsWith: .success) {
        Self.onThread(stack: 512 << 10) { Self.decodeAll(depth: 512) }
      }
    }

    @Test("512 levels on 256 KB")
    func quarterMegabyte() async {
      await #expect(processExitsWith: .success) {
        Self.onThread(stack: 256 << 10) { Self.decodeAll(depth: 512) }
      }
    }

    @Test("512 levels are decoded on the stack that threads have by default")
    func defaultStack() throws {
      let message = Self.nest(500, isKeyed: true)
      Self.onThread(stack: 8 << 20) {
        #expect(throws: Never.self) { try StowDecoder().decode(JSONValue.self, from: message) }
      }
    }
  }
#endif
