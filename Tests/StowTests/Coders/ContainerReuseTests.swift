import Foundation
import Stow
import Testing

/// With and without optimization, and under a sanitizer.
@Suite("Keyed containers are handed out again") struct ContainerReuseTests {
  /// Notes where the boxes of its containers are.
  private final class Boxes: Codable {
    let addresses: Set<UInt>

    init() { addresses = [] }

    init(from decoder: any Decoder) throws {
      addresses = try Self.addresses { try decoder.container(keyedBy: AnyKey.self) }
    }

    func encode(to encoder: any Encoder) throws {
      let addresses = try Self.addresses { encoder.container(keyedBy: AnyKey.self) }
      #expect(addresses.count == 1)
    }

    /// What is made in between takes the memory of a box that was given back.
    private static func addresses<Container>(_ make: () throws -> Container) throws -> Set<UInt> {
      var addresses: Set<UInt> = []
      var memory: [UnsafeMutableRawPointer] = []
      defer { for pointer in memory { pointer.deallocate() } }
      for _ in 0..<3 {
        let container = try make()
        addresses.insert(withUnsafeBytes(of: container) { $0.load(as: UInt.self) })
        memory += (1..<1000).map { .allocate(byteCount: $0 / 4, alignment: 16) }
      }
      return addresses
    }
  }

  @Test("by encoders and decoders, when nobody holds them any more")
  func reuse() throws {
    let data = try StowEncoder().encode([Boxes()])
    let boxes = try StowDecoder().decode([Boxes].self, from: data)
    #expect(boxes.map(\.addresses.count) == [1])
  }
}
