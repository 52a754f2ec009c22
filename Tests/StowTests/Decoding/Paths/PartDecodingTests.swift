import Foundation
import Stow
import Testing

private struct Person: Codable, Equatable, Sendable {
  var name: String
  var age: Int
  var nick: String?
  var tags: [String]
}

private struct Team: Codable, Equatable, Sendable {
  var people: [Person]
  var scores: [Int: Double]
  var points: [[Double]]
  var owner: Person?
}

private let team = Team(
  people: (0..<300).map { number in
    Person(
      name: "person \(number)", age: number, nick: number % 3 == 0 ? "nick \(number)" : nil,
      tags: (0..<number % 4).map { "tag \($0)" })
  },
  scores: [3: 1.5, 12: 2.5], points: [[1, 2, 3], [4, 5, 6], [7, 8, 9.5]], owner: nil)

/// A part as a decoder finds it, and as an open message does.
private func expectPart<Value: Decodable & Equatable>(
  _ expected: Value, at path: StowPath, of data: Data, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let decoder = StowDecoder()
  #expect(try decoder.decode(Value.self, from: data, at: path) == expected, sourceLocation: sourceLocation)
  #expect(try decoder.decode(Value.self, from: Array(data), at: path) == expected, sourceLocation: sourceLocation)
  let message = try StowMessage(from: data)
  #expect(try message.decode(Value.self, at: path) == expected, sourceLocation: sourceLocation)
  #expect(try message.decode(Value.self, at: path) == expected, sourceLocation: sourceLocation)
  if !path.steps.contains(.each), !path.steps.isEmpty {
    let way = StowPath(path.steps.dropLast())
    guard try message.contains(way) else { return }
    let parent = try message.part(at: way)
    let last = StowPath(path.steps.suffix(1))
    #expect(try parent.decode(Value.self, at: last) == expected, sourceLocation: sourceLocation)
  }
}

@Suite("Parts")
struct PartDecodingTests {
  private let data: Data

  init() throws { data = try StowEncoder().encode(team) }

  @Test("are what stands at their paths")
  func single() throws {
    try expectPart(team, at: [], of: data)
    try expectPart(team.people, at: ["people"], of: data)
    for index in [0, 1, 127, 128, 129, 256, 299] {
      try expectPart(team.people[index], at: ["people", .index(index)], of: data)
      try expectPart(team.people[index].name, at: ["people", .index(index), "name"], of: data)
      try expectPart(team.people[index].age, at: ["people", .index(index), "age"], of: data)
    }
    try expectPart("tag 2", at: ["people", 3, "tags", 2], of: data)
    try expectPart(9.5, at: ["points", 2, 2], of: data)
    try expectPart([4.0, 5, 6], at: ["points", 1], of: data)
  }

  @Test("of each element are an array of any type that decodes itself from one")
  func each() throws {
    try expectPart(team.people.map(\.name), at: ["people", .each, "name"], of: data)
    try expectPart(Set(team.people.map(\.age)), at: ["people", .each, "age"], of: data)
    try expectPart(team.people, at: ["people", .each], of: data)
    try expectPart(Optional(team.people.map(\.name)), at: ["people", .each, "name"], of: data)
    try expectPart(ContiguousArray(team.people.map(\.age)), at: ["people", .each, "age"], of: data)
    try expectPart(team.points, at: ["points", .each, .each], of: data)
    try expectPart(team.points.map { $0[1] }, at: ["points", .each, 1], of: data)
    try expectPart(team.people.map(\.tags), at: ["people", .each, "tags", .each], of: data)
    try expectPart(StowValue.array(team.people.map { .string($0.name) }), at: ["people", .each, "name"], of: data)
    try expectPart(
      StowValue.array(team.people.map { .array($0.tags.map { .string($0) }) }),
      at: ["people", .each, "tags", .each], of: data)
    let bytes = try StowEncoder().encode([["n": 1], ["n": 255]] as [[String: UInt8]])
    try expectPart(Data([1, 255]), at: [.each, "n"], of: bytes)
  }

  @Test("of each row and each record are those of the whole")
  func eachKey() throws {
    struct Row: Codable {
      var double: Double, float: Float, integer: Int, small: UInt8, bool: Bool, date: Date, same = 7
    }
    struct Record: Codable {
      var text: String, integer: Int?, double: Double, last: String?
    }
    var rows: [Row] = []
    var records: [Record] = []
    for number in 0..<300 {
      let third = Double(number) / 3
      rows.append(
        Row(
          double: third, float: Float(third), integer: number * 1000 - 5, small: UInt8(number % 256),
          bool: number % 3 == 0, date: Date(timeIntervalSinceReferenceDate: third)))
      records.append(
        Record(
          text: "text \(number)", integer: number % 2 == 0 ? number : nil, double: third,
          last: number % 5 == 0 ? nil : "last"))
    }
    let table = try StowEncoder().encode(["rows": rows])
    try expectPart(rows.map(\.double), at: ["rows", .each, "double"], of: table)
    try expectPart(rows.map(\.float), at: ["rows", .each, "float"], of: table)
    try expectPart(rows.map(\.integer), at: ["rows", .each, "integer"], of: table)
    try expectPart(rows.map { Double($0.integer) }, at: ["rows", .each, "integer"], of: table)
    try expectPart(rows.map(\.small), at: ["rows", .each, "small"], of: table)
    try expectPart(rows.map(\.bool), at: ["rows", .each, "bool"], of: table)
    try expectPart(rows.map(\.date), at: ["rows", .each, "date"], of: table)
    try expectPart(rows.map(\.same), at: ["rows", .each, "same"], of: table)
    let list = try StowEncoder().encode(["records": records])
    try expectPart(records.map(\.text), at: ["records", .each, "text"], of: list)
    try expectPart(records.map(\.integer), at: ["records", .each, "integer"], of: list)
    try expectPart(records.map(\.double), at: ["records", .each, "double"], of: list)
    try expectPart(records.map(\.last), at: ["records", .each, "last"], of: list)
    func refuse<Value: Decodable>(_ type: Value.Type, _ path: StowPath, _ data: Data) {
      #expect(throws: DecodingError.self) { _ = try StowDecoder().decode(type, from: data, at: path) }
    }
    refuse([UInt8].self, ["rows", .each, "integer"], table)
    refuse([Int].self, ["rows", .each, "double"], table)
    refuse([Bool].self, ["rows", .each, "date"], table)
    refuse([Int].self, ["rows", .each, "other"], table)
    refuse([Int].self, ["records", .each, "integer"], list)
    refuse([String].self, ["records", .each, "last"], list)
    refuse([Int].self, ["records", .each, "text"], list)
    refuse([Int].self, ["records", .each, "other"], list)
  }

  @Test("of each value of an object are in the order of its keys")
  func eachValue() throws {
    let object: StowValue = ["b": ["x": 1], "a": ["x": 2, "y": 3], "c": ["x": 4]]
    let data = try object.encoded()
    try expectPart([1, 2, 4], at: [.each, "x"], of: data)
    try expectPart([[1], [2, 3], [4]], at: [.each, .each], of: data)
    try expectPart([nil, 3, nil] as [Int?], at: [.each, "y"], of: data)
  }

  @Test("through an unkeyed container that a type drives itself")
  func container() throws {
    struct Reader: Decodable, Equatable {
      var count: Int?
      var names: [String?] = []
      var left: Int?
      var nested: [Int] = []
      var ends = false

      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        count = container.count
        while !container.isAtEnd, names.count < 4 {
          if names.count == 1 { _ = try? container.decode(Int.self) }
          if names.count == 2, try container.decodeNil() { names.append(nil) }
          names.append(try container.decodeIfPresent(String.self))
        }
        left = container.count.map { $0 - container.currentIndex }
        var other = try decoder.unkeyedContainer()
        while !other.isAtEnd { nested.append(try other.superDecoder().codingPath.count) }
        do { _ = try other.decode(Int.self) } catch DecodingError.valueNotFound { ends = true }
      }
    }
    let rows: StowValue = [["n": "a"], ["n": .null], [:], ["n": "b"], ["n": "c"], ["n": "d"]]
    let message = try StowMessage(["rows": rows] as StowValue)
    let reader = try message.decode(Reader.self, at: ["rows", .each, "n"])
    #expect(reader.count == 6)
    #expect(reader.names == ["a", nil, nil, "b"])
    #expect(reader.left == 2)
    #expect(reader.nested == [3, 3, 2, 3, 3, 3])
    #expect(reader.ends)
  }

  @Test("nested containers of each element")
  func nestedContainers() throws {
    struct Reader: Decodable {
      var names: [String] = []
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
          names.append(try container.nestedContainer(keyedBy: Key.self).decode(String.self, forKey: .name))
        }
      }
      enum Key: String, CodingKey { case name }
    }
    struct Lists: Decodable {
      var first: [String?] = []
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
          var inner = try container.nestedUnkeyedContainer()
          first.append(try inner.decodeIfPresent(String.self))
        }
      }
    }
    let message = try StowMessage(from: data)
    #expect(try message.decode(Reader.self, at: ["people", .each]).names == team.people.map(\.name))
    #expect(try message.decode(Lists.self, at: ["people", .each, "tags"]).first == team.people.map(\.tags.first))
    #expect(
      try message.decode(Lists.self, at: ["people", .each, "tags", .each]).first
        == team.people.map(\.tags.first))
  }

  @Test("that are not there are the nil of an optional")
  func optionals() throws {
    try expectPart(team.people.map(\.nick), at: ["people", .each, "nick"], of: data)
    try expectPart(Int?.none, at: ["people", 300, "name"], of: data)
    try expectPart(Int?.none, at: ["people", -1], of: data)
    try expectPart(Int?.none, at: ["nobody", "name", 3], of: data)
    try expectPart(Int??.none, at: ["nobody"], of: data)
    let message = try StowMessage(["a": .null, "b": [.null, 1]] as StowValue)
    #expect(try message.decode(Int?.self, at: ["a", "b", 3]) == nil)
    #expect(try message.decode(Int?.self, at: ["a"]) == nil)
    #expect(try message.decode([Int?].self, at: ["b", .each]) == [nil, 1])
    #expect(try message.decode(StowValue.self, at: ["a"]) == .null)
  }

  @Test("an index in an object is the key that says it")
  func integerKeys() throws {
    try expectPart(2.5, at: ["scores", 12], of: data)
    try expectPart(2.5, at: ["scores", "12"], of: data)
    let rows = try StowEncoder().encode((0..<9).map { [1: $0, 2: $0 * 2] })
    try expectPart(16, at: [8, 2], of: rows)
    let message = try StowMessage(from: data)
    #expect(throws: DecodingError.self) { try message.decode(Double.self, at: ["scores", 4]) }
    #expect(try message.contains(["scores", 3]))
  }

  @Test("options of the decoder apply")
  func options() throws {
    struct Informed: Decodable, Equatable {
      let info: Int?
      init(from decoder: any Decoder) throws {
        info = decoder.userInfo[CodingUserInfoKey(rawValue: "k")!] as? Int
      }
    }
    let decoder = StowDecoder()
    decoder.userInfo[CodingUserInfoKey(rawValue: "k")!] = 5
    #expect(try decoder.decode(Informed.self, from: data, at: ["people"]).info == 5)
    let message = try decoder.message(from: data)
    decoder.userInfo = [:]
    #expect(try message.decode(Informed.self, at: ["people", 0]).info == 5)
    #expect(try message.decode([Informed].self, at: ["people", .each, "name"]).allSatisfy { $0.info == 5 })
    #expect(try decoder.message(from: data).decode(Informed.self).info == nil)
  }

  @Test("of messages that rely on a context")
  func contexts() throws {
    let context = try StowContext(learningFrom: [team, team])
    for names in [true, false] {
      for value in [team, Team(people: [], scores: [:], points: [], owner: team.people[3])] {
        let data = try StowEncoder(context, names: names).encode(["team": value, "other text": value])
        let decoder = names ? StowDecoder([context]) : StowDecoder([], implicit: context)
        let message = try decoder.message(from: data)
        #expect(try message.decode(Team.self, at: ["team"]) == value)
        #expect(try message.decode([String].self, at: ["team", "people", .each, "name"]) == value.people.map(\.name))
        #expect(try decoder.decode(String?.self, from: data, at: ["team", "owner", "name"]) == value.owner?.name)
        #expect(try message.keys(at: ["team"]) == StowValue(encoding: value).object?.keys)
        if names { #expect(throws: DecodingError.self) { try StowMessage(from: data) } }
      }
    }
  }

  @Test("may be read inside other values' decoding, and containers may be kept")
  func kept() throws {
    final class Keeper: Decodable {
      var container: any UnkeyedDecodingContainer
      init(from decoder: any Decoder) throws { container = try decoder.unkeyedContainer() }
    }
    let keeper: Keeper
    do {
      let message = try StowMessage(from: data)
      keeper = try message.decode(Keeper.self, at: ["people", .each, "name"])
    }
    for person in team.people { #expect(try keeper.container.decode(String.self) == person.name) }
    #expect(keeper.container.isAtEnd)

    struct Inner: Decodable {
      static let message = Result { try StowMessage(from: StowEncoder().encode(team)) }
      let name: String
      init(from decoder: any Decoder) throws {
        let age = try decoder.singleValueContainer().decode(Int.self)
        name = try Self.message.get().decode(String.self, at: ["people", .index(age), "name"])
      }
    }
    let message = try Inner.message.get()
    #expect(try message.decode([Inner].self, at: ["people", .each, "age"]).map(\.name) == team.people.map(\.name))
  }
}

extension StowMessage {
  fileprivate init(_ value: StowValue) throws { self = try StowMessage(from: value.encoded()) }
}
