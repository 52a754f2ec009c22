import Foundation
import Stow
import Testing

/// Calls of encoding containers, some number of times, in one of the orders that `Codable` allows.
private struct Calls: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Notes what containers say, as their counts.
  typealias Note = (Int) -> Void
  typealias Body = @Sendable (_ encoder: any Encoder, _ count: Int, _ note: @escaping Note) throws -> Void
  let body: Body
  /// Whether Foundation's encoder takes them, and means the same. It does not count late
  /// elements, and values that threw confuse it.
  let areThoseOfJSON: Bool

  init(_ description: String, areThoseOfJSON: Bool = true, _ body: @escaping Body) {
    testDescription = description
    self.body = body
    self.areThoseOfJSON = areThoseOfJSON
  }

  func value(_ count: Int, _ note: @escaping Note) -> some Encodable { Writes { try body($0, count, note) } }

  static let all = keyed + arraysOfKeys + unkeyed + counts + superEncoders + kept + failures
}

private enum Fixed: CodingKey, CaseIterable { case first, second, third, fourth }

private func key(_ number: Int) -> AnyKey { AnyKey("key \(number)") }

/// A value that records something before it throws.
private struct Throwing: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    var list = container.nestedUnkeyedContainer(forKey: "list")
    try list.encode(1)
    throw Refusal()
  }
}

extension Calls {
  private static let keyed = [
    Calls("keys, values and nils") { encoder, count, _ in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in 0..<count {
        try container.encode(number, forKey: key(3 * number))
        try container.encodeNil(forKey: key(3 * number + 1))
        try container.encodeIfPresent(nil as Int?, forKey: key(3 * number + 2))
      }
    },
    Calls("one key again and again") { encoder, count, _ in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      var fixed = list.nestedContainer(keyedBy: Fixed.self)
      for number in 0..<count {
        try container.encode("\(number)", forKey: "key")
        try fixed.encode("\(number)", forKey: .second)
        try fixed.encode([number], forKey: .first)
      }
    },
    Calls("the container again for every key") { encoder, count, _ in
      for number in 0..<count {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(number, forKey: key(number))
        var other = encoder.container(keyedBy: Fixed.self)
        try other.encode(number, forKey: Fixed.allCases[number % 4])
      }
    },
    Calls("nested objects, new and continued") { encoder, count, _ in
      var container = encoder.container(keyedBy: AnyKey.self)
      for round in 0..<2 {
        for number in 0..<count {
          var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: key(number))
          try nested.encode(round, forKey: key(round))
          var same = container.nestedContainer(keyedBy: Fixed.self, forKey: "same")
          try same.encode(round, forKey: Fixed.allCases[number % 4])
        }
      }
    },
    Calls("the path of every value", areThoseOfJSON: false) { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      for number in 0..<count {
        try list.encode(Writes { note($0.codingPath.count) })
        try container.encode(Writes { note($0.codingPath.count) }, forKey: key(number))
        note(list.codingPath.count)
        note(container.superEncoder(forKey: key(number)).codingPath.count)
      }
    },
  ]

  private static let arraysOfKeys = [
    Calls("an array for every key") { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in 0..<count {
        var list = container.nestedUnkeyedContainer(forKey: key(number))
        try list.encode(number)
        note(list.count)
      }
    },
    Calls("arrays for keys that another object had") { encoder, count, note in
      var objects = encoder.unkeyedContainer()
      for _ in 0..<2 {
        var container = objects.nestedContainer(keyedBy: AnyKey.self)
        for number in 0..<count {
          var list = container.nestedUnkeyedContainer(forKey: key(number))
          try list.encode(number)
          note(list.count)
        }
      }
    },
    Calls("the array of one key again for every element") { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in 0..<count {
        var list = container.nestedUnkeyedContainer(forKey: "list")
        try list.encode(number)
        note(list.count)
      }
    },
    Calls("the arrays of fixed keys again for every element") { encoder, count, note in
      var container = encoder.container(keyedBy: Fixed.self)
      for number in 0..<count {
        var list = container.nestedUnkeyedContainer(forKey: Fixed.allCases[number % 4])
        try list.encode("\(number)")
        note(list.count)
      }
    },
    Calls("the arrays of all keys again, first to last and last to first") { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in Array(0..<count) + (0..<count).reversed() {
        var list = container.nestedUnkeyedContainer(forKey: key(number))
        try list.encode(number)
        note(list.count)
      }
    },
    Calls("the arrays of many objects in turn") { encoder, count, note in
      var objects = encoder.unkeyedContainer()
      var containers: [KeyedEncodingContainer<AnyKey>] = []
      var fixed: [KeyedEncodingContainer<Fixed>] = []
      for _ in 0..<count {
        containers.append(objects.nestedContainer(keyedBy: AnyKey.self))
        fixed.append(objects.nestedContainer(keyedBy: Fixed.self))
      }
      for round in 0..<3 {
        for index in 0..<count {
          var list = containers[index].nestedUnkeyedContainer(forKey: "list")
          try list.encode(round)
          var other = fixed[index].nestedUnkeyedContainer(forKey: .third)
          try other.encode(round)
          note(list.count + other.count)
        }
      }
    },
    Calls("the array of a key that had others, and values that threw, before", areThoseOfJSON: false) {
      encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      var fixed = container.nestedContainer(keyedBy: Fixed.self, forKey: "fixed")
      try container.encode([1, 2], forKey: "list")
      for number in 0..<count {
        try? container.encode(Throwing(), forKey: "list")
        var list = container.nestedUnkeyedContainer(forKey: "list")
        try list.encode(number)
        try fixed.encode([number], forKey: .first)
        try? fixed.encode(Throwing(), forKey: .first)
        var other = fixed.nestedUnkeyedContainer(forKey: .first)
        try other.encode(number)
        note(list.count + other.count)
      }
    },
    Calls("arrays of keys within each other, each again for every element") { encoder, count, _ in
      for number in 0..<count {
        var container = encoder.container(keyedBy: AnyKey.self)
        for _ in 0..<4 { container = container.nestedContainer(keyedBy: AnyKey.self, forKey: "inner") }
        var list = container.nestedUnkeyedContainer(forKey: "list")
        var inner = list.nestedUnkeyedContainer()
        try inner.encode(number)
      }
    },
    Calls("late arrays of keys, again for every element", areThoseOfJSON: false) {
      encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      let late = container.superEncoder(forKey: "list")
      try container.encode(1, forKey: "other")
      var first = late.unkeyedContainer()
      for number in 0..<count {
        var list = container.nestedUnkeyedContainer(forKey: "list")
        try list.encode(number)
        try first.encode(number)
        note(list.count)
      }
    },
  ]

  private static let unkeyed = [
    Calls("elements of every kind") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      for number in 0..<count {
        try list.encode(number)
        try list.encode("\(number)")
        try list.encodeNil()
        try list.encode([number])
        try list.encode(contentsOf: [number, number])
        var inner = list.nestedUnkeyedContainer()
        try inner.encode(number)
        var object = list.nestedContainer(keyedBy: AnyKey.self)
        try object.encode(number, forKey: "key")
        note(list.count)
      }
    },
    Calls("the container again for every element") { encoder, count, note in
      for number in 0..<count {
        var list = encoder.unkeyedContainer()
        try list.encode(number)
        note(list.count)
      }
    },
    Calls("the container of a whole array again for every element", areThoseOfJSON: false) {
      try continueArray(["first", "second"], in: $0, $1, $2)
    },
    Calls("the container of a whole array of integers again for every element", areThoseOfJSON: false) {
      try continueArray(Array(0..<30), in: $0, $1, $2)
    },
  ]

  /// Encodes an array as a whole, and then elements of it, each by a container of its own.
  private static func continueArray(
    _ whole: [some Encodable], in encoder: any Encoder, _ count: Int, _ note: (Int) -> Void
  ) throws {
    var single = encoder.singleValueContainer()
    try single.encode(whole)
    for number in 0..<count {
      var list = encoder.unkeyedContainer()
      try list.encode(number)
      note(list.count)
    }
  }

  private static let counts = [
    Calls("the count of an array after late elements", areThoseOfJSON: false) { encoder, count, note in
      var list = encoder.unkeyedContainer()
      for number in 0..<count {
        var single = list.superEncoder().singleValueContainer()
        try single.encode(number)
        note(list.count)
      }
    },
    Calls("the count of an array after elements that threw") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      for number in 0..<count {
        try? list.encode(Throwing())
        try list.encode(number)
        note(list.count)
      }
    },
    Calls("the count of an array whose inner ones are continued") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      var first = list.nestedUnkeyedContainer()
      for number in 0..<count {
        var inner = list.nestedUnkeyedContainer()
        try first.encode(number)
        try inner.encode(number)
        note(list.count)
        note(first.count)
        note(inner.count)
      }
    },
    Calls("the counts of two copies of a container") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      var copy = list
      for number in 0..<count {
        try list.encode(number)
        try copy.encode(number)
        note(list.count)
        note(copy.count)
      }
    },
  ]

  private static let superEncoders = [
    Calls("late values, each at once") { encoder, count, _ in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      for number in 0..<count {
        try container.superEncoder(forKey: key(number)).writeSingle(number)
        try list.superEncoder().writeSingle(number)
      }
      try container.superEncoder().writeSingle("super")
    },
    Calls("late values of one key", areThoseOfJSON: false) { encoder, count, _ in
      var container = encoder.container(keyedBy: Fixed.self)
      for number in 0..<count {
        try container.superEncoder(forKey: .first).writeSingle(number)
        try container.superEncoder().writeSingle([number])
      }
    },
    Calls("late values, last to first", areThoseOfJSON: false) { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      var late: [any Encoder] = []
      for number in 0..<count {
        late.append(container.superEncoder(forKey: key(number)))
        late.append(list.superEncoder())
      }
      for (number, encoder) in late.enumerated().reversed() {
        var inner = encoder.unkeyedContainer()
        try inner.encode(number)
        note(inner.count)
      }
      note(list.count)
    },
    Calls("late values that never come") { encoder, count, note in
      var container = encoder.container(keyedBy: AnyKey.self)
      var list = container.nestedUnkeyedContainer(forKey: "list")
      for number in 0..<count {
        _ = container.superEncoder(forKey: key(number))
        _ = list.superEncoder()
        note(list.count)
      }
    },
    Calls("late values of late values", areThoseOfJSON: false) { encoder, count, note in
      var list = encoder.unkeyedContainer()
      for _ in 0..<count / 10 {
        var encoder = list.superEncoder()
        for number in 0..<10 {
          var inner = encoder.unkeyedContainer()
          try inner.encode(number)
          encoder = inner.superEncoder()
          note(inner.count)
        }
        try encoder.writeSingle("end")
      }
    },
  ]

  private static let kept = [
    Calls("objects that are kept and written in turn, first to last and last to first") { encoder, count, _ in
      var list = encoder.unkeyedContainer()
      var containers = (0..<count).map { _ in list.nestedContainer(keyedBy: AnyKey.self) }
      var fixed = (0..<count).map { _ in list.nestedContainer(keyedBy: Fixed.self) }
      for (round, indices) in [Array(0..<count), (0..<count).reversed(), Array(0..<count)].enumerated() {
        for index in indices {
          try containers[index].encode(index, forKey: key(round))
          try fixed[index].encode(index, forKey: Fixed.allCases[2 - round])
        }
      }
    },
    Calls("arrays that are kept and written in turn, first to last and last to first") {
      encoder, count, note in
      var list = encoder.unkeyedContainer()
      var containers = (0..<count).map { _ in list.nestedUnkeyedContainer() }
      for indices in [Array(0..<count), (0..<count).reversed(), Array(0..<count)] {
        for index in indices {
          try containers[index].encode(index)
          note(containers[index].count)
        }
      }
    },
    Calls("containers within each other, written outside in and inside out") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      var nest = [list]
      for _ in 0..<20 {
        list = list.nestedUnkeyedContainer()
        nest.append(list)
      }
      for number in 0..<count / 10 {
        for level in Array(nest.indices) + nest.indices.reversed() {
          try nest[level].encode(number)
          note(nest[level].count)
        }
      }
    },
    Calls("an inner container and an outer one in turn") { encoder, count, note in
      var outer = encoder.container(keyedBy: AnyKey.self)
      var middle = outer.nestedContainer(keyedBy: Fixed.self, forKey: "middle")
      var inner = middle.nestedUnkeyedContainer(forKey: .first)
      for number in 0..<count {
        try outer.encode(number, forKey: key(number))
        try inner.encode(number)
        try middle.encode(number, forKey: .second)
        note(inner.count)
      }
    },
  ]

  private static let failures = [
    Calls("values that throw", areThoseOfJSON: false) { encoder, count, _ in
      var container = encoder.container(keyedBy: AnyKey.self)
      var fixed = container.nestedContainer(keyedBy: Fixed.self, forKey: "fixed")
      for number in 0..<count {
        try? container.encode(Throwing(), forKey: key(number))
        try container.encode(number, forKey: key(number))
        try? fixed.encode(Throwing(), forKey: .first)
        try? fixed.encode([Throwing()], forKey: .second)
      }
    },
    Calls("single values that throw, before one that does not", areThoseOfJSON: false) { encoder, count, _ in
      var single = encoder.singleValueContainer()
      for _ in 0..<count { try? single.encode(Throwing()) }
      try single.encode("value")
    },
    Calls("values that throw, which wrote to others before") { encoder, count, note in
      var list = encoder.unkeyedContainer()
      var other = list.nestedUnkeyedContainer()
      for number in 0..<count {
        try? list.encode(
          Writes { encoder in
            var fixed = encoder.container(keyedBy: Fixed.self)
            try fixed.encode(number, forKey: Fixed.allCases[number % 4])
            try other.encode(number)
            throw Refusal()
          })
        note(list.count)
        note(other.count)
      }
    },
  ]
}

/// Encoding takes time in proportion to the calls, whatever calls they are.
@Suite("Growth of encoding")
struct EncodingGrowthTests {
  @Test("encoding time is linear in the number of calls", .enabled(if: !isSanitized), arguments: Calls.all)
  private func time(calls: Calls) throws {
    try expectLinear(small: 125) { count in
      _ = try StowEncoder().encode(calls.value(count) { _ in })
    }
  }

  @Test("encoding reports and writes the same as JSON", arguments: Calls.all.filter(\.areThoseOfJSON))
  private func meaning(calls: Calls) throws {
    for count in [1, 2, 3, 10, 40] {
      var (notes, jsonNotes): ([Int], [Int]) = ([], [])
      let data = try StowEncoder().encode(calls.value(count) { notes.append($0) })
      let json = try JSONEncoder().encode(calls.value(count) { jsonNotes.append($0) })
      let value = try StowDecoder().decode(JSONValue.self, from: data)
      #expect(try value == JSONDecoder().decode(JSONValue.self, from: json))
      #expect(notes == jsonNotes)
    }
  }

  #if os(Linux)
    @Test(
      "encoding keeps little memory for the next message, even if very many strings recur",
      .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
      .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
    func memory() async {
      await #expect(processExitsWith: .success) {
        func encode(_ count: Int) throws {
          let strings = (0..<count).map { "string \($0)" }
          for _ in 0..<2 { _ = try StowEncoder().encode(strings + strings) }
        }
        try encode(2)
        let before = try ResidentMemory.settled()
        try encode(300_000)
        try encode(2)
        // What is known of each string would take some 60 bytes.
        guard try ResidentMemory.settled() - before < 10 << 20 else { exit(EXIT_FAILURE) }
      }
    }
  #endif
}
