import Foundation
import Stow
import Testing

/// Numbers and Bools only: long arrays of these are kept whole.
struct FieldCell<Table: Sendable>: Codable, Equatable, Sendable {
  var a: Int8
  var b: UInt64
  var c: Float
  var d: Bool
  var e: Int32?
  var f: Double?
}

extension FieldCell: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(a:b:c:d:e:f:), Field("a", \.a), Field("b", \.b), Field("c", \.c), Field("d", \.d),
      Field("e", \.e), Field("f", \.f))
  }
}

enum FieldSuit: Int8, Codable, CaseIterable, Sendable {
  case clubs = -1
  case diamonds, hearts
  case spades = 100
}

/// Gets no shape, because its key is too short.
struct FieldBlank<Table: Sendable>: Codable, Equatable, Sendable {
  var value: Int

  enum CodingKeys: String, CodingKey { case value = "" }
}

extension FieldBlank: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> { FieldTable(Self.init(value:), Field("", \.value)) }
}

/// Optionals only: without values, an empty object.
struct FieldSpan<Table: Sendable>: Codable, Equatable, Sendable {
  var start, end: Int?
}

extension FieldSpan: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(start:end:), Field("start", \.start), Field("end", \.end))
  }
}

struct FieldTrip<Table: Sendable>: Codable, Equatable, Sendable {
  var id: Int
  var span: FieldSpan<Table>
}

extension FieldTrip: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> { FieldTable(Self.init(id:span:), Field("id", \.id), Field("span", \.span)) }
}

/// Cells with enumerations, and other values inside.
struct FieldUnit<Table: Sendable>: Codable, Equatable, Sendable {
  var suit: FieldSuit
  var cell: FieldCell<Table>
  var other: FieldSuit?
  var point: FieldPoint<Table>
}

extension FieldUnit: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(suit:cell:other:point:), Field("suit", \.suit), Field("cell", \.cell),
      Field("other", \.other), Field("point", \.point))
  }
}

/// An enumeration that is not always encoded as its raw value.
enum FieldOdd: UInt8, Codable, CaseIterable, Sendable {
  case short, long, text, list, wrong

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .short: try container.encode(rawValue)
    case .long: try container.encode(Int64.max)
    case .text: try container.encode("odd")
    case .list: try container.encode([1, 2])
    case .wrong: throw Refusal()
    }
  }
}

/// One field for each way in which fields are encoded.
struct FieldMixture<Table: Sendable>: Codable, Equatable, Sendable {
  var id: UInt16
  var odd: FieldOdd
  var gender: FieldGender?
  var rank: FieldRank?
  var cell: FieldCell<Table>
  var cells: [FieldCell<Table>]
  var moreCells: [FieldCell<Table>]?
  var point: FieldPoint<Table>?
  var points: [FieldPoint<Table>]
  var units: [FieldUnit<Table>]
  var note: FieldNote<Table>
  var next: [FieldMixture<Table>]
  var words: [String]?
  var numbers: [Int16]
  var url: URL?
  var object: FieldObject<Table>
  var byName: [String: Int]
  var levels: Int??
}

extension FieldMixture: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init, Field("id", \.id), Field("odd", \.odd), Field("gender", \.gender), Field("rank", \.rank),
      Field("cell", \.cell), Field("cells", \.cells), Field("moreCells", \.moreCells),
      Field("point", \.point), Field("points", \.points), Field("units", \.units), Field("note", \.note),
      Field("next", \.next),
      Field("words", \.words), Field("numbers", \.numbers), Field("url", \.url), Field("object", \.object),
      Field("byName", \.byName), Field("levels", \.levels))
  }
}

extension FieldCell {
  /// - Parameter isSame: Whether all have values for the same keys.
  static func random(_ random: inout SeededGenerator, isSame: Bool) -> Self {
    Self(
      a: .random(&random), b: random.below(3) == 0 ? .random(&random) : UInt64(random.below(200)),
      c: random.below(40) == 0 ? .nan : Float(random.below(1000)) / 8, d: .random(&random),
      e: isSame || random.below(2) == 0 ? Int32(random.below(9)) : nil, f: isSame ? nil : .random(&random))
  }

  static func list(_ random: inout SeededGenerator) -> [Self] {
    let (count, isSame) = ([0, 1, 3, 20, 60][random.below(5)], random.below(2) == 0)
    return (0..<count).map { _ in .random(&random, isSame: isSame) }
  }
}

extension FieldUnit {
  static func list(_ random: inout SeededGenerator) -> [Self] {
    (0..<[0, 2, 18, 40][random.below(4)]).map { _ in
      Self(
        suit: FieldSuit.allCases[random.below(4)], cell: .random(&random, isSame: random.below(2) == 0),
        other: random.below(2) == 0 ? nil : FieldSuit.allCases[random.below(4)],
        point: FieldPoint(x: Double(random.below(9)), y: .random(&random), z: 0.1))
    }
  }
}

extension FieldMixture {
  /// - Parameter odd: The cases that may be there.
  static func random(_ random: inout SeededGenerator, depth: Int = 3, odd: [FieldOdd]) -> Self {
    Self(
      id: .random(&random), odd: odd[random.below(odd.count)],
      gender: random.below(3) == 0 ? nil : FieldGender.allCases[random.below(4)],
      rank: random.below(3) == 0 ? nil : FieldRank.allCases[random.below(3)],
      cell: .random(&random, isSame: false), cells: FieldCell.list(&random),
      moreCells: random.below(2) == 0 ? nil : FieldCell.list(&random),
      point: random.below(2) == 0 ? nil : .random(&random),
      points: (0..<[0, 2, 20][random.below(3)]).map { _ in .random(&random) }, units: FieldUnit.list(&random),
      note: .random(&random),
      next: depth == 0 ? [] : random.list(2) { .random(&$0, depth: depth - 1, odd: odd) },
      words: .random(&random), numbers: (0..<[0, 3, 20][random.below(3)]).map { Int16($0) },
      url: random.below(2) == 0 ? nil : URL(string: "https://example.com/\(random.below(9))"),
      object: .random(&random), byName: random.below(2) == 0 ? [:] : ["one": 1],
      levels: [nil, .some(nil), 5][random.below(3)])
  }
}

/// What types with tables of fields encode, compared with the same types without, where fields are encoded in different
/// ways, values are too deep or throw, and calls come in another order.
@Suite("Encoding types with tables", .noBacktraces)
struct TabledEncodingTests {
  private func mixtures<Table>(
    _ table: Table.Type, _ seed: Int, odd: [FieldOdd] = [.short, .long, .text, .list]
  ) -> [FieldMixture<Table>] {
    var random = SeededGenerator(seed: UInt64(seed))
    return (0..<1 + seed % 4).map { _ in .random(&random, odd: odd) }
  }

  @Test("mixed fields give the same bytes as without a table, in any order of keys and in a context")
  func bytes() throws {
    for seed in 0..<60 {
      let (tabled, plain) = (mixtures(Tabled.self, seed), mixtures(Untabled.self, seed))
      #expect(outcome(tabled) == outcome(plain), "\(seed)")
      let sorting = StowEncoder()
      sorting.outputFormatting = .sortedKeys
      #expect(outcome(tabled, by: sorting) == outcome(plain, by: sorting), "\(seed), sorted")
      let contexts = (try StowContext(learningFrom: [tabled]), try StowContext(learningFrom: [plain]))
      #expect(contexts.0.data == contexts.1.data, "\(seed), learnt")
      #expect(
        outcome(tabled, by: StowEncoder(contexts.1)) == outcome(plain, by: StowEncoder(contexts.1)),
        "\(seed), in a context")
    }
  }

  @Test("mixed fields that are too deep, or throw, give the same errors as without a table") func errors() {
    for seed in 0..<40 {
      let (tabled, plain) = (
        mixtures(Tabled.self, seed, odd: FieldOdd.allCases),
        mixtures(Untabled.self, seed, odd: FieldOdd.allCases)
      )
      #expect(outcome(tabled) == outcome(plain), "\(seed)")
      for limit in 0...9 {
        let encoder = StowEncoder()
        encoder.maximumDepth = limit
        #expect(
          outcome(mixtures(Tabled.self, seed), by: encoder)
            == outcome(mixtures(Untabled.self, seed), by: encoder),
          "\(seed), limit \(limit)")
      }
      // What threw leaves nothing behind.
      func trying(_ value: [some Encodable]) -> Writes {
        Writes {
          var list = $0.unkeyedContainer()
          for element in value { try? list.encode(element) }
        }
      }
      #expect(outcome(trying(tabled)) == outcome(trying(plain)), "\(seed), by try?")
    }
  }

  @Test("an object that is a message gives the same bytes as without a table, whatever its strings equal")
  func alone() throws {
    let texts = ["", "id", "note", "female", "é", String(repeating: "name", count: 9), "\u{0}"]
    func note<Table>(_ table: Table.Type, _ name: String, _ note: String?) -> FieldNote<Table> {
      FieldNote(id: name.count << 40, name: name, flag: note == nil, value: 0.1, note: note)
    }
    for name in texts {
      for text in texts + [nil] {
        let (tabled, plain) = (note(Tabled.self, name, text), note(Untabled.self, name, text))
        #expect(outcome(tabled) == outcome(plain), "\(name), \(text ?? "nil")")
        let encoder = StowEncoder(try StowContext(learningFrom: [plain]))
        #expect(outcome(tabled, by: encoder) == outcome(plain, by: encoder), "\(name), in a context")
        encoder.context = nil
        encoder.maximumDepth = 0
        #expect(outcome(tabled, by: encoder) == outcome(plain, by: encoder), "\(name), too deep")
      }
    }
    for number in 0..<200 {
      func card<Table>(_ table: Table.Type) -> FieldCard<Table> {
        FieldCard(
          gender: FieldGender.allCases[number % 4], name: number % 3 == 0 ? nil : texts[number % 7],
          rank: number % 5 == 0 ? nil : FieldRank.allCases[number % 2], level: number % 2 == 0 ? nil : .nan,
          size: .max &- UInt64(number) << 57, count: Int8(number / 2))
      }
      #expect(outcome(card(Tabled.self)) == outcome(card(Untabled.self)), "\(number)")
    }
    for text in ["rank", String(repeating: "é", count: 100_000), nil] {
      let (tabled, plain) = (FieldNothing<Tabled>(text: text), FieldNothing<Untabled>(text: text))
      #expect(outcome(tabled) == outcome(plain), "\(text?.count ?? 0) characters")
    }
  }

  @Test("arrays that are kept are continued, and written in another order, as without a table") func kept() {
    func cells<Table>(_ count: Int, _: Table.Type) -> [FieldCell<Table>] {
      (0..<count).map { FieldCell(a: Int8($0), b: UInt64($0) << 33, c: Float($0) / 3, d: $0 % 3 == 0, e: 7, f: nil) }
    }
    func continued<Table>(_ table: Table.Type) -> Writes where FieldCell<Table>: Encodable {
      Writes {
        var single = $0.singleValueContainer()
        try single.encode(cells(20, table))
        var list = $0.unkeyedContainer()
        try list.encode(cells(1, table))
        try list.encode("more")
      }
    }
    #expect(outcome(continued(Tabled.self)) == outcome(continued(Untabled.self)))
    func disordered<Table>(_ table: Table.Type) -> Writes where FieldCell<Table>: Encodable {
      Writes {
        var list = $0.unkeyedContainer()
        var (one, other) = (list.nestedUnkeyedContainer(), list.nestedUnkeyedContainer())
        try other.encode(cells(30, table))
        try one.encode(cells(20, table))
        try one.encode(cells(18, table))
        try other.encode(["map": cells(40, table)])
      }
    }
    #expect(outcome(disordered(Tabled.self)) == outcome(disordered(Untabled.self)))
    func units<Table>(_ table: Table.Type) -> [[FieldUnit<Table>]] {
      var random = SeededGenerator(seed: 1)
      return (0..<12).map { _ in FieldUnit.list(&random) }
    }
    for _ in 1...2 {
      #expect(outcome(units(Tabled.self)) == outcome(units(Untabled.self)))
      #expect(outcome([units(Tabled.self), []]) == outcome([units(Untabled.self), []]))
    }
    func blank<Table>(_ table: Table.Type) -> [[FieldBlank<Table>]] {
      [20, 1, 20, 20, 18].map { count in (0..<count).map { FieldBlank(value: $0) } }
    }
    #expect(outcome(blank(Tabled.self)) == outcome(blank(Untabled.self)))
    #expect(outcome(blank(Tabled.self)[0]) == outcome(blank(Untabled.self)[0]))
    for count in [2, 16, 17, 100] {
      // Among other objects with the same keys, of which some have values for more.
      func mixed<Table>(_ table: Table.Type) -> Writes where FieldCell<Table>: Encodable {
        Writes {
          var list = $0.unkeyedContainer()
          try list.encode(cells(count, table))
          try list.encode(FieldCell<Table>(a: 1, b: 2, c: 3, d: true, e: nil, f: 0.5))
          try list.encode(cells(count, table))
        }
      }
      #expect(outcome(mixed(Tabled.self)) == outcome(mixed(Untabled.self)), "\(count)")
    }
  }

  @Test("arrays that are kept have empty objects and wide constants as without a table", arguments: [2, 17, 40])
  func rareRows(count: Int) {
    func span<Table>(_ isEmpty: Bool, _ table: Table.Type) -> FieldSpan<Table> {
      isEmpty ? FieldSpan() : FieldSpan(start: 3, end: 4)
    }
    func rows<Table>(_ table: Table.Type, _ isEmpty: (Int) -> Bool) -> Writes
    where FieldSpan<Table>: Encodable, FieldTrip<Table>: Encodable, FieldCell<Table>: Encodable {
      let spans = (0..<count).map { span(isEmpty($0), table) }
      let trips = (0..<count).map { FieldTrip(id: $0 * 1000, span: span(isEmpty($0), table)) }
      let cells = (0..<count).map {
        FieldCell<Table>(a: Int8($0), b: isEmpty(0) ? .max : 1, c: isEmpty(1) ? .nan : 1, d: true, e: 7, f: 0.5)
      }
      return Writes {
        var list = $0.unkeyedContainer()
        for _ in 1...2 {
          try list.encode(spans)
          try list.encode(trips)
          try list.encode(cells)
          try list.encode([span(false, table), span(false, table)])
        }
      }
    }
    for _ in 1...2 {
      for number in 0..<6 {
        let isEmpty = [{ _ in true }, { _ in false }, { $0 == 0 }, { $0 == 1 }, { $0 > 1 }, { $0 % 3 == 1 }][number]
        #expect(outcome(rows(Tabled.self, isEmpty)) == outcome(rows(Untabled.self, isEmpty)), "\(number)")
      }
    }
  }

  @Test("a super encoder beyond the limit of depth refuses as without a table") func deepSuperEncoders() {
    func list<Table>(_ table: Table.Type) -> Writes where FieldSpan<Table>: Encodable {
      Writes {
        var list = $0.unkeyedContainer()
        try? list.encode(
          Writes {
            var object = $0.container(keyedBy: FieldPair<Table>.CodingKeys.self)
            var place = object.superEncoder(forKey: .first).singleValueContainer()
            try place.encode(FieldSpan<Table>(start: 1, end: nil))
          })
      }
    }
    let encoder = StowEncoder()
    for limit in 0...4 {
      encoder.maximumDepth = limit
      #expect(outcome(list(Tabled.self), by: encoder) == outcome(list(Untabled.self), by: encoder), "\(limit)")
    }
  }

  @Test("keys that other values leave out are written as without a table") func sharedKeys() throws {
    func list<Table>(_ table: Table.Type, _ kinds: [Int]) -> Writes where FieldPair<Table>: Encodable {
      Writes {
        var list = $0.unkeyedContainer()
        for (number, kind) in kinds.enumerated() {
          if kind == 0 {
            try list.encode(FieldPair<Table>(first: 30 + number, second: 40))
          } else {
            var object = list.nestedContainer(keyedBy: FieldPair<Table>.CodingKeys.self)
            try object.encodeIfPresent(kind == 1 ? nil : 7, forKey: .first)
            try object.encodeIfPresent(kind == 2 ? nil : number, forKey: .second)
          }
        }
      }
    }
    for number in 0..<729 {
      // Every order of six values.
      let kinds = [1, 3, 9, 27, 81, 243].map { number / $0 % 3 }
      let tabled = list(Tabled.self, kinds)
      #expect(outcome(tabled) == outcome(list(Untabled.self, kinds)), "\(kinds)")
      let encoder = StowEncoder(try StowContext(learningFrom: [tabled]))
      #expect(outcome(tabled, by: encoder) == outcome(list(Untabled.self, kinds), by: encoder), "\(kinds)")
    }
  }
}
