import Foundation
import Stow
import Testing

// An order as earlier versions of a program wrote it, and as it is now.

private struct FirstOrder: Codable {
  var client: String
  var price: Double
  var note: String?
  var payment: FirstPayment
  var lines: [FirstLine]
}

private enum FirstPayment: Codable {
  case card(number: String)
  case cash
}

private struct FirstLine: Codable {
  var item: String
  var quantity: Int
}

private struct SecondOrder: Codable {
  var customerName: String
  var price: Double
}

private struct Order: Codable, Equatable {
  var customer: String
  var total: Double
  var comment: String?
  var payment: Payment?
  var lines: [Line]?

  enum CodingKeys: String, CodingKey, StowFormerNames {
    case customer, total, comment, payment, lines
    static let formerNames: [CodingKeys: [String]] = [
      .customer: ["customerName", "client"], .total: ["price"], .comment: ["note"],
    ]
  }
}

private enum Payment: Codable, Equatable {
  case creditCard(digits: String)
  case cash

  enum CodingKeys: CodingKey, StowFormerNames {
    case creditCard, cash
    static let formerNames: [CodingKeys: [String]] = [.creditCard: ["card"]]
  }

  enum CreditCardCodingKeys: CodingKey, StowFormerNames {
    case digits
    static let formerNames: [Self: [String]] = [.digits: ["number"]]
  }
}

private struct Line: Codable, Equatable {
  var article: String
  var count: Int

  enum CodingKeys: CodingKey, StowFormerNames {
    case article, count
    static let formerNames: [CodingKeys: [String]] = [.article: ["item"], .count: ["quantity"]]
  }
}

private let first = FirstOrder(
  client: "Ada", price: 2.5, note: "gift", payment: .card(number: "42"),
  lines: [FirstLine(item: "pen", quantity: 3), FirstLine(item: "ink", quantity: 1)])
private let order = Order(
  customer: "Ada", total: 2.5, comment: "gift", payment: .creditCard(digits: "42"),
  lines: [Line(article: "pen", count: 3), Line(article: "ink", count: 1)])

/// A key type with one key that has two former names.
private enum Key: String, CodingKey, StowFormerNames {
  case name, size
  case `super`
  static let formerNames: [Key: [String]] = [.name: ["title", "label"], .super: ["base"]]
}

private func text(_ error: DecodingError?) -> String {
  switch error {
  case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
    .valueNotFound(_, let context):
    context.codingPath.map { $0.stringValue + ": " }.joined() + context.debugDescription
  default: "no error"
  }
}

@Suite("Former names of keys")
struct FormerNamesTests {
  @Test("former names find values in maps, records and rows, at every depth")
  func everywhere() throws {
    #expect(try transcode(first, to: Order.self) == order)
    #expect(try transcode([first, first], to: [Order].self) == [order, order])
    #expect(try transcode(["a": first], to: [String: Order].self) == ["a": order])
    let lines = (0..<100).map { FirstLine(item: "pen", quantity: $0) }
    #expect(try transcode(lines, to: [Line].self) == (0..<100).map { Line(article: "pen", count: $0) })
    let second = [SecondOrder(customerName: "Bo", price: 1), SecondOrder(customerName: "Cy", price: 2)]
    #expect(try transcode(second, to: [Order].self).map(\.customer) == ["Bo", "Cy"])
  }

  @Test("former names find values in contexts, StowValues and parts, and among many keys")
  func otherSources() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    let context = try StowContext(learningFrom: [first])
    encoder.context = context
    decoder.contexts = [context]
    #expect(try decoder.decode(Order.self, from: encoder.encode(first)) == order)
    #expect(try decoder.decode([Order].self, from: encoder.encode([first, first])) == [order, order])
    #expect(try StowValue(encoding: first).decode(Order.self) == order)
    #expect(try decoder.decode(Order.self, from: encoder.encode([first]), at: [0]) == order)
    var wide = StowObject((0..<200).map { ("key \($0)", StowValue($0)) })
    wide["price"] = 1
    wide["client"] = "Ada"
    #expect(try StowValue.object(wide).decode(Order.self) == Order(customer: "Ada", total: 1))
  }

  @Test("Values in arrays that mix versions are each found under their own names")
  func mixedVersions() throws {
    let mixed: StowValue = [
      ["customer": "A", "total": 1.5], ["client": "B", "price": 2.5], ["customer": "C", "price": 3.5],
      ["customerName": "D", "total": 4.5, "note": "n"], ["client": "E", "total": 5.5, "comment": "c"],
    ]
    for value in [mixed, .array(Array(repeatElement(mixed.array!, count: 9).joined()))] {
      let orders = try value.decode([Order].self).prefix(5)
      #expect(orders.map(\.customer) == ["A", "B", "C", "D", "E"])
      #expect(orders.map(\.total) == [1.5, 2.5, 3.5, 4.5, 5.5])
      #expect(orders.map(\.comment) == [nil, nil, nil, "n", "c"])
    }
  }

  @Test("The present name precedes former ones, and an earlier former name a later one")
  func precedence() throws {
    func name(_ value: StowValue) throws -> String { try value.decode(Order.self).customer }
    #expect(try name(["client": "3", "customerName": "2", "customer": "1", "total": 1]) == "1")
    #expect(try name(["client": "3", "customerName": "2", "total": 1]) == "2")
    #expect(try name(["total": 1, "client": "3"]) == "3")
    // A nil is a value.
    #expect(
      try StowValue.object(["client": "a", "total": 1, "comment": .null, "note": "b"]).decode(Order.self)
        .comment == nil)
  }

  @Test("All calls of a container find a value under a former name")
  func calls() throws {
    let value: StowValue = ["size": 1, "label": ["name": "inner"], "base": ["size": 5]]
    for value in [value, ["label": ["title": "inner"], "base": ["size": 5], "size": 1]] {
      try read(value) { decoder in
        let container = try decoder.container(keyedBy: Key.self)
        #expect(container.contains(.name) && container.contains(.super))
        #expect(try !container.decodeNil(forKey: .name))
        #expect(Set(container.allKeys) == [.name, .size, .super])
        #expect(
          try container.nestedContainer(keyedBy: Key.self, forKey: .name).decode(String.self, forKey: .name)
            == "inner")
        #expect(try container.decodeIfPresent([String: String].self, forKey: .name)?.count == 1)
        #expect(try container.superDecoder().container(keyedBy: Key.self).decode(Int.self, forKey: .size) == 5)
        let named = try container.superDecoder(forKey: .name)
        #expect(try named.container(keyedBy: Key.self).decode(String.self, forKey: .name) == "inner")
        #expect(named.codingPath.map(\.stringValue) == ["name"])
      }
    }
    try read(["title": [1, 2], "size": 1] as StowValue) { decoder in
      let container = try decoder.container(keyedBy: Key.self)
      var list = try container.nestedUnkeyedContainer(forKey: .name)
      #expect(try list.decode(Int.self) == 1)
      #expect(list.codingPath.map(\.stringValue) == ["name"])
      #expect(try container.decode(Int.self, forKey: .size) == 1)
    }
    try read(["title": nil] as StowValue) { decoder in
      let container = try decoder.container(keyedBy: Key.self)
      #expect(try container.decodeNil(forKey: .name))
      #expect(try container.decodeIfPresent(String.self, forKey: .name) == nil)
      #expect(!container.contains(.size))
    }
  }

  @Test("allKeys contains the present key once, and no unknown names")
  func allKeys() throws {
    func keys(_ value: StowValue) throws -> [Key] { try read(value) { try $0.container(keyedBy: Key.self).allKeys } }
    #expect(try keys(["label": 1, "title": 2, "other": 3]) == [.name])
    #expect(try keys(["label": 1, "name": 2]) == [.name])
    #expect(try keys(["other": 1]) == [])
  }

  @Test("An enumeration's cases and their values may be renamed")
  func enumerations() throws {
    #expect(try transcode(FirstPayment.card(number: "7"), to: Payment.self) == .creditCard(digits: "7"))
    #expect(try transcode(FirstPayment.cash, to: Payment.self) == .cash)
    #expect(throws: DecodingError.self) { try StowValue.object(["card": [:], "cash": [:]]).decode(Payment.self) }
  }

  @Test("Defaults are used only where no name has a value")
  func defaults() throws {
    struct Settings: Codable, Equatable {
      var order = Order(customer: "nobody", total: 1, comment: "none")
      var level = 3
    }
    func decoded(_ value: StowValue) throws -> Settings {
      try StowDecoder().decode(Settings.self, from: value.encoded(), defaults: Settings())
    }
    #expect(
      try decoded(["order": ["client": "Ada", "note": "gift"]])
        == Settings(order: Order(customer: "Ada", total: 1, comment: "gift")))
    #expect(try decoded(["level": 4]) == Settings(level: 4))
  }

  @Test("Errors name the present key")
  func errors() throws {
    func error(_ value: StowValue) -> String {
      text(#expect(throws: DecodingError.self) { try value.decode(Order.self) })
    }
    #expect(error(["price": 1]).contains("\"customer\""))
    for value in [["client": "a", "price": "b"], ["price": "b", "client": "a"]] as [StowValue] {
      guard
        case DecodingError.typeMismatch(_, let context)? = #expect(
          throws: (any Error).self,
          performing: { try value.decode(Order.self) })
      else {
        Issue.record("not a mismatch")
        continue
      }
      #expect(context.codingPath.map(\.stringValue) == ["total"])
    }
  }

  @Test("Paths name what is in the message")
  func paths() throws {
    let data = try StowEncoder().encode(first)
    #expect(try StowDecoder().decode(String.self, from: data, at: ["client"]) == "Ada")
    #expect(throws: DecodingError.self) { try StowDecoder().decode(String.self, from: data, at: ["customer"]) }
  }

  @Test("Other coders know no former names")
  func otherCoders() throws {
    let json = try JSONEncoder().encode(order)
    #expect(try JSONDecoder().decode(Order.self, from: json) == order)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Order.self, from: JSONEncoder().encode(first)) }
  }

  @Test("A malformed map that has a former name twice is an error if the key is requested again")
  func repeatedFormerName() {
    struct Trying: Decodable {
      enum CodingKeys: CodingKey, StowFormerNames {
        case letter
        static let formerNames: [CodingKeys: [String]] = [.letter: ["a"]]
      }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if (try? container.decode([String].self, forKey: .letter)) != nil { return }
        _ = try container.decode([Int].self, forKey: .letter)
      }
    }
    // {"a": [nil], "a": [1]}
    let message: [UInt8] = [0xC8, 0x81, 0x61, 0xE1, 0, 0x81, 0x61, 0xE1, 0x91]
    let error = #expect(throws: DecodingError.self) { try StowDecoder().decode(Trying.self, from: message) }
    #expect(text(error).contains("repeats another"))
  }

  @Test("Keys that are made of any string have former names, too")
  func openKeys() throws {
    struct Open: CodingKey, Hashable, StowFormerNames {
      var stringValue: String
      var intValue: Int? { nil }
      static let formerNames: [Open: [String]] = [Open("name"): ["title"]]
      init(_ name: String) { stringValue = name }
      init?(stringValue: String) { self.init(stringValue) }
      init?(intValue: Int) { nil }
    }
    try Open.checkFormerNames()
    for value in [["title": "a", "other": "b"], ["other": "b", "title": "a"]] as [StowValue] {
      try read([value, value]) { decoder in
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
          let container = try list.nestedContainer(keyedBy: Open.self)
          #expect(Set(container.allKeys) == [Open("name"), Open("other")])
          #expect(try container.decode(String.self, forKey: Open("name")) == "a")
          #expect(try container.decodeIfPresent(String.self, forKey: Open("absent")) == nil)
        }
      }
    }
  }
}

// MARK: - Conflicts

private enum Shared: String, CodingKey, StowFormerNames {
  case left, right
  static let formerNames: [Shared: [String]] = [.left: ["side"], .right: ["edge", "side"]]
}

private enum Taken: String, CodingKey, StowFormerNames {
  case left, right
  static let formerNames: [Taken: [String]] = [.left: ["right"]]
}

private enum Own: String, CodingKey, StowFormerNames {
  case left, right
  static let formerNames: [Own: [String]] = [.left: ["left", "l", "l"], .right: []]
}

private struct Sides<Key: CodingKey & Sendable>: Decodable {
  let body: Int?

  init(from decoder: any Decoder) throws {
    body = try decoder.container(keyedBy: Key.self).decodeIfPresent(Int.self, forKey: Key(stringValue: "left")!)
  }
}

@Suite("Ambiguous former names")
struct AmbiguousFormerNamesTests {
  @Test("checkFormerNames reports ambiguous former names and their keys")
  func checks() throws {
    try Own.checkFormerNames()
    try Order.CodingKeys.checkFormerNames()
    let shared = text(#expect(throws: DecodingError.self) { try Shared.checkFormerNames() })
    #expect(shared.contains("\"side\" is a former name of both \"left\" and \"right\""))
    let taken = text(#expect(throws: DecodingError.self) { try Taken.checkFormerNames() })
    #expect(taken.contains("former name of") && taken.contains("Taken"))
  }

  @Test("ambiguous former names are a decoding error if a key is missing, even an optional one")
  func decoding() throws {
    let value: StowValue = ["side": 1, "right": 2]
    #expect(text(#expect(throws: DecodingError.self) { try value.decode(Sides<Shared>.self) }).contains("ambiguous"))
    #expect(text(#expect(throws: DecodingError.self) { try value.decode(Sides<Taken>.self) }).contains("ambiguous"))
    #expect(try StowValue.object(["l": 1]).decode(Sides<Own>.self).body == 1)
    for body in [{ _ = $0.contains(.left) }, { _ = $0.allKeys }] as [(KeyedDecodingContainer<Shared>) -> Void] {
      let error = #expect(throws: DecodingError.self) {
        try read(value) { body(try $0.container(keyedBy: Shared.self)) }
      }
      #expect(text(error).contains("ambiguous"))
    }
  }

  @Test("ambiguous former names are not replaced by a template, even a lenient one")
  func lenient() throws {
    struct Outer: Codable {
      struct Inner: Codable {
        var left: Int?
        var right: Int?
        enum CodingKeys: CodingKey, StowFormerNames {
          case left, right
          static let formerNames: [CodingKeys: [String]] = [.left: ["side"], .right: ["side"]]
        }
      }
      var inner = Inner(left: 1, right: 2)
    }
    let data = try StowValue.object(["inner": ["side": 3]]).encoded()
    for strategy in [StowDecoder.DefaultsStrategy.strict, .lenient] {
      let error = #expect(throws: DecodingError.self) {
        try StowDecoder().decode(Outer.self, from: data, defaults: Outer(), strategy: strategy)
      }
      #expect(text(error).contains("ambiguous"))
    }
  }

  @Test("ambiguous former names are a decoding error with a table of fields, too")
  func tables() throws {
    struct Pair: Codable, StowFields {
      var left: Int?
      var right: Int?
      static var stowFields: FieldTable<Pair> {
        FieldTable(Self.init(left:right:), Field("left", \.left), Field("right", \.right))
      }
      enum CodingKeys: CodingKey, StowFormerNames {
        case left, right
        static let formerNames: [CodingKeys: [String]] = [.left: ["right"]]
      }
    }
    for value in [["right": 1], [["right": 1], ["right": 2]]] as [StowValue] {
      #expect(throws: DecodingError.self) {
        if value.array == nil { _ = try value.decode(Pair.self) } else { _ = try value.decode([Pair].self) }
      }
    }
  }
}

// MARK: - Tables of fields

private struct TabledLine: Codable, Equatable, StowFields {
  var article: String
  var count: Int
  var weight: Double
  var note: String?
  var when: Date?

  static var stowFields: FieldTable<TabledLine> {
    FieldTable(
      Self.init(article:count:weight:note:when:), Field("article", \.article), Field("count", \.count),
      Field("weight", \.weight), Field("note", \.note), Field("when", \.when))
  }

  enum CodingKeys: CodingKey, StowFormerNames {
    case article, count, weight, note, when
    static let formerNames: [CodingKeys: [String]] = [
      .article: ["item"], .weight: ["mass"], .note: ["comment"], .when: ["date"],
    ]
  }
}

@Suite("Former names with a table of fields")
struct FormerFieldTests {
  @Test("fields find values under former names in maps, records and rows")
  func fields() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let objects: [StowValue] = [
      ["item": "a", "count": 1, "mass": 1.5, "comment": "c", "date": .date(date)],
      ["article": "a", "count": 1, "mass": 1.5, "note": "c", "when": .date(date)],
      ["date": .date(date), "comment": "c", "mass": 1.5, "count": 1, "item": "a"],
      [
        "article": "a", "item": "b", "count": 1, "weight": 1.5, "mass": 2.5, "note": "c", "when": .date(date),
      ],
    ]
    let line = TabledLine(article: "a", count: 1, weight: 1.5, note: "c", when: date)
    for object in objects {
      #expect(try object.decode(TabledLine.self) == line)
      #expect(try StowValue.array([object, object, object]).decode([TabledLine].self) == [line, line, line])
    }
    #expect(try StowValue.array(objects).decode([TabledLine].self) == [line, line, line, line])
  }

  @Test("fields find columns of numbers under former names, and leave out optionals")
  func rows() throws {
    struct Old: Codable {
      var x, y: Double
      var level: Int
    }
    struct New: Codable, Equatable, StowFields {
      var x, y: Double
      var depth: Int?
      var height: Int?
      static var stowFields: FieldTable<New> {
        FieldTable(
          Self.init(x:y:depth:height:), Field("x", \.x), Field("y", \.y), Field("depth", \.depth),
          Field("height", \.height))
      }
      enum CodingKeys: CodingKey, StowFormerNames {
        case x, y, depth, height
        static let formerNames: [CodingKeys: [String]] = [.depth: ["level"]]
      }
    }
    let old = (0..<50).map { Old(x: Double($0) + 0.5, y: 2.25, level: $0) }
    let new = try transcode(old, to: [New].self)
    #expect(new == old.map { New(x: $0.x, y: $0.y, depth: $0.level) })
    #expect(try transcode(old[3], to: New.self) == new[3])
  }

  @Test("errors name the present key")
  func errors() throws {
    for value in [["count": 1], ["item": 2, "count": 1]] as [StowValue] {
      let error = text(#expect(throws: DecodingError.self) { try value.decode(TabledLine.self) })
      #expect(error.contains("article") && !error.contains("item"))
    }
  }
}
