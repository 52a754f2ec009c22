import Stow
import Testing

@Suite("Cyclic graphs of objects")
struct CyclicGraphTests {
  private final class Node: Encodable {
    enum Way: CaseIterable, Sendable {
      case keyed, unkeyed, single, array, dictionary, nested
    }
    enum CodingKeys: CodingKey { case name, next }

    let way: Way
    var next: Node?

    init(way: Way) {
      self.way = way
    }

    func encode(to encoder: any Encoder) throws {
      switch way {
      case .keyed:
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("name", forKey: .name)
        try container.encodeIfPresent(next, forKey: .next)
      case .unkeyed:
        var container = encoder.unkeyedContainer()
        try container.encode(next)
      case .single:
        try encoder.writeSingle(next)
      case .array:
        try encoder.writeSingle([next])
      case .dictionary:
        try encoder.writeSingle(["next": next])
      case .nested:
        var container = encoder.container(keyedBy: CodingKeys.self)
        var list = container.nestedUnkeyedContainer(forKey: .next)
        try list.encode(next)
      }
    }
  }

  @Test("a cycle of one, two or seven objects is an error, not a crash", arguments: Node.Way.allCases)
  private func cycle(way: Node.Way) {
    for length in [1, 2, 7] {
      let nodes = (0..<length).map { _ in Node(way: way) }
      for (i, node) in nodes.enumerated() { node.next = nodes[(i + 1) % length] }
      defer { nodes[0].next = nil }
      #expect(failure { try StowEncoder().encode(nodes[0]) }?.kind == .invalidValue)
      #expect(failure { try StowEncoder().encode(["k": [nodes[0]]]) }?.kind == .invalidValue)
    }
  }

  @Test("the encoder encodes the next message after a cycle", arguments: Node.Way.allCases)
  private func encoderGoesOn(way: Node.Way) throws {
    let node = Node(way: way)
    node.next = node
    defer { node.next = nil }
    let encoder = StowEncoder()
    for _ in 0..<3 {
      #expect(throws: EncodingError.self) { try encoder.encode(node) }
      #expect(try StowDecoder().decode([Int].self, from: encoder.encode([1, 2])) == [1, 2])
    }
  }

  @Test("one object in several places is not a cycle")
  func shared() throws {
    let last = Node(way: .keyed)
    let first = Node(way: .keyed)
    first.next = last
    let value = try transcode([last, first, last], to: JSONValue.self)
    #expect(value == [["name": "name"], ["name": "name", "next": ["name": "name"]], ["name": "name"]])
  }
}
