import Foundation
import Stow
import Testing

@Suite("Messages in spans")
struct SpanTests {
  private let names = (0..<100).map { ["name": "number \($0)"] }

  @Test("messages in spans, and parts of them, are decoded in place") func decoding() throws {
    let bytes = ContiguousArray(try StowEncoder().encode(names))
    #expect(try StowDecoder().decode([[String: String]].self, from: bytes.span.bytes) == names)
    #expect(try StowDecoder().decode(String.self, from: bytes.span.bytes, at: [7, "name"]) == "number 7")
    #expect(try StowDecoder().message(from: bytes.span.bytes).decode(String.self, at: [8, "name"]) == "number 8")
    #expect(throws: DecodingError.self) {
      try StowDecoder().decode([[String: String]].self, from: bytes.span.extracting(droppingLast: 1).bytes)
    }
  }

  @Test("a lent span has the bytes that encode(_:) returns") func lending() throws {
    let copy = try StowEncoder().withEncodedSpan(names) { span in span.withUnsafeBytes { Data($0) } }
    #expect(try copy == StowEncoder().encode(names))
  }

  @Test("a message is appended to an output span, or not written at all") func output() throws {
    let message = try StowEncoder().encode(names)
    func write(_ room: Int) throws -> [UInt8] {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
      defer { memory.deallocate() }
      var output = OutputRawSpan(buffer: memory, initializedCount: 0)
      output.append(7)
      var failure: (any Error)?
      do { try StowEncoder().encode(names, into: &output) } catch { failure = error }
      let count = output.finalize(for: memory)
      if let failure {
        #expect(count == 1)
        throw failure
      }
      return Array(memory[..<count])
    }
    #expect(try write(message.count + 1) == [7] + message)
    #expect(try write(message.count + 100) == [7] + message)
    #expect { try write(message.count) } throws: {
      guard case EncodingError.invalidValue(_, let context) = $0 else { return false }
      return context.debugDescription
        == "The message takes \(message.count) bytes, and \(message.count - 1) are free in the output."
    }
  }
}
