import Foundation
import Stow
import Testing

private struct Reading: Codable, Equatable {
  var id: Int
  var value: Double
  var level: Int32
  var total: UInt64
}

/// Both sides of what fits 32 bits, where an encoder keeps numbers in different places.
private let edges: [Int] = [
  .min, -2_147_483_649, -2_147_483_648, -2_147_483_647, -1, 0, 1, 2_147_483_646, 2_147_483_647, 2_147_483_648,
  4_294_967_295, 4_294_967_296, .max,
]

@Suite("Numbers of more than 32 bits beside short ones")
struct LongNumberTests {
  @Test("arrays of long and short numbers are decoded unchanged, encoded whole or one by one")
  func arrays() throws {
    expectRoundTrip(edges)
    expectRoundTrip(edges + edges)
    let one = try message { encoder in
      var container = encoder.unkeyedContainer()
      for edge in edges { try container.encode(edge) }
    }
    #expect(try one == StowEncoder().encode(edges))
  }

  @Test("columns of long and short numbers are decoded unchanged")
  func columns() {
    let rows = edges.map {
      Reading(
        id: $0, value: Double($0) / 3, level: Int32(truncatingIfNeeded: $0),
        total: UInt64(truncatingIfNeeded: $0))
    }
    expectRoundTrip(rows)
    for start in edges.indices { expectRoundTrip(Array(rows[start...].prefix(3))) }
    let same = [Reading](repeating: rows[10], count: 5)
    expectRoundTrip(same)
  }

  @Test("long numbers of values that failed are not written")
  func swallowed() throws {
    struct Failed: Error {}
    let failing = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Int.max, forKey: "a")
      try container.encode(0.1, forKey: "b")
      var list = container.nestedUnkeyedContainer(forKey: "c")
      try list.encode(Int.min)
      throw Failed()
    }
    func write(_ encoder: any Encoder, failing: Writes?) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Int.min, forKey: "first")
      if let failing { try? container.encode(failing, forKey: "failing") }
      try container.encode(2.0 / 3, forKey: "second")
      var list = container.nestedUnkeyedContainer(forKey: "list")
      for edge in edges {
        if let failing { try? list.encode(failing) }
        try list.encode(edge)
        try list.encode(Double(edge) / 7)
      }
    }
    let clean = try message { try write($0, failing: nil) }
    let bytes = try message { try write($0, failing: failing) }
    #expect(bytes == clean)
  }

  @Test("containers between long numbers have exact paths")
  func paths() throws {
    var paths: [String] = []
    _ = try message { encoder in
      var list = encoder.unkeyedContainer()
      for (index, edge) in edges.enumerated() {
        try list.encode(edge)
        var object = list.nestedContainer(keyedBy: AnyKey.self)
        try object.encode(Double(edge) / 7, forKey: "x")
        var inner = object.nestedUnkeyedContainer(forKey: AnyKey("inner \(index)"))
        try inner.encode(edge)
        let last = inner.nestedContainer(keyedBy: AnyKey.self)
        paths.append(last.codingPath.map(\.stringValue).joined(separator: "/"))
      }
    }
    #expect(paths == edges.indices.map { "Index \($0 * 2 + 1)/inner \($0)/Index 1" })
  }
}
