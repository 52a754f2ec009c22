import Foundation
import Stow
import Testing

/// A class of variables, with one for each way in which fields are encoded.
private final class Node<Table: Sendable>: Codable, @unchecked Sendable {
  var name: String
  var odd: FieldOdd
  var gender: FieldGender?
  var count: Int?
  var address: FieldAddress<Table>
  var former: FieldAddress<Table>?
  var cells: [FieldCell<Table>]
  var notes: [FieldNote<Table>]?
  var object: FieldObject<Table>
  var children: [Node]
  var others: [Node?]
  var byName: [String: Node]
  var numbers: [Int16]
  var words: [String]?
  var at: Date
  var next: Node?

  init(
    _ name: String, _ odd: FieldOdd, _ gender: FieldGender?, _ count: Int?, _ address: FieldAddress<Table>,
    _ former: FieldAddress<Table>?, _ cells: [FieldCell<Table>], _ notes: [FieldNote<Table>]?,
    _ object: FieldObject<Table>, _ children: [Node], _ others: [Node?], _ byName: [String: Node],
    _ numbers: [Int16], _ words: [String]?, _ at: Date, _ next: Node?
  ) {
    (self.name, self.odd, self.gender, self.count, self.address) = (name, odd, gender, count, address)
    (self.former, self.cells, self.notes, self.object, self.children) = (former, cells, notes, object, children)
    (self.others, self.byName, self.numbers, self.words) = (others, byName, numbers, words)
    (self.at, self.next) = (at, next)
  }

  static func random(_ random: inout SeededGenerator, depth: Int = 3, odd: [FieldOdd]) -> Node {
    func node() -> Node { .random(&random, depth: depth - 1, odd: odd) }
    func nodes(_ count: Int) -> [Node] { depth == 0 ? [] : (0..<random.below(count)).map { _ in node() } }
    return Node(
      .random(&random), odd[random.below(odd.count)], random.below(2) == 0 ? nil : .male, .random(&random),
      .random(&random), random.below(2) == 0 ? nil : .random(&random), FieldCell.list(&random),
      random.below(2) == 0 ? nil : random.list(3) { .random(&$0) }, .random(&random), nodes(3),
      nodes(2) + [nil], Dictionary(uniqueKeysWithValues: nodes(2).map { ("key", $0) }), [1, 2], .random(&random),
      Date(timeIntervalSince1970: Double(random.below(99))), depth == 0 || random.below(2) == 0 ? nil : node())
  }
}

extension Node: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Node> {
    FieldTable(
      Node.init, Field("name", \.name), Field("odd", \.odd), Field("gender", \.gender), Field("count", \.count),
      Field("address", \.address), Field("former", \.former), Field("cells", \.cells), Field("notes", \.notes),
      Field("object", \.object), Field("children", \.children), Field("others", \.others), Field("byName", \.byName),
      Field("numbers", \.numbers), Field("words", \.words), Field("at", \.at), Field("next", \.next))
  }
}

// MARK: how properties are stored

private struct Numbered: Codable, Equatable {
  var a: Int
  var b: String
}

private enum Keys: CodingKey { case a, b }

/// A class with two fields, which notes each call of its `encode(to:)`.
private protocol Sample: AnyObject, StowFields {
  var a: Int { get }
  var b: String { get }
  init(_ a: Int, _ b: String)
}

private final class Calls: @unchecked Sendable {
  @TaskLocal static var current: Calls?
  var count = 0
}

extension Sample {
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    self.init(try container.decode(Int.self, forKey: .a), try container.decode(String.self, forKey: .b))
  }

  func encode(to encoder: any Encoder) throws {
    Calls.current?.count += 1
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(a, forKey: .a)
    try container.encode(b, forKey: .b)
  }
}

private final class Variables: Sample {
  weak var parent: Variables?
  var a: Int
  lazy var cache = [a]
  var b: String
  init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) }
  static let stowFields = FieldTable(Variables.init, Field("a", \.a), Field("b", \.b))
}

private final class Constants: Sample {
  let a: Int, b: String
  init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) }
  static let stowFields = FieldTable(Constants.init, Field("a", \.a), Field("b", \.b))
}

private final class Mixed: Sample {
  let a: Int
  var b: String
  init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) }
  static let stowFields = FieldTable(Mixed.init, Field("a", \.a), Field("b", \.b))
}

private final class Observed: Sample {
  var changes = 0
  var a: Int { didSet { changes += 1 } }
  var b: String
  init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) }
  static let stowFields = FieldTable(Observed.init, Field("a", \.a), Field("b", \.b))
}

private final class Computed: Sample {
  var half: Int
  var a: Int {
    get { half * 2 }
    set { half = newValue / 2 }
  }
  var b: String
  init(_ a: Int, _ b: String) { (half, self.b) = (a / 2, b) }
  static let stowFields = FieldTable(Computed.init, Field("a", \.a), Field("b", \.b))
}

private final class Lazy: Sample {
  lazy var a = 0
  var b: String
  init(_ a: Int, _ b: String) {
    self.b = b
    self.a = a
  }
  static let stowFields = FieldTable(Lazy.init, Field("a", \.a), Field("b", \.b))
}

private class Base {
  var a: Int
  init(a: Int) { self.a = a }
}

/// Inherits a property that a subclass could have overridden.
private final class Inheriting: Base, Sample {
  var b: String
  init(_ a: Int, _ b: String) {
    self.b = b
    super.init(a: a)
  }
  static let stowFields = FieldTable(Inheriting.init, Field("a", \.a), Field("b", \.b))
}

private class FinalBase {
  let mark: UInt8 = 7
  final var a: Int
  init(a: Int) { self.a = a }
}

private final class InheritingFinal: FinalBase, Sample {
  let other: UInt8 = 8
  var b: String
  init(_ a: Int, _ b: String) {
    self.b = b
    super.init(a: a)
  }
  static let stowFields = FieldTable(InheritingFinal.init, Field("a", \.a), Field("b", \.b))
}

/// Has a field that is a part of a property, which may be nil.
private final class Part: Sample {
  struct Name {
    var text: String
  }
  var a: Int
  var name: Name!
  var title = "title"
  var b: String { name?.text ?? "none" }
  init(_ a: Int, _ b: String) { (self.a, name) = (a, Name(text: b)) }
  static let stowFields = FieldTable(Part.init, Field("a", \.a), Field("b", \.name!.text))
}

/// Always has the same object for the same fields.
private final class Interned: Sample {
  nonisolated(unsafe) static var known: [Int: Interned] = [:]
  var changes = 0
  var a: Int { didSet { changes += 1 } }
  var b: String { didSet { changes += 1 } }
  init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) }
  static let stowFields = FieldTable(
    { known[$0] ?? Interned($0, $1) }, Field("a", \Interned.a), Field("b", \Interned.b))
}

// MARK: code that runs meanwhile

/// Runs code when it is encoded.
private struct Change: Codable {
  @TaskLocal static var run: @Sendable () -> Void = {}
  var number = 5

  func encode(to encoder: any Encoder) throws {
    Self.run()
    try encoder.writeSingle(number)
  }
}

/// Uses its array after it ran such code.
private struct Texts: Codable {
  var texts: [String]

  func encode(to encoder: any Encoder) throws {
    Change.run()
    try encoder.writeSingle(texts)
  }
}

/// Is remembered by its byte.
private enum Mode: UInt8, Codable, CaseIterable {
  case one = 10
  case two, three, four

  func encode(to encoder: any Encoder) throws {
    Change.run()
    try encoder.writeSingle(rawValue)
  }
}

private final class Switch: StowFields, @unchecked Sendable {
  var mode: Mode
  init(mode: Mode) { self.mode = mode }
  static let stowFields = FieldTable(Switch.init, Field("mode", \.mode))
}

private struct Item<Table: Sendable>: Codable {
  var change = Change()
  var name: String
  var notes: [FieldNote<Table>]
}

extension Item: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(change:name:notes:), Field("change", \.change), Field("name", \.name), Field("notes", \.notes))
  }
}

private final class Owner<Table: Sendable>: Codable, @unchecked Sendable {
  var change: Change
  var item: Item<Table>
  var maybe: Item<Table>?
  var items: [Item<Table>]
  var more: [Item<Table>]?
  var texts: Texts
  var next: Owner?
  var owners: [Owner]
  var byName: [String: Owner]
  var name: String

  init(
    _ change: Change, _ item: Item<Table>, _ maybe: Item<Table>?, _ items: [Item<Table>], _ more: [Item<Table>]?,
    _ texts: Texts, _ next: Owner?, _ owners: [Owner], _ byName: [String: Owner], _ name: String
  ) {
    (self.change, self.item, self.maybe, self.items, self.more) = (change, item, maybe, items, more)
    (self.texts, self.next, self.owners, self.byName, self.name) = (texts, next, owners, byName, name)
  }

  /// Everything in it is on the heap, and has no other owner.
  convenience init(depth: Int) {
    func text() -> String { String(repeating: "text \(depth) ", count: depth + 3) }
    func item() -> Item<Table> {
      Item(name: text(), notes: [FieldNote(id: 1, name: text(), flag: true, value: 2, note: text())])
    }
    func owners() -> [Owner] { depth == 0 ? [] : [Owner(depth: depth - 1), Owner(depth: depth - 1)] }
    self.init(
      Change(), item(), item(), [item(), item()], [item()], Texts(texts: [text(), text()]), owners().first,
      owners(), owners().first.map { ["key": $0] } ?? [:], text())
  }

  func clear() {
    change = Change(number: 6)
    (item, maybe, items, more) = (Item(name: "", notes: []), nil, [], nil)
    (texts, next, owners, byName, name) = (Texts(texts: []), nil, [], [:], "")
  }
}

extension Owner: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Owner> {
    FieldTable(
      Owner.init, Field("change", \.change), Field("item", \.item), Field("maybe", \.maybe), Field("items", \.items),
      Field("more", \.more), Field("texts", \.texts), Field("next", \.next),
      Field("owners", \.owners), Field("byName", \.byName), Field("name", \.name))
  }
}

@Suite("Encoding classes with tables", .noBacktraces)
struct TabledClassTests {
  private func nodes<Table>(
    _ table: Table.Type, _ seed: Int, odd: [FieldOdd] = [.short, .long, .text, .list]
  ) -> [Node<Table>] {
    var random = SeededGenerator(seed: UInt64(seed))
    return (0..<1 + seed % 3).map { _ in .random(&random, odd: odd) }
  }

  @Test("objects give the same bytes and errors as without a table") func same() throws {
    for seed in 0..<30 {
      let (tabled, plain) = (nodes(Tabled.self, seed), nodes(Untabled.self, seed))
      #expect(outcome(tabled) == outcome(plain), "\(seed)")
      #expect(outcome(tabled[0]) == outcome(plain[0]), "\(seed)")
      #expect(outcome([tabled.first, nil]) == outcome([plain.first, nil]), "\(seed)")
      #expect(outcome(["key": tabled]) == outcome(["key": plain]), "\(seed)")
      let sorting = StowEncoder()
      sorting.outputFormatting = .sortedKeys
      #expect(outcome(tabled, by: sorting) == outcome(plain, by: sorting), "\(seed), sorted")
      let encoder = StowEncoder(try StowContext(learningFrom: [plain]))
      #expect(outcome(tabled, by: encoder) == outcome(plain, by: encoder), "\(seed), in a context")
      for limit in 0...9 {
        encoder.maximumDepth = limit
        #expect(outcome(tabled, by: encoder) == outcome(plain, by: encoder), "\(seed), limit \(limit)")
      }
      #expect(
        outcome(nodes(Tabled.self, seed, odd: FieldOdd.allCases))
          == outcome(nodes(Untabled.self, seed, odd: FieldOdd.allCases)), "\(seed), throwing")
      let decodable = nodes(Untabled.self, seed, odd: [.short])
      let decoded = try StowDecoder().decode([Node<Tabled>].self, from: StowEncoder().encode(decodable))
      #expect(outcome(decoded) == outcome(decodable), "\(seed)")
    }
  }

  @Test("objects that contain themselves throw the same error as without a table") func cycles() {
    func outcomes<Table>(_ table: Table.Type, _ close: (Node<Table>) -> Void) -> [String]
    where Node<Table>: Encodable {
      let node = nodes(table, 1)[0]
      close(node)
      defer { (node.next, node.children, node.byName) = (nil, [], [:]) }
      return [0, 1, 2, 5, 60].map { limit in
        let encoder = StowEncoder()
        encoder.maximumDepth = limit
        return outcome(node, by: encoder)
      }
    }
    #expect(outcomes(Tabled.self) { $0.next = $0 } == outcomes(Untabled.self) { $0.next = $0 })
    #expect(outcomes(Tabled.self) { $0.children = [$0] } == outcomes(Untabled.self) { $0.children = [$0] })
    #expect(
      outcomes(Tabled.self) { $0.byName = ["key": $0] } == outcomes(Untabled.self) { $0.byName = ["key": $0] })
  }

  @Test("objects are encoded by their tables if they store each field as a variable, and else by themselves")
  func storage() throws {
    func callCount<Value: Sample>(_ type: Value.Type) throws -> Int {
      let values = (0..<9).map { Value($0 * 2, "text \($0)") }
      let expected = values.map { Numbered(a: $0.a, b: $0.b) }
      let calls = Calls()
      func encode() throws {
        calls.count = 0
        #expect(try StowEncoder().encode(values) == StowEncoder().encode(expected), "\(type)")
        #expect(try StowEncoder().encode(values[3]) == StowEncoder().encode(expected[3]), "\(type)")
        #expect(try StowEncoder().encode(["a": values[1]]) == StowEncoder().encode(["a": expected[1]]), "\(type)")
      }
      // The first time, more calls check the table.
      for _ in 0..<2 { try Calls.$current.withValue(calls, operation: encode) }
      let message = try StowEncoder().encode(expected)
      #expect(try StowDecoder().decode([Value].self, from: message).map { Numbered(a: $0.a, b: $0.b) } == expected)
      return calls.count
    }
    #expect(try callCount(Variables.self) == 0)
    #expect(try callCount(InheritingFinal.self) == 0)
    for type: any Sample.Type in [
      Constants.self, Mixed.self, Observed.self, Computed.self, Lazy.self, Inheriting.self, Part.self,
    ] {
      #expect(try callCount(type) == 11, "\(type)")
    }
    let part = Part(1, "one")
    part.name = nil
    #expect(try StowEncoder().encode(part) == StowEncoder().encode(Numbered(a: 1, b: "none")))
  }

  @Test("observers of an object do not run when it is encoded") func observers() throws {
    let observed = Observed(1, "one")
    #expect(try StowEncoder().encode(observed) == StowEncoder().encode(Numbered(a: 1, b: "one")))
    #expect(observed.changes == 0)
    let interned = Interned(1, "one")
    Interned.known[1] = interned
    #expect(try StowEncoder().encode(interned) == StowEncoder().encode(Numbered(a: 1, b: "one")))
    #expect(interned.changes == 0)
  }

  @Test("code that changes an object while it is encoded has the same effect as without a table") func changes() {
    func outcomes<Table>(_ table: Table.Type) -> [String] where Owner<Table>: Encodable {
      var outcomes: [String] = []
      for number in 0..<240 {
        let owner = Owner<Table>(depth: 2)
        // Other objects in it are changed, too, while they are encoded or others are.
        weak let other = [owner.next, owner.next?.next, owner.owners.first, owner.owners.last?.owners.last][number % 4]
        nonisolated(unsafe) var count = 0
        let run: @Sendable () -> Void = {
          if count == number / 2 { other?.clear() }
          if count == number / 2 + number % 7 { owner.clear() }
          count += 1
        }
        outcomes.append(Change.$run.withValue(run) { outcome([owner, owner]) })
        outcomes.append(outcome(owner))
      }
      return outcomes
    }
    let (tabled, plain) = (outcomes(Tabled.self), outcomes(Untabled.self))
    for (number, (one, other)) in zip(tabled, plain).enumerated() where one != other {
      Issue.record("\(number): \(one), \(other)")
    }
  }

  @Test("an enumeration that changes its object is remembered as what was encoded") func modes() throws {
    for mode in Mode.allCases {
      let object = Switch(mode: mode)
      let next: @Sendable () -> Void = { object.mode = Mode(rawValue: 10 + (object.mode.rawValue - 9) % 4) ?? .one }
      let bytes = try Change.$run.withValue(next) { try StowEncoder().encode([object]) }
      #expect(try StowValue(from: bytes)[0]?["mode"]?.int == Int(mode.rawValue))
    }
    for mode in Mode.allCases {
      #expect(try StowValue(from: StowEncoder().encode(Switch(mode: mode)))["mode"]?.int == Int(mode.rawValue))
    }
  }
}
