import Foundation
import Stow
import Testing

@Suite("StowValue")
struct StowValueTests {
  private let sample: StowValue = [
    "name": "Ada", "tags": ["a", "b"], "level": 4.25, "count": 3, "on": true, "none": nil,
    "people": [["name": "Bea"], ["name": "Cem"]],
  ]

  @Test("a StowValue is made of literals and read by keys and indices")
  func access() {
    #expect(sample["name"]?.string == "Ada")
    #expect(sample["tags"]?[1]?.string == "b")
    #expect(sample["level"]?.double == 4.25)
    #expect(sample["count"]?.int == 3)
    #expect(sample["count"]?.double == 3)
    #expect(sample["on"]?.bool == true)
    #expect(sample["none"]?.kind == .null)
    #expect(sample["people"]?[1]?["name"] == "Cem")
    #expect(sample["people"]?.array?.count == 2)
    #expect(sample.object?.keys == ["name", "tags", "level", "count", "on", "none", "people"])
    #expect(sample["nothing"] == .none)
    #expect(sample[0] == .none)
    #expect(sample["tags"]?[2] == .none)
    #expect(sample["tags"]?[-1] == .none)
    #expect(sample["tags"]?["a"] == .none)
    let number = 7
    #expect("\(number)" as StowValue == .string("7"))
  }

  @Test("a StowValue is made from integers of every type, exactly or not at all")
  func integers() {
    let small: [StowValue] = [
      StowValue(7 as Int), StowValue(7 as Int8), StowValue(7 as Int16), StowValue(7 as Int32),
      StowValue(7 as Int64), StowValue(7 as Int128), StowValue(7 as UInt), StowValue(7 as UInt8),
      StowValue(7 as UInt16), StowValue(7 as UInt32), StowValue(7 as UInt64), StowValue(7 as UInt128),
    ]
    #expect(small == Array(repeating: 7, count: 12))
    #expect(StowValue(Int128.min) == .integer(.min) && StowValue(exactly: Int128.min) == .integer(.min))
    #expect(StowValue(UInt128.max) == .unsignedInteger(.max))
    #expect(StowValue(exactly: UInt128.max) == .unsignedInteger(.max))
    #expect(StowValue(exactly: 7 as WideInteger) == 7 && StowValue(exactly: -7 as WideInteger) == -7)
    #expect(StowValue(exactly: WideInteger(UInt128.max)) == .unsignedInteger(.max))
    #expect(StowValue(exactly: WideInteger(words: [7, 0, 1, 0])) == nil)
    #expect(StowValue(exactly: WideInteger(words: [7, 0, .max, .max])) == nil)
  }

  @Test("a StowValue has an accessor for each kind, which is nil for all others")
  func accessors() {
    let id = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let url = URL(string: "https://example.org")
    let all: [StowValue] = [
      .null, true, 5, 1.5, "text", .data(Data([1])), .date(date), .uuid(id), .url("https://example.org"),
      .decimal(Decimal(7)), [], [:],
    ]
    func holds<Value: Equatable>(_ kinds: [Int], _ value: Value, _ get: (StowValue) -> Value?) {
      #expect(all.indices.filter { get(all[$0]) == value } == kinds)
      #expect(all.indices.filter { get(all[$0]) != nil } == kinds)
    }
    #expect(all.indices.filter { all[$0].kind == .null } == [0])
    holds([1], true) { $0.bool }
    holds([2], 5) { $0.int }
    #expect(all.compactMap(\.double) == [5, 1.5])
    holds([4], "text") { $0.string }
    holds([5], Data([1])) { $0.data }
    holds([6], date) { $0.date }
    holds([7], id) { $0.uuid }
    holds([8], url) { $0.url }
    holds([9], Decimal(7)) { $0.decimal }
    holds([10], []) { $0.array }
    holds([11], [:]) { $0.object }
    #expect(StowValue(UInt64.max).int == nil)
    #expect(StowValue(UInt128.max) == .unsignedInteger(.max))
    #expect(StowValue(Int8(-3)) == -3)
    #expect(StowValue.unsignedInteger(.max).double == 0x1p128)
    #expect(StowValue.float(0.5).double == 0.5)
    #expect(StowValue.url("http://[").url == nil)
    #expect(url.map { StowValue.url($0) } == .url("https://example.org"))
  }

  @Test("a StowValue is changed by keys and indices")
  func changing() {
    var value = sample
    value["people"]?[0]?["name"] = "Dan"
    value["people"]?[0]?["age"] = 7
    value["people"]?[2] = "new"
    value["tags"]?[0] = nil
    value["level"] = nil
    value["none"] = .null
    value["nothing"]?["x"] = 1
    #expect(
      value == [
        "name": "Ada", "tags": ["b"], "count": 3, "on": true, "none": nil,
        "people": [["name": "Dan", "age": 7], ["name": "Cem"], "new"],
      ])
    #expect(sample["people"]?[0]?["name"] == "Bea")
    var other: StowValue = 5
    other["a"] = nil
    other[0] = nil
    #expect(other == 5)
    other["a"] = 1
    #expect(other == ["a": 1])
    other[0] = true
    #expect(other == [true])
  }

  @Test("an object or array is empty after the last of its values is removed")
  func removingTheLast() {
    var value: StowValue = ["object": ["key": 1], "list": [1], "text": "x"]
    value["object"]?["key"] = nil
    value["list"]?[0] = nil
    value["text"]?["key"] = nil
    value["text"]?[0] = nil
    #expect(value == ["object": [:], "list": [], "text": "x"])
    for key in ["object", "list", "text"] { value[key] = nil }
    #expect(value == [:])
  }

  @Test("a StowValue is changed in place")
  func inPlace() throws {
    var value: StowValue = ["list": .array(Array(repeating: .object(["a": [0]]), count: 1000))]
    // Copies would take a thousand times as many steps: minutes.
    for round in 0..<50 {
      for index in 0..<1000 { value["list"]?[index]?["a"]?[round] = StowValue(index) }
    }
    #expect(value["list"]?[999]?["a"]?.array?.count == 50)
    #expect(value["list"]?[999]?["a"]?[49] == 999)
  }

  @Test("a StowValue keeps all its values if changing one of them throws")
  func failing() {
    func fail(_ value: inout StowValue?) throws {
      value?["b"] = 2
      throw Refusal()
    }
    var value: StowValue = ["a": ["b": 1], "c": [["b": 1]]]
    #expect(throws: Refusal.self) { try fail(&value["a"]) }
    #expect(throws: Refusal.self) { try fail(&value["c"]![0]) }
    #expect(throws: Refusal.self) { try fail(&value["d"]) }
    #expect(value == ["a": ["b": 2], "c": [["b": 2]]])
  }

  @Test("values that are written alike are equal and have equal hashes")
  func equality() {
    let equal: [[StowValue]] = [
      [.null, .nestedNull(level: 0), .nestedNull(level: -5), nil],
      [.nestedNull(level: 1)], [.nestedNull(level: 255), .nestedNull(level: 1000)],
      [true], [false], [1, .unsignedInteger(1), StowValue(1 as UInt8)], [.unsignedInteger(.max)],
      [1.0, .float(1)], [0.0], [-0.0], [.double(.nan)], [.float(.nan)], [.float(.signalingNaN)],
      ["a"], ["é", "e\u{301}"], [.url("a")], [.data(Data())],
      [.date(Date(timeIntervalSinceReferenceDate: 1))],
      [.date(Date(timeIntervalSinceReferenceDate: .nan))], [.decimal(1)], [.decimal(.nan)],
      [[]], [[nil]], [[:]], [["a": 1, "b": 2], ["b": 2, "a": 1]], [["a": 1, "b": 3]],
      [["é": 1]], [["e\u{301}": 1]], [["é": 1, "e\u{301}": 2], ["e\u{301}": 2, "é": 1]],
    ]
    for (index, group) in equal.enumerated() {
      for (other, otherGroup) in equal.enumerated() {
        for left in group {
          for right in otherGroup {
            #expect((left == right) == (index == other), "\(left) and \(right)")
            if index == other { #expect(left.hashValue == right.hashValue, "\(left) and \(right)") }
          }
        }
      }
    }
    #expect(Set(equal.joined()).count == equal.count)
  }

  @Test("the description of a StowValue is in diagnostic notation")
  func description() {
    let value: StowValue = [
      "a": [1, -2.5, nil, true], "b\"\n\u{1}": "\\", "c": .data(Data([1, 2, 3])), "d": .url("u:v"),
      "e": .date(Date(timeIntervalSinceReferenceDate: 5)), "f": .decimal(Decimal(1) / 8),
      "g": .nestedNull(level: 2),
      "h": .unsignedInteger(.max), "i": .float(.nan), "j": [:], "k": [],
    ]
    #expect(
      value.description == #"""
        {"a": [1, -2.5, null, true], "b\"\n\u0001": "\\", "c": data"AQID", "d": url"u:v", \#
        "e": date"2001-01-01T00:00:05Z", "f": decimal"0.125", "g": null(2), \#
        "h": 340282366920938463463374607431768211455, "i": nan(0x7fc00000), "j": {}, "k": []}
        """#)
    let id = UUID()
    #expect(StowValue.uuid(id).description == "uuid\"\(id.uuidString)\"")
    #expect(StowValue(9_999_999_999_999_998.0).description == "9999999999999998.0")
    #expect(StowValue(-9_007_199_254_740_994.0).description == "-9007199254740994.0")
    #expect(StowValue(1e16).description == "1e+16" && StowValue(0x1p53).description == "9007199254740992.0")
    #expect(StowValue.date(.distantFuture).description == #"date"4001-01-01T00:00:00Z""#)
    #expect(StowValue.date(Date(timeIntervalSinceReferenceDate: 1e300)).description == "date(1e+300)")
  }
}

@Suite("StowObject")
struct StowObjectTests {
  @Test("a StowObject keeps the order of its keys, each of which occurs once")
  func order() {
    var object: StowObject = ["b": 1, "a": 2, "b": 3]
    #expect(object.keys == ["b", "a"])
    #expect(object.values == [3, 2])
    object["c"] = 4
    object["b"] = 5
    #expect(object.map(\.key) == ["b", "a", "c"])
    #expect(object.map(\.value) == [5, 2, 4])
    #expect(object.removeValue(forKey: "a") == 2)
    #expect(object.removeValue(forKey: "a") == nil)
    #expect(object.keys == ["b", "c"])
    #expect(object.keys.firstIndex(of: "c") == 1)
    #expect(object[1].key == "c" && object[1].value == 4)
    #expect(object.count == 2 && !object.isEmpty && StowObject().isEmpty)
    object["é"] = 1
    object["e\u{301}"] = 2
    object["é"] = 3
    #expect(object.count == 4 && object["é"] == 3 && object["e\u{301}"] == 2)
    #expect(object.description.utf8.elementsEqual("{\"b\": 5, \"c\": 4, \"é\": 3, \"e\u{301}\": 2}".utf8))
  }

  @Test("a StowObject finds its keys among 100,000, and its copies do not change")
  func many() {
    forEachCase(of: [0, 1, 7, 8, 9, 10, 1000, 100_000]) { (count: Int) in
      var object = StowObject((0..<count).map { ("key \($0)", StowValue($0)) })
      #expect(object.count == count)
      for index in stride(from: 0, to: count, by: 7) { #expect(object["key \(index)"]?.int == index) }
      #expect(object["key \(count)"] == nil)
      let copy = object
      object["key \(count)"] = "last"
      object["key 0"] = nil
      #expect(copy.count == count && copy["key \(count)"] == nil)
      #expect(object["key \(count)"] == (count == 0 ? nil : "last"))
      if count > 2 { #expect(object["key 1"]?.int == 1 && object.keys.first == "key 1") }
      let backwards = StowObject(copy.reversed().map { ($0.key, $0.value) })
      #expect(backwards == copy && backwards.hashValue == copy.hashValue)
    }
  }

  @Test("eight tasks can read a StowObject at once")
  func threads() async {
    let object = StowObject((0..<1000).map { ("key \($0)", StowValue($0)) })
    await withTaskGroup(of: Bool.self) { group in
      for thread in 0..<8 {
        group.addTask { (0..<1000).allSatisfy { object["key \(($0 + thread) % 1000)"]?.int == ($0 + thread) % 1000 } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
