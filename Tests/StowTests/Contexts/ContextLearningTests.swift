import Foundation
import Stow
import Testing

/// What a context holds that was learnt from samples, as `StowContext.init(learningFrom:)` says.
@Suite("Learnt contexts")
struct ContextLearningTests {
  private enum Level: String, Codable { case calm, rising, high }

  private struct Reading: Codable, Equatable {
    var station: String
    var level: Double?
    var state: Level
    var note: String?
  }

  private func reading(_ station: String, _ state: Level = .calm, note: String? = nil) -> Reading {
    Reading(station: station, level: 1.5, state: state, note: note)
  }

  @Test("a learnt context has the keys of a type in order, with and without values")
  func keys() throws {
    let context = try StowContext(learningFrom: [reading("Elbe")])
    #expect(context.shapes == [["station", "level", "state", "note"]])
  }

  @Test("a learnt context has strings that occur in two samples, even names of cases")
  func strings() throws {
    let context = try StowContext(learningFrom: [
      reading("Elbe", .calm, note: "once"), reading("Elbe", .high), reading("Oder", .high),
      reading("Elbe", .calm),
    ])
    #expect(context.symbols == ["Elbe", "calm", "high"])
  }

  @Test("a learnt context has no string that repeats only within a sample, and none of one byte")
  func uncommonStrings() throws {
    let context = try StowContext(learningFrom: [
      [reading("Elbe", .high, note: "x"), reading("Elbe", .high, note: "x")], [reading("Oder", note: "x")],
    ])
    #expect(context.symbols == [])
    #expect(try StowContext(learningFrom: ["\u{E9}", "\u{E9}"]).symbols == ["\u{E9}"])
  }

  /// Asks for those keys only that it has values for.
  private struct Sparse: Encodable {
    let names: [String]

    enum Key: String, CodingKey { case first, second, third, fourth }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for name in names { try Key(rawValue: name).map { try container.encode(name, forKey: $0) } }
    }
  }

  @Test("a learnt context has one shape for a type whose objects write different keys")
  func mergedKeys() throws {
    let context = try StowContext(learningFrom: [
      Sparse(names: ["first", "fourth"]), Sparse(names: ["first", "third"]),
      Sparse(names: ["second", "third"]),
    ])
    #expect(context.shapes == [["second", "first", "third", "fourth"]])
  }

  @Test("a learnt context has the keys of dictionaries that two samples share")
  func dictionaries() throws {
    let samples: [[String: Int]] = [["common": 1], ["rare": 2], ["common": 3]]
    #expect(try StowContext(learningFrom: samples).shapes == [["common"]])
  }

  @Test("dictionaries of one sample count once, in whatever order their keys are")
  func dictionariesOfOneSample() throws {
    let sample: StowValue = [["one": 1, "two": 2], ["two": 1, "one": 2]]
    #expect(try StowContext(learningFrom: [sample]).shapes == [])
    #expect(
      try StowContext(learningFrom: [sample, ["three": 1], ["three": 2], ["three": 3], sample]).shapes == [
        ["three"], ["one", "two"],
      ])
  }

  @Test("a learnt context uses the last of several values for a key, and the keys beside it")
  func repeatedKeys() throws {
    let sample = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode("first", forKey: "name")
      try container.encode("second", forKey: "name")
      try container.encode(["inner": 1], forKey: "other")
    }
    let context = try StowContext(learningFrom: [sample, sample])
    #expect(context.shapes == [["inner"], ["name", "other"]])
    #expect(context.symbols == ["inner", "name", "other", "second"])
  }

  @Test("shapes and strings are sorted by their number of uses, and then by their bytes")
  func order() throws {
    let context = try StowContext(learningFrom: [
      Sparse(names: ["first"]), reading("Elbe"), reading("Elbe"), reading("Oder"), reading("Oder"),
      reading("Oder"),
    ])
    #expect(context.shapes == [["station", "level", "state", "note"], ["first"]])
    #expect(context.symbols == ["calm", "Oder", "Elbe"])
  }

  @Test("learning from the same samples gives the same context")
  func determinism() throws {
    func learn() throws -> StowContext {
      try StowContext(
        learningFrom: (0..<50).map { number in
          (0..<5).map { reading("station \((number * 7 + $0) % 30)", note: "note \(number % 4)") }
        })
    }
    let context = try learn()
    for _ in 0..<5 { #expect(try learn() == context) }
    // Encoding meanwhile changes nothing.
    _ = try StowEncoder(context).encode([Sparse(names: ["third"])])
    #expect(try learn().data == context.data)
  }

  @Test("the order of entries in dictionaries does not change a learnt context")
  func dictionaryOrder() throws {
    func sample(_ capacity: Int) -> [String: [String: String]] {
      var result: [String: [String: String]] = Dictionary(minimumCapacity: capacity)
      for outer in 0..<12 {
        var inner: [String: String] = Dictionary(minimumCapacity: capacity)
        for key in 0..<9 { inner["key \(key + outer)"] = "value \(key)" }
        result["outer \(outer)"] = inner
      }
      return result
    }
    let contexts = try [0, 100, 1_000, 10_000].map { capacity in
      try StowContext(learningFrom: [sample(capacity), sample(capacity)])
    }
    #expect(Set(contexts).count == 1)
    #expect(contexts[0].shapes.allSatisfy { $0 == $0.sorted() } && contexts[0].shapes.count == 13)
    let message = try StowEncoder(contexts[0], sorted: true).encode(sample(10))
    #expect(try StowDecoder(contexts).decode([String: [String: String]].self, from: message) == sample(0))
    #expect(message.count < 300)
  }

  private enum Figure: Codable {
    case circle(radius: Double)
    case square(side: Double)
    case line(length: Double)
  }

  @Test("the order of a dictionary's entries does not change the keys of its values")
  func keysInDictionaries() throws {
    func samples(_ capacity: Int) -> [any Encodable] {
      var byName: [String: [Figure]] = Dictionary(minimumCapacity: capacity)
      var byNumber: [Int: [Reading]] = Dictionary(minimumCapacity: capacity)
      for number in 0..<3 {
        byName["name \(number)"] = [.line(length: 0), .circle(radius: 1), .square(side: 2)].suffix(number + 1)
        byNumber[number] = [reading("Elbe")]
      }
      return [byName, byNumber]
    }
    let contexts = try [0, 100, 1_000, 10_000, 100_000].map { try StowContext(learningFrom: samples($0)) }
    #expect(Set(contexts).count == 1)
    #expect(contexts[0].shapes.contains(["square", "circle", "line"]))
    #expect(contexts[0].shapes.contains(["station", "level", "state", "note"]))
  }

  @Test("a learnt context has a type's keys in order, even if values of a dictionary lack some")
  func missingKeys() throws {
    func sample(_ capacity: Int) -> [String: [Level: Reading]] {
      var byName: [String: [Level: Reading]] = Dictionary(minimumCapacity: capacity)
      var byState: [Level: Reading] = Dictionary(minimumCapacity: capacity)
      byState[.calm] = Reading(station: "Elbe", level: nil, state: .calm)
      byState[.high] = reading("Elbe")
      byState[.rising] = Reading(station: "Elbe", level: nil, state: .calm, note: "n")
      for name in ["a", "b", "c"] { byName[name] = byState }
      return byName
    }
    for capacity in [0, 100, 1_000, 10_000, 100_000] {
      let context = try StowContext(learningFrom: [sample(capacity)])
      #expect(context.shapes == [["station", "level", "state", "note"]])
    }
  }

  /// Asks for some keys, with nil for all except one.
  private struct Asking: Encodable {
    enum CodingKeys: CodingKey { case a, b, c }
    let keys: [CodingKeys]
    let present: CodingKeys

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      for key in keys { try container.encodeIfPresent(key == present ? 1 : nil, forKey: key) }
    }
  }

  @Test("a learnt context has an object's keys in order, whatever an earlier sample had")
  func laterSample() throws {
    let samples = [
      ["x": [Asking(keys: [.a], present: .a), Asking(keys: [.a, .b], present: .b)]],
      ["x": [Asking(keys: [.a, .c], present: .c)]],
    ]
    #expect(try StowContext(learningFrom: samples).shapes == [["a", "c", "b"], ["x"]])
  }

  @Test("a context learnt from no samples is empty, and messages can rely on it")
  func empty() throws {
    let context = try StowContext(learningFrom: [])
    #expect(context.symbols.isEmpty && context.shapes.isEmpty)
    #expect(context.data == Data([0x1F, 0, 0, 0]))
    try expectRoundTrip([reading("Elbe"), reading("Elbe")], in: context)
  }

  @Test("a learnt context has both spellings of a key or string")
  func spellings() throws {
    let samples = [("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}")].map { spelling, other in
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(spelling, forKey: AnyKey(spelling))
        try container.encode(1, forKey: AnyKey(other))
      }
    }
    let context = try StowContext(learningFrom: samples + samples)
    #expect(try StowContext(from: context.data) == context)
    #expect(context.symbols.count == 2 && context.shapes.map(\.count) == [2])
    try expectRoundTrip(["cafe\u{301}": "caf\u{E9}"], in: context)
  }

  @Test("learning from a value that cannot be encoded throws")
  func failures() {
    #expect(throws: Refusal.self) { try StowContext(learningFrom: [1, Writes { _ in throw Refusal() }]) }
    #expect(throws: EncodingError.self) { try StowContext(learningFrom: [Writes { _ in }]) }
  }

  @Test("writing later to a kept container does not change a learnt context")
  func kept() throws {
    var kept: KeyedEncodingContainer<AnyKey>?
    let first = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "first")
      kept = container
    }
    let second = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in 0..<20 {
        try kept?.encode("late", forKey: AnyKey("late \(number)"))
        try container.encode(number, forKey: AnyKey("second \(number)"))
      }
    }
    let context = try StowContext(learningFrom: [first, second, first, second])
    #expect(context.shapes == [["first"], (0..<20).map { "second \($0)" }.sorted()])
    #expect(!context.symbols.contains { $0.hasPrefix("late") })
  }

  @Test("a sample that needs a graph is learnt again, without keys from the first attempt")
  func keptOfGraph() throws {
    var kept: KeyedEncodingContainer<AnyKey>?
    let sample = Writes { encoder in
      try kept?.encode(1, forKey: "late")
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(Shared(wrappedValue: Person("Ada")), forKey: "owner")
      kept = container
    }
    let context = try StowContext(learningFrom: [sample, sample])
    #expect(context.shapes.contains(["owner"]))
    #expect(!context.shapes.joined().contains("late"))
  }

  @Test("learning discards what is written to a container that a failed sample kept")
  func keptByFailure() throws {
    var kept: KeyedEncodingContainer<NameKey>?
    var list: (any UnkeyedEncodingContainer)?
    #expect(throws: Refusal.self) {
      try StowContext(learningFrom: [
        Writes { encoder in
          var container = encoder.container(keyedBy: NameKey.self)
          try container.encode(1, forKey: .first)
          list = container.nestedUnkeyedContainer(forKey: .second)
          kept = container
          throw Refusal()
        }
      ])
    }
    var container = try #require(kept)
    for key in [NameKey.first, .second] {
      try container.encode([1: 2], forKey: key)
      var nested = container.nestedUnkeyedContainer(forKey: key)
      try nested.encode(["late"])
      try list?.encode(2)
    }
    #expect(container.codingPath.isEmpty)
  }

  private enum NameKey: String, CodingKey { case first, second }

  private protocol Shape: Codable {}
  private struct Circle: Shape, Equatable { var radius: Double }
  private struct Drawing: Codable {
    @Polymorphic var shape: any Shape
    var title: String
  }

  @Test("a learnt context has the keys of types that its encoder has registered")
  func registeredTypes() throws {
    var types = TypeRegistry()
    types.register(Circle.self, as: "circle")
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    (encoder.types, decoder.types) = (types, types)
    let sample = Drawing(shape: Circle(radius: 1), title: "one")
    #expect(throws: EncodingError.self) { try StowContext(learningFrom: [sample]) }
    let context = try StowContext(learningFrom: [sample], encoder: encoder)
    #expect(context.shapes.contains(["radius"]) && context.shapes.contains(["shape", "title"]))
    let size = try encoder.encode(sample).count
    encoder.context = context
    decoder.contexts = [context]
    let data = try encoder.encode(sample)
    #expect(data.count < size)
    #expect(try decoder.decode(Drawing.self, from: data).shape as? Circle == Circle(radius: 1))
  }

  private final class Person: Codable {
    let fullName: String

    init(_ fullName: String) { self.fullName = fullName }
  }

  private struct Project: Codable {
    @Shared var owner: Person
    var title: String
  }

  @Test("a learnt context has the keys of shared objects, and those of their graph")
  func sharedObjects() throws {
    let sample = Project(owner: Person("Ada"), title: "one")
    let context = try StowContext(learningFrom: [sample])
    #expect(try context == StowContext(learningFrom: [SharedGraph(sample)]))
    for shape in [["owner", "title"], ["fullName"], ["root", "objects"]] {
      #expect(context.shapes.contains { $0.starts(with: shape) }, "\(context.shapes)")
    }
  }

  @Test("learning accepts samples as deep as their encoder allows")
  func depth() throws {
    var nested: [StowValue] = []
    for _ in 0..<600 { nested = [.array(nested)] }
    let encoder = StowEncoder()
    #expect(throws: EncodingError.self) { try StowContext(learningFrom: [nested]) }
    encoder.maximumDepth = 700
    #expect(try StowContext(learningFrom: [nested], encoder: encoder).shapes.isEmpty)
  }
}
