import NIOCore
import Stow
import Testing

/// Writes messages to a `ByteBuffer` and reads them there, by its spans.
@Suite("Messages in buffers of SwiftNIO")
struct SpanTests {
  @Test("are written to the buffer and decoded in it") func buffer() throws {
    let events = Dictionary(uniqueKeysWithValues: (0..<100).map { ("event \($0)", [$0, -$0]) })
    var buffer = ByteBuffer()
    let length = try StowEncoder().withEncodedSpan(events) { span in
      buffer.writeBytes(span)
      return span.byteCount
    }
    try buffer.writeWithOutputRawSpan(minimumWritableBytes: length) { output in
      try StowEncoder().encode([1, 2, 3], into: &output)
    }
    let written = buffer.readSlice(length: length)
    #expect(try StowDecoder().decode([Int].self, from: buffer.readableBytesSpan) == [1, 2, 3])
    let first = try #require(written)
    #expect(try StowDecoder().decode([String: [Int]].self, from: first.readableBytesSpan) == events)
    #expect(throws: EncodingError.self) {
      try buffer.writeWithOutputRawSpan(minimumWritableBytes: 1) { output in
        while output.freeCapacity > 10 { output.append(0) }
        try StowEncoder().encode(events, into: &output)
      }
    }
  }
}
