import Foundation
import Stow
import Testing

/// Keeps its container, to be read from when asked.
private final class Lazy: Decodable {
  let container: KeyedDecodingContainer<AnyKey>

  init(from decoder: any Decoder) throws {
    container = try decoder.container(keyedBy: AnyKey.self)
  }
}

private final class LazyList: Decodable {
  var container: any UnkeyedDecodingContainer

  init(from decoder: any Decoder) throws {
    container = try decoder.unkeyedContainer()
  }
}

@Suite("Containers kept beyond init(from:)")
struct KeptDecodingTests {
  private struct Record: Codable, Equatable {
    var name: String
    var values: [Double]
    var nested: [String: [Int]]
  }

  private static let records = (0..<10).map { i in
    Record(name: "repeated name", values: [Double(i) / 2, 0.1], nested: ["k": [i], "l": []])
  }

  private static func expectRecord(_ record: Record, in container: KeyedDecodingContainer<AnyKey>) throws {
    #expect(try container.decode(String.self, forKey: "name") == record.name)
    #expect(try container.decode([Double].self, forKey: "values") == record.values)
    let nested = try container.nestedContainer(keyedBy: AnyKey.self, forKey: "nested")
    #expect(try nested.decode([Int].self, forKey: "k") == record.nested["k"])
    #expect(failure { try container.decode(Int.self, forKey: "missing") }?.kind == .keyNotFound)
  }

  @Test("a keyed container can be read after decode returned")
  func keyed() throws {
    let lazy = try transcode(Self.records, to: [Lazy].self)
    for (record, lazy) in zip(Self.records, lazy).reversed() { try Self.expectRecord(record, in: lazy.container) }
  }

  @Test("an unkeyed container can be read after decode returned")
  func unkeyed() throws {
    let lazy = try transcode(["list": [1, 2, 3]], to: [String: LazyList].self)
    let list = try #require(lazy["list"])
    #expect(list.container.count == 3)
    #expect(try (0..<3).map { _ in try list.container.decode(Int.self) } == [1, 2, 3])
    #expect(list.container.isAtEnd)
  }

  @Test("containers can be read after the decoder read other messages")
  func afterOthers() throws {
    let decoder = StowDecoder()
    let lazy = try decoder.decode([Lazy].self, from: StowEncoder().encode(Self.records))
    for i in 0..<20 {
      let other = [["other \(i)": "text text"], ["other \(i)": "text text"]]
      #expect(try decoder.decode([[String: String]].self, from: StowEncoder().encode(other)) == other)
    }
    for (record, lazy) in zip(Self.records, lazy) { try Self.expectRecord(record, in: lazy.container) }
  }

  @Test("containers can be read after their buffer is gone")
  func afterTheBuffer() throws {
    var bytes = [UInt8](try StowEncoder().encode(Self.records))
    let lazy = try bytes.withUnsafeBufferPointer { buffer in
      try StowDecoder().decode([Lazy].self, from: buffer)
    }
    for i in bytes.indices { bytes[i] = 0xFF }
    for (record, lazy) in zip(Self.records, lazy) { try Self.expectRecord(record, in: lazy.container) }
  }
}

@Suite("Decoders kept beyond init(from:)")
struct KeptDecoderTests {
  private final class Lazy: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
    }
  }

  @Test("decoders, super decoders and single-value containers can be read after decode returned")
  func kept() throws {
    let lazy = try transcode([["a": [1]], ["a": [2]]], to: [Lazy].self)
    #expect(try lazy[1].decoder.readSingle([String: [Int]].self) == ["a": [2]])
    let container = try lazy[0].decoder.container(keyedBy: AnyKey.self)
    #expect(try container.superDecoder(forKey: "a").readSingle([Int].self) == [1])
    let single = try lazy[0].decoder.singleValueContainer()
    #expect(try single.decode([String: [Int]].self) == ["a": [1]])
    #expect(steps(lazy[1].decoder.codingPath) == [1])
  }

  @Test("kept decoders and keyed containers keep their paths, in values of every form")
  func paths() throws {
    struct Point: Codable {
      var x: Double
      var y: Double?
    }
    /// Keeps the decoder and the container of a record.
    final class Kept: Decodable {
      let decoder: any Decoder
      let container: KeyedDecodingContainer<AnyKey>

      init(from decoder: any Decoder) throws {
        self.decoder = decoder
        container = try decoder.container(keyedBy: AnyKey.self)
      }
    }
    func expectPaths(_ value: some Encodable) throws {
      let kept = try transcode(["list": value], to: [String: [Kept]].self)
      for (index, kept) in (kept["list"] ?? []).enumerated() {
        #expect(steps(kept.decoder.codingPath) == ["list", Step(integerLiteral: index)])
        #expect(steps(kept.container.codingPath) == ["list", Step(integerLiteral: index)])
        let missing = failure { try kept.container.decode(Int.self, forKey: "missing") }
        #expect(missing?.path == ["list", Step(integerLiteral: index)])
      }
    }
    try expectPaths((0..<50).map { Point(x: Double($0) + 0.5, y: 1.25) })
    try expectPaths((0..<50).map { Point(x: Double($0), y: $0 % 3 == 0 ? nil : 1) })
    try expectPaths((0..<5).map { ["a \($0)": $0] })
    try expectPaths([[String: Int]](repeating: [:], count: 3))
    let rows = try transcode((0..<50).map { [Double($0), 0.5, 1] }, to: [Lazy].self)
    #expect(rows.indices.allSatisfy { steps(rows[$0].decoder.codingPath) == [Step(integerLiteral: $0)] })
  }

  @Test("a container outlives the decoder or the container it came from")
  func outliving() throws {
    func containers() throws -> [KeyedDecodingContainer<AnyKey>] {
      let lazy = try transcode([["a": [["b": 1]]], ["a": [["b": 2]]]], to: [Lazy].self)
      return try lazy.map { lazy in
        let container = try lazy.decoder.container(keyedBy: AnyKey.self)
        var list = try container.nestedUnkeyedContainer(forKey: "a")
        return try list.nestedContainer(keyedBy: AnyKey.self)
      }
    }
    let kept = try (0..<50).map { _ in try containers() }
    for containers in kept {
      #expect(try containers.map { try $0.decode(Int.self, forKey: "b") } == [1, 2])
    }
  }

  @Test("a container can be read even if the decoding of the value that kept it failed")
  func afterFailure() throws {
    let record: JSONValue = ["name": "n", "values": [1, 2]]
    final class Shelf: @unchecked Sendable {
      var container: KeyedDecodingContainer<AnyKey>?
    }
    let shelf = Shelf()
    #expect(throws: Refusal.self) {
      try read(record) { decoder in
        shelf.container = try decoder.container(keyedBy: AnyKey.self)
        throw Refusal()
      }
    }
    let container = try #require(shelf.container)
    #expect(try container.decode(String.self, forKey: "name") == "n")
    #expect(try container.decode([Int].self, forKey: "values") == [1, 2])
  }
}

@Suite("The paths of kept containers")
struct KeptPathTests {
  private struct Record: Codable {
    var words: [String]
    var inner: [String: [String]]
  }

  private static let records = (0..<4).map { Record(words: ["word \($0)", "w"], inner: ["k": ["x"]]) }

  /// Whatever can be kept of a record.
  private final class Shelf: Decodable {
    let decoder: any Decoder
    let container: KeyedDecodingContainer<AnyKey>
    let inner: KeyedDecodingContainer<AnyKey>
    var words: any UnkeyedDecodingContainer

    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      container = try decoder.container(keyedBy: AnyKey.self)
      inner = try container.nestedContainer(keyedBy: AnyKey.self, forKey: "inner")
      words = try container.nestedUnkeyedContainer(forKey: "words")
    }

    /// Expects the paths of what was kept, and of errors, to begin with `path`.
    func expectPaths(_ path: [Step]) throws {
      #expect(steps(decoder.codingPath) == path)
      #expect(steps(container.codingPath) == path)
      #expect(steps(inner.codingPath) == path + ["inner"])
      #expect(steps(words.codingPath) == path + ["words"])
      #expect(steps(try container.superDecoder(forKey: "inner").codingPath) == path + ["inner"])
      #expect(steps(try container.superDecoder().codingPath) == path + ["super"])
      let list = try container.nestedUnkeyedContainer(forKey: "words")
      #expect(steps(list.codingPath) == path + ["words"])
      func expect(_ inside: [Step], _ body: () throws -> Any) {
        #expect(failure(of: body)?.path == path + inside)
      }
      expect(["words", 0]) { try container.decode([Int].self, forKey: "words") }
      expect(["inner"]) { try container.decode(Int.self, forKey: "inner") }
      expect(["inner", "k", 0]) { try container.decode([String: [Int]].self, forKey: "inner") }
      expect(["inner", "k", 0]) { try inner.decode([Int].self, forKey: "k") }
      expect(["inner", "k", 0]) { try inner.decode(Set<Int>.self, forKey: "k") }
      expect([]) { try decoder.readSingle(Int.self) }
      expect(["words"]) { try decoder.readSingle([String: Int].self) }
      expect(["words", 0]) { try decoder.readSingle([String: [Int]].self) }
      expect(["words", 0]) { try words.decode(Int.self) }
      expect(["words", 0]) { try words.decode([Int].self) }
      expect(["words", 0]) { try words.nestedUnkeyedContainer() }
      var rest = words
      _ = try rest.superDecoder()
      #expect(steps(try rest.superDecoder().codingPath) == path + ["words", 1])
      expect(["words", 2]) { try rest.decode(Int.self) }
      expect(["words", 2]) { try rest.decodeNil() }
    }
  }

  @Test("kept containers have their paths after decode returned")
  func afterTheCall() throws {
    let shelves = try transcode(["list": Self.records], to: [String: [Shelf]].self)["list"] ?? []
    #expect(shelves.count == 4)
    for _ in 0..<2 {
      for (index, shelf) in shelves.enumerated() { try shelf.expectPaths(["list", Step(integerLiteral: index)]) }
    }
  }

  @Test("kept containers have their paths when one array gave thousands of containers")
  func ofOneArray() throws {
    struct Taken: Decodable {
      init(from decoder: any Decoder) throws {
        let whole = try decoder.container(keyedBy: AnyKey.self)
        let inner = try whole.nestedContainer(keyedBy: AnyKey.self, forKey: "inner")
        var list = try inner.nestedUnkeyedContainer(forKey: "list")
        var taken: [KeyedDecodingContainer<AnyKey>] = []
        while !list.isAtEnd { taken.append(try list.nestedContainer(keyedBy: AnyKey.self)) }
        #expect(taken.count == 3000)
        for index in stride(from: 0, to: 3000, by: 333) {
          let path: [Step] = ["inner", "list", Step(integerLiteral: index)]
          #expect(steps(taken[index].codingPath) == path)
          #expect(failure { try taken[index].decode(String.self, forKey: "a") }?.path == path + ["a"])
        }
        #expect(steps(inner.codingPath) == ["inner"])
      }
    }
    // A table, and records.
    _ = try transcode(["inner": ["list": (0..<3000).map { ["a": $0] }]], to: Taken.self)
    _ = try transcode(["inner": ["list": (0..<3000).map { ["a": [$0]] }]], to: Taken.self)
  }

  @Test("kept containers have their paths while deeper and shallower values are decoded")
  func meanwhile() throws {
    final class Shelves: @unchecked Sendable {
      var kept: [Shelf] = []
    }
    struct Deep: Decodable {
      init(from decoder: any Decoder) throws {
        let key = try #require(CodingUserInfoKey(rawValue: "shelves"))
        let shelves = try #require(decoder.userInfo[key] as? Shelves)
        let container = try decoder.container(keyedBy: AnyKey.self)
        if container.contains("deeper") {
          _ = try container.decode(Deep.self, forKey: "deeper")
        } else {
          shelves.kept.append(try container.decode(Shelf.self, forKey: "shelf"))
        }
        for (index, shelf) in shelves.kept.enumerated() {
          let deeper: [Step] = Array(repeating: "deeper", count: index)
          try shelf.expectPaths([Step(integerLiteral: index)] + deeper + ["shelf"])
        }
        #expect(failure { try container.decode(Int.self, forKey: "none") }?.path == steps(decoder.codingPath))
      }
    }
    indirect enum Tree: Encodable {
      case shelf(Record)
      case deeper(Tree)

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        switch self {
        case .shelf(let record): try container.encode(record, forKey: "shelf")
        case .deeper(let tree): try container.encode(tree, forKey: "deeper")
        }
      }
    }
    let trees = Self.records.enumerated().map { index, record in
      (0..<index).reduce(Tree.shelf(record)) { tree, _ in .deeper(tree) }
    }
    let decoder = StowDecoder()
    decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "shelves"))] = Shelves()
    _ = try decoder.decode([Deep].self, from: StowEncoder().encode(trees))
  }
}

@Suite("Containers taken from kept ones")
struct ContainersOfKeptOnesTests {
  private static func kept() throws -> KeyedDecodingContainer<AnyKey> {
    let data = try StowEncoder().encode(["inner": ["name": ["first": "Ada", "last": "Lovelace"]]])
    return try StowDecoder().decode(Lazy.self, from: data).container
  }

  /// Runs messages through the sessions that are free, so that one that was let go would show.
  private static func disturb() throws {
    for i in 0..<50 {
      let other = ["other \(i)": [i: "text \(i)"]]
      #expect(try transcode(other, to: [String: [Int: String]].self) == other)
    }
  }

  @Test("a nested container outlives the container it was taken from")
  func nested() throws {
    let inner = try Self.kept().nestedContainer(keyedBy: AnyKey.self, forKey: "inner")
    try Self.disturb()
    #expect(try inner.decode([String: String].self, forKey: "name")["first"] == "Ada")
    let name = try inner.nestedContainer(keyedBy: AnyKey.self, forKey: "name")
    try Self.disturb()
    #expect(try name.decode(String.self, forKey: "last") == "Lovelace")
  }

  @Test("a container of a super decoder outlives the container it was taken from")
  func ofSuperDecoder() throws {
    let inner = try Self.kept().superDecoder(forKey: "inner").container(keyedBy: AnyKey.self)
    try Self.disturb()
    #expect(try inner.decode([String: String].self, forKey: "name")["last"] == "Lovelace")
  }

  @Test("many kept containers can be released in any order")
  func many() throws {
    var containers = try (0..<20).map { _ in try Self.kept() }
    try Self.disturb()
    while !containers.isEmpty {
      let container = containers.remove(at: containers.count / 2)
      let inner = try container.nestedContainer(keyedBy: AnyKey.self, forKey: "inner")
      #expect(inner.allKeys.map(\.stringValue) == ["name"])
    }
  }

  /// What is kept by a session, and tells when that is gone.
  private final class Witness: Sendable {}

  private struct Trace {
    weak var witness: Witness?
  }

  /// What the decoder keeps that `body` uses.
  private static func trace(_ body: (StowDecoder) throws -> Void) throws -> Trace {
    let key = try #require(CodingUserInfoKey(rawValue: "witness"))
    let (decoder, witness) = (StowDecoder(), Witness())
    decoder.userInfo[key] = witness
    try body(decoder)
    return Trace(witness: witness)
  }

  private struct Point: Codable {
    var x: Int
    var inner: Int
  }

  /// A table, and so rows without tags.
  private static let points = (0..<20).map { Point(x: 100 + $0, inner: 250 - 3 * $0) }

  @Test("a session is released when its last container is released", arguments: [false, true])
  func release(isRow: Bool) throws {
    let data = isRow ? try StowEncoder().encode(Self.points) : try StowEncoder().encode([["inner": 1]])
    let trace = try Self.trace { decoder throws in
      let lazy = try decoder.decode([Lazy].self, from: data)
      #expect(lazy.allSatisfy { $0.container.contains("inner") })
    }
    // Every call looks at one session that was kept; other tests may keep some, too.
    for _ in 0..<100_000 where trace.witness != nil {
      #expect(try StowDecoder().decode(Int.self, from: [0x91] as [UInt8]) == 1)
    }
    #expect(trace.witness == nil)
  }

  #if os(Linux)
    @Test(
      "released containers and decoders take no memory",
      .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
      .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
    func memory() async {
      await #expect(processExitsWith: .success) {
        let kept = try Self.kept()
        let list = try transcode([["first": "Ada"]], to: LazyList.self)
        func take() throws {
          let inner = try kept.superDecoder(forKey: "inner").container(keyedBy: AnyKey.self)
          #expect(try inner.nestedContainer(keyedBy: AnyKey.self, forKey: "name").contains("first"))
          #expect(try kept.superDecoder().singleValueContainer().decodeNil())
          var copy = list.container
          #expect(try copy.nestedContainer(keyedBy: AnyKey.self).contains("first"))
          #expect(failure { try inner.decode(Int.self, forKey: "name") }?.path == ["inner", "name"])
        }
        for _ in 0..<100 { try take() }
        let before = try #require(ResidentMemory.current)
        for _ in 0..<50_000 { try take() }
        // What each leaves would take some 500 bytes.
        guard try #require(ResidentMemory.current) - before < 8 << 20 else { exit(EXIT_FAILURE) }
      }
    }
  #endif

  #if os(Linux)
    /// Has keys of a type of its own for each type of its value.
    private struct Layer<Value: Codable>: Codable {
      var value: Value
    }

    /// Keeps its coder and a container, and codes a value whose layers have many types.
    private final class Keeper: Codable {
      private(set) var kept: [Any] = []

      init() {}

      private static func use<Value: Codable>(
        _ value: Value, _ layers: Int, _ body: (any Codable) throws -> Void
      ) rethrows {
        if layers == 0 { return try body(value) }
        try use(Layer(value: value), layers - 1, body)
      }

      init(from decoder: any Decoder) throws {
        func decode<Value: Codable>(_ value: Value) throws {
          let container = try decoder.container(keyedBy: AnyKey.self)
          _ = try container.decode(Value.self, forKey: "value")
          kept = [decoder, container]
        }
        try Self.use(1, 8) { try decode($0) }
      }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try Self.use(1, 8) { try container.encode($0, forKey: "value") }
        kept = [encoder, container]
      }
    }

    @Test(
      "a kept decoder takes at most 16 KB, whatever key types occurred, and nothing once released",
      .enabled(if: ResidentMemory.isKnown, "The system says in /proc what memory a process has."),
      .disabled(if: isSanitized, "Sanitizers keep memory of their own."))
    func memoryOfKept() async {
      await #expect(processExitsWith: .success) {
        let count = 1000
        let bytes = try StowEncoder().encode(Keeper())
        func check(most: Int, _ keep: () throws -> Keeper) throws {
          var keepers = [try keep()]
          let before = try ResidentMemory.settled()
          for _ in 0..<count { keepers.append(try keep()) }
          guard try ResidentMemory.settled() - before < count * most else { exit(EXIT_FAILURE) }
          keepers = []
          // Each call looks at one session that was kept.
          for _ in 0..<2 * count { _ = try StowDecoder().decode(Int.self, from: StowEncoder().encode(1)) }
          // Small objects that stay keep some of the pages that are free.
          guard try ResidentMemory.settled() - before < count * most / 2 else { exit(EXIT_FAILURE) }
        }
        try check(most: 16 << 10) { try StowDecoder().decode(Keeper.self, from: bytes) }
        try check(most: 48 << 10) {
          let keeper = Keeper()
          _ = try StowEncoder().encode(keeper)
          return keeper
        }
      }
    }
  #endif

  /// Keeps the decoder of a value within, and neither its own decoder nor a container.
  private struct KeepsInner: Codable {
    var kept: (any Decoder)?

    enum CodingKeys: CodingKey { case inner }

    init() {}

    init(from decoder: any Decoder) throws {
      kept = try decoder.container(keyedBy: CodingKeys.self).superDecoder(forKey: .inner)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(["a": 1], forKey: .inner)
    }
  }

  @Test("a kept decoder has its path after the containers around it are released")
  func pathWithoutContainers() throws {
    let bytes = try StowEncoder().encode(KeepsInner())
    for _ in 0..<10 {
      let values = [
        try StowDecoder().decode(KeepsInner.self, from: bytes),
        try StowDecoder().decode(KeepsInner.self, from: bytes, defaults: KeepsInner()),
        try StowMessage(from: bytes).decode(KeepsInner.self),
      ]
      for value in values {
        let kept = try #require(value.kept)
        #expect(kept.codingPath.map(\.stringValue) == ["inner"])
        let container = try kept.container(keyedBy: AnyKey.self)
        #expect(try container.decode(Int.self, forKey: "a") == 1)
      }
    }
  }

  @Test("a message whose objects are rows is released when its call ends")
  func rows() throws {
    let data = try StowEncoder().encode(Self.points)
    let trace = try Self.trace { decoder throws in
      #expect(try decoder.decode([Point].self, from: data).count == Self.points.count)
      #expect(try decoder.decode([[String: Int]].self, from: data).count == Self.points.count)
    }
    #expect(trace.witness == nil)
  }

  @Test("a container taken from a kept encoding container outlives it")
  func encoding() throws {
    final class Shelf { var container: KeyedEncodingContainer<AnyKey>? }
    let shelf = Shelf()
    let data = try StowEncoder().encode(
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: "a")
        shelf.container = container
      })
    var inner = shelf.container?.nestedContainer(keyedBy: AnyKey.self, forKey: "inner")
    shelf.container = nil
    try Self.disturb()
    try inner?.encode("late", forKey: "b")
    #expect(try StowDecoder().decode([String: Int].self, from: data) == ["a": 1])
  }
}
