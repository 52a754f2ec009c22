import Foundation
import Stow
import Testing

/// With and without optimization, and under a sanitizer; and made anew in processes that want it so.
@Suite("Reuse of keyed containers") struct ContainerReuseTests {
  /// Notes where the boxes of its containers are.
  private final class Boxes: Codable {
    let addresses: Set<UInt>

    init() { addresses = [] }

    init(from decoder: any Decoder) throws {
      addresses = try Self.addresses { try decoder.container(keyedBy: AnyKey.self) }
    }

    func encode(to encoder: any Encoder) throws {
      let addresses = try Self.addresses { encoder.container(keyedBy: AnyKey.self) }
      #expect((addresses.count == 1) == reusesContainers)
    }

    /// What is made in between takes the memory of a box that was given back.
    private static func addresses<Container>(_ make: () throws -> Container) throws -> Set<UInt> {
      var addresses: Set<UInt> = []
      var memory: [UnsafeMutableRawPointer] = []
      defer { for pointer in memory { pointer.deallocate() } }
      for _ in 0..<3 {
        // The container before is gone by now, without optimization too.
        memory += (1..<1000).map { .allocate(byteCount: $0 / 4, alignment: 16) }
        let container = try make()
        addresses.insert(withUnsafeBytes(of: container) { $0.load(as: UInt.self) })
      }
      return addresses
    }
  }

  @Test("encoders and decoders reuse keyed containers that nothing holds")
  func reuse() throws {
    let data = try StowEncoder().encode([Boxes()])
    let boxes = try StowDecoder().decode([Boxes].self, from: data)
    #expect(boxes.map { $0.addresses.count == 1 } == [reusesContainers])
  }

  private struct Node: Codable, Equatable {
    var name = "name"
    var inner: [Node] = []
  }

  #if os(Linux)
    @Test(
      "containers that are not reused keep no memory",
      .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
      .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
    func memory() async {
      await #expect(processExitsWith: .success) {
        let node = Node(inner: [Node(inner: [Node()]), Node()])
        func code() throws { #expect(try roundTrip(node) == node) }
        for _ in 0..<100 { try code() }
        let before = try #require(ResidentMemory.current)
        for _ in 0..<3_000 { try code() }
        // Each call has some 20 KB.
        guard try #require(ResidentMemory.current) - before < 8 << 20 else { exit(EXIT_FAILURE) }
      }
    }

    /// Holds the containers of all its elements at once.
    private struct Holder: Codable {
      var count: Int

      init(count: Int) { self.count = count }

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var held: [KeyedDecodingContainer<AnyKey>] = []
        while !list.isAtEnd { held.append(try list.nestedContainer(keyedBy: AnyKey.self)) }
        count = held.count
      }

      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        var held = (0..<count).map { _ in list.nestedContainer(keyedBy: AnyKey.self) }
        for index in held.indices { try held[index].encode(index, forKey: "index") }
      }
    }

    @Test(
      "containers are released if very many were held at once",
      .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
      .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
    func many() async {
      await #expect(processExitsWith: .success) {
        #expect(try roundTrip(Holder(count: 1)).count == 1)
        let before = try ResidentMemory.settled()
        #expect(try roundTrip(Holder(count: 50_000)).count == 50_000)
        #expect(try roundTrip(Holder(count: 1)).count == 1)
        // Each takes some 800 bytes.
        guard try ResidentMemory.settled() - before < 12 << 20 else { exit(EXIT_FAILURE) }
      }
    }
  #endif
}

/// Whether the process lets the coders use containers again, as it does unless it is told not to.
private let reusesContainers = ProcessInfo.processInfo.environment["STOW_CONTAINER_REUSE"] != "0"
