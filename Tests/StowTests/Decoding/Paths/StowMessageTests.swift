import Foundation
import Stow
import Testing

@Suite("Open messages")
struct StowMessageTests {
  private static let value: StowValue = [
    "list": .array((0..<1000).map { .array([StowValue($0), .string("text \($0)"), .null]) }),
    "table": .array((0..<50).map { ["x": .double(Double($0) / 4), "n": StowValue($0)] }),
    "ints": [1, 100_000, 3, -5, 1_000_000_000_000], "object": ["b": 1, "a": 2, "é": .null], "empty": [],
    "nothing": [:],
  ]

  private func message() throws -> StowMessage { try StowMessage(from: Self.value.encoded()) }

  @Test("say kinds, counts and keys")
  func outline() throws {
    let message = try message()
    #expect(try message.kind() == .object)
    #expect(try message.count() == 6)
    #expect(try message.keys() == ["list", "table", "ints", "object", "empty", "nothing"])
    #expect(try message.count(at: ["list"]) == 1000)
    #expect(try message.count(at: ["list", 999]) == 3)
    #expect(try message.count(at: ["list", .each, 5]) == 1000)
    #expect(try message.kind(at: ["list", .each, 0]) == .array)
    #expect(try message.count(at: ["table"]) == 50)
    #expect(try message.keys(at: ["table", 49]) == ["x", "n"])
    #expect(try message.kind(at: ["table", 49]) == .object)
    #expect(try message.kind(at: ["table", 49, "x"]) == .floatingPoint)
    #expect(try message.count(at: ["ints"]) == 5)
    #expect(try message.keys(at: ["object"]) == ["b", "a", "é"])
    #expect(try message.count(at: ["empty"]) == 0)
    #expect(try message.keys(at: ["nothing"]) == [])
  }

  @Test("contain the paths that lead somewhere")
  func contains() throws {
    let message = try message()
    let there: [StowPath] = [
      [], ["list"], ["list", 999, 1], ["list", .each, 2], ["object", "é"], ["table", .each, "n"],
      ["empty", .each, "anything"], ["list", .each, .each], ["table", 0, .each],
    ]
    let absent: [StowPath] = [
      ["x"], ["list", 1000], ["list", -1], ["list", .each, 3], ["object", "e\u{301}"], ["object", "é", "x"],
      ["object", "é", .each],
      ["list", "x"], ["table", .each, "y"], ["list", .each, .each, 0], ["ints", 0, 0], [3],
    ]
    for path in there { #expect(try message.contains(path), "\(path)") }
    for path in absent { #expect(try !message.contains(path), "\(path)") }
  }

  @Test("hand out their elements one after the other")
  func elements() throws {
    let message = try message()
    let lists = try message.elements(at: ["list"])
    for _ in 0..<2 {
      var number = 0
      for list in lists {
        #expect(list.path == ["list", .index(number)])
        #expect(try list.decode(Int.self, at: [0]) == number)
        #expect(try list.decode(StowValue.self) == Self.value["list"]?[number])
        number += 1
      }
      #expect(number == 1000)
    }
    let table = try message.elements(at: ["table"]).map { try $0.decode([String: Double].self) }
    let quarters = (0..<50).map { Double($0) / 4 }
    #expect(table.map { $0["x"] } == quarters)
    let ints = try message.elements(at: ["ints"]).map { try $0.decode(Int.self) }
    #expect(ints == [1, 100_000, 3, -5, 1_000_000_000_000])
    let entries = try message.elements(at: ["object"]).map { ($0.path, try $0.decode(Int?.self)) }
    #expect(entries.map(\.0) == [["object", "b"], ["object", "a"], ["object", "é"]])
    #expect(entries.map(\.1) == [1, 2, nil])
    #expect(try Array(message.elements(at: ["empty"])).isEmpty)
    #expect(try Array(message.elements(at: ["nothing"])).isEmpty)
  }

  @Test("hand out what a path finds in each element")
  func eachElement() throws {
    let message = try StowMessage(from: ([["n": 1], ["m": 2], ["n": [3, 4]], 5, ["n": .null]] as StowValue).encoded())
    let parts = Array(try message.elements(at: [.each, "n"]))
    #expect(parts.map(\.path) == [[0, "n"], [1, "n"], [2, "n"], [3, "n"], [4, "n"]])
    #expect(try parts[0].decode(Int.self) == 1)
    #expect(try parts[0].decode(Int?.self) == 1)
    #expect(try parts[1].decode(Int?.self) == nil)
    #expect(try parts[1].contains([]) == false)
    #expect(throws: DecodingError.self) { try parts[1].decode(Int.self) }
    #expect(throws: DecodingError.self) { try parts[1].kind() }
    #expect(try parts[2].decode([Int].self) == [3, 4])
    #expect(throws: DecodingError.self) { try parts[3].decode(Int?.self) }
    #expect(try parts[4].kind() == .null)
    #expect(parts.count == 5)
    let each = try message.part(at: [.each])
    #expect(try each.count() == 5)
    #expect(throws: DecodingError.self) { try each.decode([Int?].self, at: ["n"]) }
  }

  @Test("parts of many values are read as paths that go on")
  func partsOfEach() throws {
    let message = try message()
    let lists = try message.part(at: ["list", .each])
    #expect(lists.path == ["list", .each])
    #expect(try lists.decode([Int].self, at: [0]) == Array(0..<1000))
    #expect(try lists.decode([String].self, at: [1]) == message.decode([String].self, at: ["list", .each, 1]))
    #expect(try lists.elements(at: [1]).map { try $0.decode(String.self) }.last == "text 999")
    #expect(try lists.elements(at: [1]).map(\.path).last == ["list", 999, 1])
  }

  @Test("stop where the way to the next element is broken")
  func brokenElements() throws {
    // An array of three integers and a string that goes beyond it; after it the message is whole.
    let bytes = Data([0xE7, 0xE4, 0x91, 0x92, 0x93, 0x35, 0x94, 0x95])
    let message = try StowMessage(from: bytes)
    let parts = Array(try message.elements(at: [0]))
    #expect(parts.count == 4)
    #expect(try parts.prefix(3).map { try $0.decode(Int.self) } == [1, 2, 3])
    for _ in 0..<2 { #expect(throws: DecodingError.self) { try parts[3].decode(Int?.self) } }
    #expect(throws: DecodingError.self) { try parts[3].contains([]) }
    #expect(throws: DecodingError.self) { try message.count(at: [0]) }
    #expect(throws: DecodingError.self) { try message.decode(Int.self, at: [0, 3]) }
    #expect(try message.decode(Int.self, at: [0, 2]) == 3)
    // What is not asked for is not looked at.
    #expect(try message.decode(Int.self, at: [2]) == 5)
  }

  @Test("small messages, whose bytes have no address of their own")
  func small() throws {
    let message = try StowMessage(from: Data([0xE2, 0x91, 0x92]))
    #expect(try message.decode([Int].self) == [1, 2])
    #expect(try message.elements().map { try $0.decode(Int.self) } == [1, 2])
    let slice = Data([9, 9, 0xE2, 0x91, 0x92, 9]).dropFirst(2).dropLast()
    #expect(try StowMessage(from: slice).decode(Int.self, at: [1]) == 2)
  }

  @Test("outlive whoever made them, and may be used from many threads")
  func threads() async throws {
    let message = try message()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 { group.addTask { try Self.readAtRandom(message, seed: task) } }
      try await group.waitForAll()
    }
  }

  private static func readAtRandom(_ message: StowMessage, seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<200 {
      let number = random.below(1000)
      #expect(try message.decode(String.self, at: ["list", .index(number), 1]) == "text \(number)")
      #expect(try message.decode(Int.self, at: ["table", .index(number % 50), "n"]) == number % 50)
      guard number % 50 == 0 else { continue }
      #expect(try message.count(at: ["list"]) == 1000)
      let sum = try message.elements(at: ["list"]).reduce(0) { try $0 + $1.decode(Int.self, at: [0]) }
      #expect(sum == 499_500)
    }
  }
}
