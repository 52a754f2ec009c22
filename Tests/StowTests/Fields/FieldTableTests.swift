import Foundation
import Stow
import Testing

/// What a table says, and what is said of a wrong one.
@Suite("Tables of fields")
struct FieldTableTests {
  private struct Pair: Codable, Equatable {
    var first: Int
    var second: Int
    var third: String?
  }

  private func flaw(_ table: FieldTable<Pair>) -> String? {
    do {
      try table.check(Pair(first: 1, second: 2, third: "3"))
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("a correct table passes its check") func right() {
    let table = FieldTable(
      Pair.init(first:second:third:), Field("first", \.first), Field("second", \.second),
      Field("third", \.third))
    #expect(flaw(table) == nil)
    #expect(throws: Never.self) { try table.check(Pair(first: 1, second: 2, third: nil)) }
  }

  @Test("a value that is not equal to itself or cannot be compared passes the check")
  func incomparable() throws {
    struct Content: Codable {
      var text: String
    }
    struct Box: Codable {
      var content: Content
      var number: Double
    }
    let table = FieldTable(Box.init(content:number:), Field("content", \.content), Field("number", \.number))
    #expect(throws: Never.self) { try table.check(Box(content: Content(text: "text"), number: .nan)) }
  }

  @Test("the error of a wrong table names the type and the field") func wrong() {
    let missing = FieldTable(
      { Pair(first: $0, second: $1, third: nil) }, Field("first", \Pair.first), Field("second", \Pair.second))
    let swapped = FieldTable(
      Pair.init(first:second:third:), Field("first", \.second), Field("second", \.first),
      Field("third", \.third))
    let disordered = FieldTable(
      { Pair(first: $1, second: $0, third: $2) }, Field("second", \Pair.second), Field("first", \Pair.first),
      Field("third", \Pair.third))
    let misnamed = FieldTable(
      Pair.init(first:second:third:), Field("first", \.first), Field("2nd", \.second),
      Field("third", \.third))
    let repeated = FieldTable(
      Pair.init(first:second:third:), Field("first", \.first), Field("first", \.second),
      Field("third", \.third))
    for (table, name, words) in [
      (missing, "third", "asks for \"third\" where the table has nothing"),
      (swapped, "first", "does not give it back"),
      (disordered, "second", "asks for \"first\" where the table has \"second\""),
      (misnamed, "2nd", "no coding key"), (repeated, "first", "twice"),
    ] {
      let text = flaw(table) ?? ""
      #expect(text.contains("\"\(name)\" of Pair") && text.contains(words), "\(text)")
    }
  }

  @Test("the error names an optional that the type encodes only if it has a value")
  func unaskedNil() throws {
    struct Pair: Codable {
      var first: Int?
      var second: Int

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if let first { try container.encode(first, forKey: .first) }
        try container.encode(second, forKey: .second)
      }
    }
    let table = FieldTable(Pair.init(first:second:), Field("first", \.first), Field("second", \.second))
    let error = #expect(throws: FieldTableError.self) { try table.check(Pair(first: 1, second: 2)) }
    #expect(error?.description.contains("\"first\" of Pair: encode(to:) does not ask for it") == true)
  }

  @Test("an optional whose nil the type itself writes cannot be an optional field") func writtenNil() throws {
    struct Box<Content: Codable>: Codable {
      var content: Content
    }
    let plain = FieldTable(Box<Int>.init(content:), Field("content", \.content))
    #expect(throws: Never.self) { try plain.check(Box(content: 1)) }
    let optional = FieldTable(Box<Int?>.init(content:), Field("content", \.content))
    let error = #expect(throws: FieldTableError.self) { try optional.check(Box(content: 1)) }
    #expect(error?.description.contains("writes its nil") == true)
  }

  @Test("the check of a table ignores the keys of nested values") func keysWithin() throws {
    struct Tree: StowFields, Equatable {
      var weight: Int?
      var children: [Tree]
      static let stowFields = FieldTable(
        Tree.init(weight:children:), Field("weight", \.weight), Field("children", \.children))
    }
    let tree = Tree(weight: 1, children: [Tree(weight: 2, children: [])])
    #expect(throws: Never.self) { try Tree.stowFields.check(tree) }
    expectRoundTrip(tree)

    enum Keys: CodingKey { case a, b, c }
    struct Inner: Codable, Equatable {
      typealias CodingKeys = Keys
      var b: Int?
      var c: Int
      init(b: Int?, c: Int) { (self.b, self.c) = (b, c) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        b = try container.decodeIfPresent(Int.self, forKey: .b)
        c = try container.decode(Int.self, forKey: .c)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(c, forKey: .c)
        try container.encodeIfPresent(b, forKey: .b)
      }
    }
    struct Outer: StowFields, Equatable {
      var a: Inner
      var b: Int?
      var c: Inner?
      static let stowFields = FieldTable(Outer.init(a:b:c:), Field("a", \.a), Field("b", \.b), Field("c", \.c))
      init(a: Inner, b: Int?, c: Inner?) { (self.a, self.b, self.c) = (a, b, c) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        a = try container.decode(Inner.self, forKey: .a)
        b = try container.decodeIfPresent(Int.self, forKey: .b)
        c = try container.decodeIfPresent(Inner.self, forKey: .c)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(a, forKey: .a)
        try container.encodeIfPresent(b, forKey: .b)
        try container.encodeIfPresent(c, forKey: .c)
      }
    }
    let outer = Outer(a: Inner(b: 1, c: 2), b: nil, c: Inner(b: nil, c: 3))
    #expect(throws: Never.self) { try Outer.stowFields.check(outer) }
    expectRoundTrip(outer)
  }

  @Test("a type that encodes another value in its place has the keys of that value") func inPlace() throws {
    struct Stored: Codable {
      var a: Int
      var b: String?
    }
    struct Value: StowFields, Equatable {
      var a: Int
      var b: String?
      static let stowFields = FieldTable(Value.init(a:b:), Field("a", \.a), Field("b", \.b))
      init(a: Int, b: String?) { (self.a, self.b) = (a, b) }
      init(from decoder: any Decoder) throws {
        let stored = try Stored(from: decoder)
        self.init(a: stored.a, b: stored.b)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Stored(a: a, b: b))
      }
    }
    #expect(throws: Never.self) { try Value.stowFields.check(Value(a: 1, b: nil)) }
    expectRoundTrip([Value(a: 1, b: nil), Value(a: 2, b: "b")])
  }

  private final class Owner: Codable {
    var name: String?
    init(_ name: String?) { self.name = name }
  }

  private struct Loan: Codable {
    @Shared var owner: Owner
    @Polymorphic var item: Owner

    static let owners = Field("owner", \Loan._owner)
    static let items = Field("item", \Loan._item)

    init(_ owner: Owner, _ item: Owner) { (self.owner, self.item) = (owner, item) }
  }

  private struct Visit: Codable {
    @ConditionallyShared var guest: Owner?
  }

  private struct Couple: Codable {
    @Shared var a: Owner
    @Shared var b: Owner

    static let first = Field("a", \Couple._a)

    init(_ a: Owner, _ b: Owner) { (self.a, self.b) = (a, b) }
  }

  /// A property that is stored beside a wrapper of its type, which is not coded.
  private final class Stay: Codable {
    @ConditionallyShared var host: Owner? = nil
    var guest: Owner?

    enum CodingKeys: CodingKey { case guest }

    init(guest: Owner?) { self.guest = guest }
  }

  @Test("a property with a wrapper of this library cannot be a field by its wrapped value")
  func wrapped() throws {
    let loan = Loan(Owner("Ada"), Owner("book"))
    let right = FieldTable({ Loan($0.wrappedValue, $1.wrappedValue) }, Loan.owners, Loan.items)
    #expect(throws: Never.self) { try right.check(loan) }
    let byOwner = FieldTable({ Loan($0, $1.wrappedValue) }, Field("owner", \Loan.owner), Loan.items)
    let byItem = FieldTable({ Loan($0.wrappedValue, $1) }, Loan.owners, Field("item", \Loan.item))
    let byGuest = FieldTable({ Visit(guest: $0) }, Field("guest", \Visit.guest))
    #expect(throws: FieldTableError.self) { try byOwner.check(loan) }
    #expect(throws: FieldTableError.self) { try byItem.check(loan) }
    #expect(throws: FieldTableError.self) { try byGuest.check(Visit(guest: nil)) }
    let byOneOfTwo = FieldTable({ Couple($0.wrappedValue, $1) }, Couple.first, Field("b", \Couple.b))
    #expect(throws: FieldTableError.self) { try byOneOfTwo.check(Couple(Owner("Ada"), Owner("Bo"))) }
    let stored = FieldTable(Stay.init(guest:), Field("guest", \Stay.guest))
    #expect(throws: Never.self) { try stored.check(Stay(guest: Owner("Ada"))) }
  }

  /// An object with a key of another type.
  private struct Tagged: Codable {
    var a: Int

    enum CodingKeys: CodingKey { case a }
    enum TagKeys: CodingKey { case tag }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(a, forKey: .a)
      var tag = encoder.container(keyedBy: TagKeys.self)
      try tag.encode("tagged", forKey: .tag)
    }
  }

  private class Base: Codable {
    var b = 1
  }

  /// Encodes the properties of its superclass into its own object, or into one for `super`.
  private final class Derived: Base {
    var a: Int
    var isApart = false

    enum CodingKeys: CodingKey { case a }

    init(a: Int) {
      self.a = a
      super.init()
    }

    required init(from decoder: any Decoder) throws {
      a = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .a)
      try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(a, forKey: .a)
      try super.encode(to: isApart ? container.superEncoder() : encoder)
    }
  }

  @Test("keys of other types, such as those of a superclass, are reported as missing in the table")
  func otherKeys() throws {
    let tagged = FieldTable(Tagged.init(a:), Field("a", \.a))
    let tag = #expect(throws: FieldTableError.self) { try tagged.check(Tagged(a: 1)) }
    #expect(tag?.description.contains("asks for \"tag\" where the table has nothing") == true)
    let derived = FieldTable(Derived.init(a:), Field("a", \.a))
    let value = Derived(a: 1)
    let own = #expect(throws: FieldTableError.self) { try derived.check(value) }
    #expect(own?.description.contains("asks for \"b\" where the table has nothing") == true)
    value.isApart = true
    let apart = #expect(throws: FieldTableError.self) { try derived.check(value) }
    #expect(apart?.description.contains("asks for \"super\" where the table has nothing") == true)
  }

  /// Says with a key of another type that it has no value, and does not ask for its own key then.
  private struct Sparse: Codable {
    var a: Int?

    enum CodingKeys: CodingKey { case a }
    enum AbsentKeys: CodingKey { case isAbsent }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      if let a { return try container.encode(a, forKey: .a) }
      var absent = encoder.container(keyedBy: AbsentKeys.self)
      try absent.encode(true, forKey: .isAbsent)
    }
  }

  @Test("a key of another type in place of a nil is reported as missing in the table")
  func keyForNil() throws {
    let table = FieldTable(Sparse.init(a:), Field("a", \.a))
    let error = #expect(throws: FieldTableError.self) { try table.check(Sparse(a: 1)) }
    #expect(error?.description.contains("does not ask for it if optionals are nil") == true)
  }

  /// Encodes its properties as other numbers than they are.
  private struct Sample: Codable {
    var kelvin: Double
    var time: Date
    var text: String?
    var writesKelvin = true
    var writesSeconds = true
    var delay = 0.0

    enum CodingKeys: CodingKey { case kelvin, time, text }

    init(kelvin: Double, time: Date, text: String?) {
      (self.kelvin, self.time, self.text) = (kelvin, time, text)
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      kelvin = try container.decode(Double.self, forKey: .kelvin)
      time = Date(timeIntervalSince1970: try container.decode(Double.self, forKey: .time))
      text = try container.decodeIfPresent(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(writesKelvin ? kelvin : kelvin - 273.15, forKey: .kelvin)
      if writesSeconds {
        try container.encode(time.timeIntervalSince1970, forKey: .time)
      } else {
        try container.encode(time + delay, forKey: .time)
      }
      try container.encodeIfPresent(text, forKey: .text)
    }
  }

  @Test("a table is wrong if the type writes other scalars than its properties have")
  func otherScalars() throws {
    let table = FieldTable(
      Sample.init(kelvin:time:text:), Field("kelvin", \.kelvin), Field("time", \.time),
      Field("text", \.text))
    var sample = Sample(kelvin: 280, time: Date(timeIntervalSince1970: 8), text: nil)
    let time = #expect(throws: FieldTableError.self) { try table.check(sample) }
    #expect(time?.description.contains("\"time\" of Sample: encode(to:) writes another value") == true)
    sample.writesSeconds = false
    #expect(throws: Never.self) { try table.check(sample) }
    sample.text = "text"
    #expect(throws: Never.self) { try table.check(sample) }
    sample.delay = 1
    let later = #expect(throws: FieldTableError.self) { try table.check(sample) }
    #expect(later?.description.contains("\"time\" of Sample: encode(to:) writes another value") == true)
    (sample.delay, sample.kelvin) = (0, .nan)
    #expect(throws: Never.self) { try table.check(sample) }
    (sample.kelvin, sample.writesKelvin) = (280, false)
    let kelvin = #expect(throws: FieldTableError.self) { try table.check(sample) }
    #expect(kelvin?.description.contains("\"kelvin\" of Sample: encode(to:) writes") == true)
  }

  /// The fields of this are parts of its properties. One property has another part, which lies where padding could be.
  private struct Reading: StowFields, Equatable {
    struct Scale: Equatable {
      var power: Int8
      var base: Int8 = 10
    }

    var scale: Scale
    var count: Int

    enum CodingKeys: CodingKey { case power, count }

    init(power: Int8, count: Int) { (scale, self.count) = (Scale(power: power), count) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      self.init(
        power: try container.decode(Int8.self, forKey: .power),
        count: try container.decode(Int.self, forKey: .count))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(scale.power, forKey: .power)
      try container.encode(count, forKey: .count)
    }

    static let stowFields = FieldTable(
      Reading.init(power:count:), Field("power", \.scale.power), Field("count", \.count))
  }

  @Test("parts of properties can be fields, and the initializer sets their other parts")
  func partsOfProperties() { expectRoundTrip((0..<20).map { Reading(power: $0, count: Int($0)) }) }

  @Test("a type without a keyed container has no table") func notKeyed() {
    struct Single: Codable {
      var value: Int
      init(value: Int) { self.value = value }
      init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
      }
    }
    #expect(throws: FieldTableError.self) {
      try FieldTable(Single.init(value:), Field("value", \.value)).check(Single(value: 1))
    }
  }

  private struct Misnamed: StowFields, Equatable {
    var a: Int
    static let stowFields = FieldTable(Misnamed.init(a:), Field("b", \.a))
  }

  private struct Swapped: StowFields {
    var a: Int, b: Int
    static let stowFields = FieldTable(Swapped.init(a:b:), Field("a", \.b), Field("b", \.a))
  }

  private func failure(encoding value: some Encodable) -> EncodingError.Context? {
    let error = #expect(throws: EncodingError.self) { try StowEncoder().encode(value) }
    guard case .invalidValue(_, let context)? = error else { return nil }
    return context
  }

  @Test("encoding throws an error for each value with a wrong table") func firstUse() {
    for _ in 0..<2 {
      let misnamed = failure(encoding: ["a": [Misnamed(a: 1)]])
      #expect(misnamed?.debugDescription.contains("\"b\" of Misnamed") == true)
      let swapped = failure(encoding: ["a": [Swapped(a: 1, b: 2)]])
      #expect(swapped?.debugDescription.contains("\"a\" of Swapped") == true)
      #expect(swapped?.codingPath.map(\.stringValue) == ["a", "Index 0"])
    }
  }

  @Test("decoding does not use a table with a name that is not a coding key") func misnamedDecoding() throws {
    let message: StowValue = [["a": 1], ["a": 2]]
    let values = try StowDecoder().decode([Misnamed].self, from: message.encoded())
    #expect(values == [Misnamed(a: 1), Misnamed(a: 2)])
  }

  /// Encodes `b` only if `a` is positive, which its table does not know.
  private struct Conditional: StowFields, Equatable {
    var a: Int
    var b: Int?

    static let stowFields = FieldTable(Conditional.init(a:b:), Field("a", \.a), Field("b", \.b))

    init(a: Int, b: Int?) { (self.a, self.b) = (a, b) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(a, forKey: .a)
      if a > 0 { try container.encodeIfPresent(b, forKey: .b) }
    }
  }

  @Test("values that do not fit their table are decoded without an error") func unfitDecoding() throws {
    for message: StowValue in [["a": 0, "b": 2], ["a": 0], ["a": 1, "b": 2]] {
      let value = try StowDecoder().decode(Conditional.self, from: message.encoded())
      #expect(value.a == message["a"]?.int && value.b == message["b"]?.int)
    }
  }

  /// Wraps a value, so that there are any number of types.
  private struct Layer<Value: Codable & Sendable>: Codable, Sendable {
    var value: Value
  }

  /// Its table is made by code that continues the message of the value, and meets many other types.
  private struct Curious: StowFields, Equatable {
    var a: Int

    @TaskLocal static var meetTypes: @Sendable () -> Void = {}

    static var stowFields: FieldTable<Curious> {
      meetTypes()
      return FieldTable(Curious.init(a:), Field("a", \.a))
    }
  }

  private struct Around: Codable {
    var curious: Curious

    enum CodingKeys: CodingKey { case curious, other }

    init(_ curious: Curious) { self.curious = curious }

    init(from decoder: any Decoder) throws {
      nonisolated(unsafe) let container = try decoder.container(keyedBy: CodingKeys.self)
      @Sendable func meet<Value: Codable & Sendable>(_ type: Value.Type, _ depth: Int) {
        _ = try? container.decode(type, forKey: .other)
        if depth > 0 { meet(Layer<Value>.self, depth - 1) }
      }
      let meetTypes: @Sendable () -> Void = { meet(Int.self, 100) }
      curious = try Curious.$meetTypes.withValue(meetTypes) { try container.decode(Curious.self, forKey: .curious) }
    }

    func encode(to encoder: any Encoder) throws {
      nonisolated(unsafe) let encoder = encoder
      var container = encoder.container(keyedBy: CodingKeys.self)
      @Sendable func meet<Value: Codable & Sendable>(_ value: Value, _ depth: Int) {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try? container.encode(value, forKey: .other)
        if depth > 0 { meet(Layer(value: value), depth - 1) }
      }
      let meetTypes: @Sendable () -> Void = { meet(1, 100) }
      try Curious.$meetTypes.withValue(meetTypes) { try container.encode(curious, forKey: .curious) }
    }
  }

  @Test("the code that makes a table may use the coder that needs the table") func reentrantTable() throws {
    let bytes = try StowEncoder().encode([Around(Curious(a: 1)), Around(Curious(a: 2))])
    let values = try StowDecoder().decode([Around].self, from: bytes)
    #expect(values.map(\.curious.a) == [1, 2])
  }

  // MARK: missing, unknown and disordered keys

  private struct Settings: StowFields, Equatable {
    var name: String
    var retries: Int
    var ratio: Float
    var mode: FieldGender
    var tags: [String]
    var note: String?

    static let stowFields = FieldTable(
      Settings.init(name:retries:ratio:mode:tags:note:), Field("name", \.name),
      Field("retries", \.retries, default: 3), Field("ratio", \.ratio, default: 0.5),
      Field("mode", \.mode, default: .male), Field("tags", \.tags, default: ["new"]),
      Field("note", \.note, default: "none"))
  }

  @Test("keys that are missing have their defaults") func defaults() throws {
    let expected = Settings(name: "a", retries: 3, ratio: 0.5, mode: .male, tags: ["new"], note: "none")
    for _ in 0..<2 {
      #expect(try transcode(["name": "a"], to: Settings.self) == expected)
      #expect(try transcode([["name": "a"], ["name": "a"]], to: [Settings].self) == [expected, expected])
    }
    let object: StowValue = ["note": nil, "other": 1, "retries": 5, "name": "a"]
    let read = try transcode(object, to: Settings.self)
    #expect(read.retries == 5 && read.note == nil && read.ratio == 0.5)
    #expect(throws: DecodingError.self) { try transcode(["note": "a"], to: Settings.self) }
    let full = Settings(name: "b", retries: 0, ratio: 2, mode: .female, tags: [], note: "c")
    expectRoundTrip(full)
  }

  @Test("a default may be nil, also within an optional") func nilDefaults() throws {
    struct Deep: StowFields, Equatable {
      var a: Int??
      var b: Int??
      var c: String?
      static let stowFields = FieldTable(
        Deep.init(a:b:c:), Field("a", \.a, default: .some(nil)), Field("b", \.b, default: nil),
        Field("c", \.c, default: nil))
    }
    let read = try transcode([String: Int](), to: Deep.self)
    #expect(read == Deep(a: .some(nil), b: nil, c: nil))
  }

  @Test("rows that lack some columns have the defaults") func rows() throws {
    struct Old: Codable {
      var x: Double
    }
    struct New: StowFields, Equatable {
      var x: Double
      var y: Int
      static let stowFields = FieldTable(New.init(x:y:), Field("x", \.x), Field("y", \.y, default: 7))
    }
    let old = (0..<50).map { Old(x: Double($0) / 3) }
    for _ in 0..<2 {
      #expect(try transcode(old, to: [New].self) == old.map { New(x: $0.x, y: 7) })
    }
  }

  @Test("keys in any order and unknown keys are decoded as without a table") func disorder() throws {
    let objects: [StowValue] = [
      ["x": 1, "y": 2.5, "z": 3], ["z": 3, "x": 1, "y": 2.5], ["z": 3, "extra": [1, 2], "y": 2.5, "x": 1],
      ["x": 1, "y": 2.5, "z": 3, "more": ["a": 1]],
    ]
    let expected = FieldPoint<Tabled>(x: 1, y: 2.5, z: 3)
    for object in objects + objects {
      #expect(try transcode(object, to: FieldPoint<Tabled>.self) == expected)
      #expect(try transcode([object, object], to: [FieldPoint<Tabled>].self) == [expected, expected])
    }
  }

  // MARK: with the rest of the library

  @Test("decoding with a template as defaults keeps its values for missing keys") func template() throws {
    let template = FieldNote<Tabled>(id: 1, name: "a", flag: true, value: 2, note: "b")
    let data = try StowEncoder().encode(["name": "c"])
    let merged = try StowDecoder().decode(FieldNote<Tabled>.self, from: data, defaults: template)
    #expect(merged == FieldNote(id: 1, name: "c", flag: true, value: 2, note: "b"))
  }

  @Test("parts of a message and each of its elements are decoded with tables") func parts() throws {
    var random = SeededGenerator(seed: 1)
    let people = (0..<5).map { _ in FieldPerson<Tabled>.random(&random) }
    let data = try StowEncoder().encode(["people": people])
    let decoder = StowDecoder()
    let address = try decoder.decode(FieldAddress<Tabled>.self, from: data, at: ["people", 3, "address"])
    #expect(address == people[3].address)
    let addresses = try decoder.decode([FieldAddress<Tabled>].self, from: data, at: ["people", .each, "address"])
    #expect(addresses == people.map(\.address))
  }

  @Test("a single-value container adds a value to an existing object as without a table")
  func added() throws {
    func bytes(adding value: some Encodable) throws -> Data {
      try StowEncoder().encode(
        Writes { encoder in
          try encoder.writeSingle(Writes { _ in })
          try encoder.writeSingle(value)
          var container = encoder.container(keyedBy: AnyKey.self)
          try container.encode(1, forKey: "a")
          try encoder.writeSingle(value)
        })
    }
    let data = try bytes(adding: FieldPoint<Tabled>(x: 1, y: 2, z: 3))
    #expect(try data == bytes(adding: FieldPoint<Untabled>(x: 1, y: 2, z: 3)))
    #expect(try StowValue(from: data) == ["x": 1.0, "y": 2.0, "z": 3.0, "a": 1])
  }

  @Test("polymorphic values with tables are encoded and decoded") func polymorphic() throws {
    struct Rectangle: Shape, StowFields, Equatable {
      var width: Double
      var height: Double
      var area: Double { width * height }
      static let stowFields = FieldTable(
        Rectangle.init(width:height:), Field("width", \.width), Field("height", \.height))
    }
    struct Drawing: Codable {
      @Polymorphic var shapes: [any Shape]
    }
    var types = TypeRegistry()
    types.register(Rectangle.self, as: "rectangle")
    let coder = StowCoder(types: types)
    let shapes = [Rectangle(width: 1, height: 2), Rectangle(width: 3, height: 4)]
    let data = try coder.encode(Drawing(shapes: shapes))
    #expect(try StowValue(from: data)["shapes"]?[1] == ["rectangle": ["width": 3.0, "height": 4.0]])
    #expect(try coder.decode(Drawing.self, from: data).shapes as? [Rectangle] == shapes)
  }

  @Test("nesting too deep throws the same error as without a table") func depth() throws {
    func nest<Table>(_ depth: Int, _: Table.Type) -> FieldTree<Table> {
      (0..<depth).reduce(FieldTree(name: "", children: [], weight: nil)) { inner, _ in
        FieldTree(name: "", children: [inner], weight: nil)
      }
    }
    for depth in [3, 4, 5, 6, 255, 256, 300] {
      for limit in [7, 8, 9, 10, 11, 512] {
        let encoder = StowEncoder()
        encoder.maximumDepth = limit
        let (one, other) = (
          Outcome(text: { "\(try Array(encoder.encode(nest(depth, Tabled.self))))" }),
          Outcome(text: { "\(try Array(encoder.encode(nest(depth, Untabled.self))))" })
        )
        #expect(one == other, "\(depth) in \(limit)")
        let data = try? StowEncoder().encode(nest(min(depth, 200), Untabled.self))
        guard let data else { continue }
        let decoder = StowDecoder()
        decoder.maximumDepth = limit
        #expect(
          Outcome(text: { "\(try decoder.decode(FieldTree<Tabled>.self, from: data))" })
            == Outcome(text: {
              "\(try decoder.decode(FieldTree<Untabled>.self, from: data))".replacing("Untabled", with: "Tabled")
            }))
      }
    }
  }
}
