import Foundation
import Stow
import Testing

/// Encoding and decoding on threads that have little stack, in processes of their own: what fails here ends the process.
#if compiler(>=6.2) && (os(macOS) || os(Linux))
  @Suite("On a small stack, what nests deeply is coded or throws", .disabled(if: isSanitized))
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
      onThread(stack: stack) {
        for value in values { _ = try? StowEncoder().encode(value) }
      }
      withExtendedLifetime(values) {}
    }

    @Test("512 levels on 512 KB")
    func halfMegabyte() async {
      await #expect(processExitsWith: .success) {
        Self.onThread(stack: 512 << 10) { Self.decodeAll(depth: 512) }
      }
      await #expect(processExitsWith: .success) {
        Self.encodeAll(depth: 512, stack: 512 << 10)
      }
    }

    @Test("512 levels on 256 KB")
    func quarterMegabyte() async {
      await #expect(processExitsWith: .success) {
        Self.onThread(stack: 256 << 10) { Self.decodeAll(depth: 512) }
      }
      await #expect(processExitsWith: .success) {
        Self.encodeAll(depth: 512, stack: 256 << 10)
      }
    }

    @Test("512 levels are encoded and decoded on the stack that threads have by default")
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
