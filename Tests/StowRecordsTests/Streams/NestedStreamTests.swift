import Foundation
import Stow
import StowRecords
import Testing

#if os(Linux)
  /// What is decoded must not read on in the stream that it stands in.
  struct NestedStreamTests {
    /// Reads on where it is being read.
    private struct Greedy: Decodable {
      static let key = CodingUserInfoKey(rawValue: "decoder")!

      init(from decoder: any Decoder) throws {
        guard let stream = decoder.userInfo[Self.key] as? Box else { return }
        _ = try stream.decoder?.next(String.self)
      }
    }

    private final class Box: @unchecked Sendable {
      var decoder: RecordStreamDecoder?
    }

    @Test func aDecoderIsNotUsedWithinItself() async {
      await #expect(processExitsWith: .failure) {
        let box = Box()
        let inner = StowDecoder()
        inner.userInfo[Greedy.key] = box
        let decoder = RecordStreamDecoder(decoder: inner)
        box.decoder = decoder
        let encoder = RecordStreamEncoder()
        for text in ["first", "second"] { decoder.feed(try encoder.encode(text)) }
        _ = try decoder.next(Greedy.self)
        exit(EXIT_SUCCESS)
      }
    }
  }
#endif
