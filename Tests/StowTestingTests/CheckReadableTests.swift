import Foundation
import Stow
import StowRecords
import Testing

@testable import StowTesting

/// A folder that goes with the test.
final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "StowTesting-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []).sorted()
  }

  func add(_ bytes: Data, named name: String? = nil) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try bytes.write(to: url.appending(path: name ?? ReadabilityCheck<Int>.name(of: bytes)))
  }

  func record<Value: Codable>(_ values: [Value]) {
    #expect(problems(Value.self, values, isRecording: true) == [])
  }

  /// Records values whose type does not read all files of the folder.
  func recordRegardless<Value: Codable>(_ values: [Value]) { _ = problems(Value.self, values, isRecording: true) }

  /// Everything that is wrong, without the first line.
  func problems<Value: Codable>(
    _ type: Value.Type, _ samples: [Value] = [], dropping: Set<String> = [], defaults: Value? = nil,
    isRecording: Bool = false
  ) -> [String] {
    let check = ReadabilityCheck(dropping: dropping, defaults: defaults, encoder: StowEncoder(), decoder: StowDecoder())
    check.check(samples, in: url, isRecording: isRecording)
    return lines { try check.finish() }
  }

  func notes<Value: Codable>(_ samples: [Value]) -> [String] {
    let check = ReadabilityCheck<Value>(dropping: [], defaults: nil, encoder: StowEncoder(), decoder: StowDecoder())
    check.check(samples, in: url, isRecording: true)
    return check.notes
  }
}

/// The lines of the error that `body` throws, without the first.
func lines(_ body: () throws -> Void) -> [String] {
  do { try body() } catch {
    return "\(error)".split(separator: "\n").dropFirst().map { String($0.dropFirst(2)) }
  }
  return []
}

@Suite("An app of three versions")
struct ThreeVersionsTests {
  private let folder = TemporaryFolder()

  init() {
    folder.recordRegardless(First.orders)
    folder.recordRegardless(Second.orders)
    folder.recordRegardless(Third.orders)
  }

  @Test("each shape of data is recorded as one file, even if it is recorded again")
  func files() {
    let names = folder.names
    #expect(names.count == 6)
    folder.recordRegardless(First.orders + First.orders)
    #expect(folder.names == names)
  }

  @Test("the last version reads what all versions wrote")
  func last() throws {
    #expect(
      folder.problems(
        Third.Order.self, Third.orders, dropping: ["coupon"], defaults: Third.Order()) == [])
    let order = try StowDecoder().decode(
      Third.Order.self, from: StowEncoder().encode(First.orders[0]), defaults: Third.Order())
    #expect(
      order
        == Third.Order(
          customer: "Ada", total: 12.5, note: "gift", delivery: .shipping(weight: 3),
          lines: [Third.Line(article: "pen", count: 2)]))
    let other = try StowDecoder().decode(
      Third.Order.self, from: StowEncoder().encode(Second.orders[1]), defaults: Third.Order())
    #expect(other == Third.Order(customer: "Di", total: 4, phone: nil))
  }

  @Test("logs of all versions are read, and a lost property is reported with its record")
  func logs() throws {
    let url = folder.url.appending(path: "orders.stowlog")
    let log = try RecordLog(at: url)
    for order in First.orders { try log.append(order) }
    for order in Second.orders { try log.append(order) }
    for order in Third.orders { try log.append(order) }
    try log.close()
    let names = try RecordLogReader(at: url).records.prefix(4).map { try $0.decode(Second.Order.self).customer }
    #expect(names == ["Ada", "Bo", "Cy", "Di"])
    try checkReadable(Third.Order.self, in: url, dropping: ["coupon"], defaults: Third.Order())
    let problems = lines { try checkReadable(Third.Order.self, in: url, defaults: Third.Order()) }
    #expect(
      problems.count == 1
        && problems[0].hasPrefix("record 0 of orders.stowlog: coupon: \"A1\" was read as nothing."))
  }

  @Test("streams of the first version are read")
  func streams() throws {
    let (encoder, decoder) = (RecordStreamEncoder(), RecordStreamDecoder())
    for order in First.orders + First.orders { decoder.feed(try encoder.encode(order)) }
    var orders: [Second.Order] = []
    while let order = try decoder.next(Second.Order.self) { orders.append(order) }
    #expect(orders.map(\.customer) == ["Ada", "Bo", "Ada", "Bo"])
  }

  @Test("earlier versions read data of later ones if nothing they need was renamed")
  func backwards() throws {
    let second = TemporaryFolder()
    second.record(Second.orders)
    // The second version reads the first's data, and says what it drops; the first needs the name it knows.
    #expect(
      folder.problems(Second.Order.self, dropping: ["coupon"]).contains {
        $0.contains("Delivery lacks the case \"shipping\"")
      })
    #expect(second.problems(First.Order.self).contains { $0.contains("client: the program requires it now") })
    let third = try StowEncoder().encode(Third.Order(customer: "Gil", total: 1, phone: "1"))
    let read = try StowDecoder().decode(Second.Order.self, from: third)
    #expect(read == Second.Order(customer: "Gil", total: 1, note: "none", delivery: .pickup, lines: [], phone: "1"))
  }
}

@Suite("Careless changes")
struct CarelessChangeTests {
  private let folder = TemporaryFolder()

  private struct Order: Codable {
    var customerName: String?
    var total: Decimal
    var kind = Kind.fast
    var lines = [Line(note: "n", count: 1)]
    var delivery = Delivery.parcel(weight: 1)
  }
  private enum Kind: String, Codable, CaseIterable { case fast, slow }
  private struct Line: Codable {
    var note: String?
    var count: Int
  }
  private enum Delivery: Codable {
    case parcel(weight: Int)
    case pickup
  }

  private func expect<Changed: Codable>(
    _ type: Changed.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    folder.record([Order(customerName: "Ada", total: 3)])
    let problems = folder.problems(type)
    #expect(problems == ["\(folder.names[0]): \(text)"], sourceLocation: sourceLocation)
  }

  @Test("a renamed optional is a loss") func renamed() {
    struct Changed: Codable {
      var customer: String?
      var total: Decimal
      var kind: Kind
      var lines: [Line]
      var delivery: Delivery
    }
    expect(
      Changed.self,
      "customerName: \"Ada\" was read as nothing. If \"customerName\" has another name now, list it in the formerNames of "
        + "its CodingKeys. If that is meant, add \"customerName\" to dropping.")
    #expect(folder.problems(Changed.self, dropping: ["customerName"]) == [])
  }

  @Test("a removed property within an array is a loss") func removed() {
    struct Changed: Codable {
      struct Line: Codable { var count: Int }
      var customerName: String?
      var total: Decimal
      var kind: Kind
      var lines: [Line]
      var delivery: Delivery
    }
    expect(
      Changed.self,
      "lines[].note: \"n\" was read as nothing. If \"note\" has another name now, list it in the formerNames of its "
        + "CodingKeys. If that is meant, add \"lines[].note\" to dropping.")
    #expect(folder.problems(Changed.self, dropping: ["lines[].note"]) == [])
  }

  @Test("a renamed required property is reported") func required() {
    struct Changed: Codable {
      var customerName: String?
      var price: Decimal
    }
    expect(
      Changed.self,
      "price: the program requires it now, and earlier data lacks it. If it had another name, list that in the formerNames "
        + "of its CodingKeys; if it is new, make it optional or pass a template as defaults.")
  }

  @Test("a removed case with associated values is reported") func removedCase() {
    enum Delivery: Codable {
      case shipping(weight: Int)
      case pickup
    }
    struct Changed: Codable { var delivery: Delivery }
    expect(
      Changed.self,
      "delivery: Delivery lacks the case \"parcel\" of earlier data. If it has another name now, list \"parcel\" in the "
        + "formerNames of its CodingKeys; if it was removed, keep it.")
  }

  @Test("a removed raw value is reported") func rawCase() {
    enum Kind: String, Codable { case slow }
    struct Changed: Codable { var kind: Kind }
    expect(
      Changed.self,
      "kind: Cannot initialize Kind from invalid String value fast. Earlier data has \"fast\" there. If a case was renamed or "
        + "removed, let init?(rawValue:) accept its old value.")
  }

  @Test("a changed type is reported") func type() {
    struct Changed: Codable { var customerName: Int? }
    folder.record([Order(customerName: "Ada", total: 3)])
    let problem = folder.problems(Changed.self)[0]
    #expect(problem.contains("customerName: Expected a value of type Int, but found a string"))
    #expect(problem.hasSuffix("Earlier data has \"Ada\" there."))
  }

  @Test("a value that is read as another is reported") func changed() throws {
    struct Changed: Codable {
      var level: Double
      var list: [Int]
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        level = try container.decode(Double.self, forKey: .level).rounded()
        list = try container.decode([Int].self, forKey: .list).filter { $0 > 1 }
      }
    }
    try folder.add(StowValue.object(["level": 2.75, "list": [1, 2]]).encoded())
    let name = folder.names[0]
    #expect(
      folder.problems(Changed.self) == [
        "\(name): level: 2.75 was read as 3.0. If that is meant, add \"level\" to dropping.",
        "\(name): list: [1, 2] was read as [2]. If that is meant, add \"list\" to dropping.",
      ])
    // An integer that is now a floating-point number of the same value has not changed.
    struct Level: Codable { var level: Double }
    let other = TemporaryFolder()
    try other.add(StowValue.object(["level": 2]).encoded())
    #expect(other.problems(Level.self) == [])
    // Neither has another number that is now decimal.
    struct Exact: Codable { var level: Decimal }
    try other.add(StowValue.object(["level": 2.75]).encoded())
    #expect(other.problems(Exact.self) == [])
    try other.add(StowValue.object(["level": StowValue(1 << 53 + 1)]).encoded())
    #expect(other.problems(Level.self).count == 1)
  }

  @Test("a nil whose property is now required is reported") func required2() throws {
    struct Changed: Codable { var name: String }
    try folder.add(StowValue.object(["name": .null]).encoded())
    #expect(
      folder.problems(Changed.self) == [
        "\(folder.names[0]): name: the program requires it now, and it is nil in earlier data. Make it optional."
      ])
    // A default that came in is no loss.
    struct Kept: Codable {
      var name: String
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? "none"
      }
    }
    #expect(folder.problems(Kept.self) == [])
  }

  @Test("a value of a different kind and an error of the program are reported") func whole() throws {
    struct Refusing: Codable {
      struct Refusal: Error {}
      init(from decoder: any Decoder) throws { throw Refusal() }
    }
    try folder.add(StowEncoder().encode(5))
    #expect(folder.problems(String.self)[0].contains("the whole value: Expected a value of type String"))
    #expect(folder.problems(Refusing.self)[0].hasSuffix("It cannot be read and written again: Refusal()"))
  }

  @Test("two keys with one former name are reported") func ambiguous() {
    struct Changed: Codable {
      var a: Int?
      var b: Int?
      enum CodingKeys: CodingKey, StowFormerNames {
        case a, b
        static let formerNames: [CodingKeys: [String]] = [.a: ["c"], .b: ["c"]]
      }
    }
    let problems = folder.problems(Changed.self, [Changed(a: 1, b: 1)], isRecording: true)
    #expect(problems.count == 1 && problems[0].contains("\"c\" is a former name of both \"a\" and \"b\""))
  }
}

@Suite("Folders of messages")
struct FolderTests {
  private let folder = TemporaryFolder()
  private let run = "Run this test once with STOW_RECORD=1 in the environment, and commit the files that it writes."

  @Test("a missing or empty folder is reported") func empty() throws {
    let problem = "\(folder.url.lastPathComponent): The folder is missing or empty, so that nothing is checked. \(run)"
    #expect(folder.problems(Int.self, [1]) == [problem])
    try folder.add(Data(), named: "README.md")
    #expect(folder.problems(Int.self, [1]) == [problem])
    #expect(folder.problems(Int.self, isRecording: true) == [problem])
    folder.record([1])
    #expect(folder.names == ["README.md", ReadabilityCheck<Int>.name(of: try StowEncoder().encode(1))].sorted())
    #expect(folder.problems(Int.self, [1]) == [])
  }

  @Test("a changed or renamed file and a file that is not a message are reported") func changed() throws {
    try folder.add(StowEncoder().encode(1), named: "one.stow")
    #expect(
      folder.problems(Int.self) == [
        "one.stow: The file was changed or renamed: its name would be \(ReadabilityCheck<Int>.name(of: try StowEncoder().encode(1)))."
      ])
    let other = TemporaryFolder()
    try other.add(Data([0xFF, 0xFF]))
    #expect(other.problems(Int.self)[0].hasPrefix("\(other.names[0]): It cannot be read or written: "))
  }

  @Test("a sample of a new shape must be recorded") func shapes() throws {
    struct Item: Codable {
      var a: Int?
      var b: String?
    }
    folder.record([Item(a: 1, b: nil)])
    #expect(folder.problems(Item.self, [Item(a: 2, b: nil)]) == [])
    #expect(
      folder.problems(Item.self, [Item(a: 2, b: "x")])
        == ["samples[0]: No file has data of this shape: b (string). \(run)"])
    folder.record([Item(a: nil, b: "x")])
    #expect(
      folder.problems(Item.self, [Item(a: 2, b: nil), Item(a: 2, b: "x")])
        == ["samples[1]: No file has data of this shape. \(run)"])
    #expect(folder.names.count == 2)
    folder.record([Item(a: 2, b: "x"), Item(a: 3, b: "y")])
    #expect(folder.names.count == 3)
    #expect(folder.problems(Item.self, [Item(a: 5, b: "z")]) == [])
  }

  @Test("a sample that cannot be encoded or written is reported") func failures() throws {
    struct Broken: Codable {
      struct Refusal: Error {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    #expect(folder.problems(Broken.self, [Broken()])[0] == "samples[0]: It cannot be read or written: Refusal()")
    try folder.add(Data(), named: "file")
    let check = ReadabilityCheck<Int>(dropping: [], defaults: nil, encoder: StowEncoder(), decoder: StowDecoder())
    check.check([1], in: folder.url.appending(path: "file"), isRecording: true)
    #expect(lines { try check.finish() }.first?.hasPrefix("samples[0]: It cannot be read or written: ") == true)
  }

  @Test("keys of dictionaries count as data, and unordered values are compared regardless of order")
  func unordered() throws {
    struct Bag: Codable {
      var names: Set<String>
      var prices: [String: Item]
      var days: [Day: Int]
    }
    struct Item: Codable { var price: Int? }
    struct Day: Codable, Hashable { var day: Int }
    let names = (0..<20).map { "\($0)" }
    func bag(_ keys: [String]) -> Bag {
      Bag(
        names: Set(keys), prices: [keys[0]: Item(price: 1)],
        days: Dictionary(uniqueKeysWithValues: (0..<20).map { (Day(day: $0), $0) }))
    }
    folder.record([bag(names)])
    #expect(folder.problems(Bag.self, [bag(names.reversed())]) == [])
    struct Changed: Codable {
      struct Item: Codable {}
      var names: Set<String>
      var prices: [String: Item]
      var days: [Day: Int]
    }
    #expect(folder.problems(Changed.self)[0].contains("prices[].price: 1 was read as nothing."))
  }

  @Test("notes list optionals and cases that no sample has") func notes() {
    enum Kind: String, Codable, CaseIterable { case fast, slow }
    enum Delivery: Codable {
      case parcel(weight: Int)
      case pickup
      enum CodingKeys: CodingKey, CaseIterable { case parcel, pickup }
    }
    struct Line: Codable { var note: String? }
    struct Order: Codable {
      var name: String?
      var kind: Kind
      var lines: [Line]
      var delivery: Delivery
      var size: Int128 = 1
      var at = Date(timeIntervalSinceReferenceDate: 0)
    }
    func notes(_ words: String...) -> [String] {
      words.map { "Note: no sample of Order has \($0): it is not checked." }
    }
    let order = Order(name: nil, kind: .fast, lines: [Line(note: nil)], delivery: .parcel(weight: 1))
    #expect(folder.notes([order]) == notes("\"slow\" as kind", "delivery.pickup", "lines[].note", "name"))
    let other = Order(name: "a", kind: .slow, lines: [Line(note: "b")], delivery: .pickup)
    #expect(folder.notes([order, other]) == [])
    // Parts that only the files have count, too.
    let bare = Order(name: "a", kind: .slow, lines: [], delivery: .pickup)
    #expect(
      folder.notes([bare])
        == notes("\"fast\" as kind", "delivery.parcel", "delivery.parcel.weight", "lines[]", "lines[].note"))
  }

  @Test("notes cover the optionals in containers of all kinds") func containers() throws {
    struct Odd: Codable {
      var name: String?
      enum Keys: CodingKey { case list, inner, name, base }
      init() {}
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        _ = try list.nestedContainer(keyedBy: Keys.self).decodeIfPresent(String.self, forKey: .name)
        var inner = try list.nestedUnkeyedContainer()
        _ = try inner.superDecoder().singleValueContainer().decode(Int?.self)
        _ = try (inner.decode(Int128.self), inner.decode(UInt128.self), inner.decodeNil())
        let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
        name = try nested.decodeIfPresent(String.self, forKey: .name)
        _ = try nested.decode(Int128.self, forKey: .list) + Int128(nested.decode(UInt128.self, forKey: .base))
        _ = try container.superDecoder().singleValueContainer().decode(Int128.self)
        _ = try container.superDecoder(forKey: .base).singleValueContainer().decode(UInt128.self)
      }
      func encode(to encoder: any Encoder) throws {
        try
          (["list": [[:], [1, 2, 3, .null]], "inner": ["list": 1, "base": 2], "super": 4, "base": 5]
          as StowValue)
          .encode(to: encoder)
      }
    }
    folder.record([Odd()])
    #expect(
      folder.notes([Odd()])
        == ["inner.name", "list[].name"].map { "Note: no sample of Odd has \($0): it is not checked." })
  }

  #if os(Linux)
    @Test("the environment enables recording, and paths may contain ..") func environment() async throws {
      await #expect(processExitsWith: .success) {
        let folder = TemporaryFolder()
        let url = folder.url.appending(path: "File.swift").appending(path: "../Numbers")
        do {
          try checkReadable(Int.self, samples: [1], in: url)
          exit(1)
        } catch {}
        setenv("STOW_RECORD", "1", 1)
        try checkReadable(Int.self, samples: [1], in: url)
        unsetenv("STOW_RECORD")
        try checkReadable(Int.self, samples: [2], in: url)
        exit(folder.names == ["Numbers"] ? 0 : 1)
      }
    }
  #endif
}

@Suite("Logs")
struct LogTests {
  private let folder = TemporaryFolder()

  private func log(_ values: [Int]) throws -> URL {
    try folder.add(Data(), named: "other")
    let url = folder.url.appending(path: "log")
    let log = try RecordLog(at: url)
    for value in values { try log.append(value) }
    try log.close()
    return url
  }

  @Test("an empty log, a missing one and a damaged one are reported") func wrong() throws {
    let missing = folder.url.appending(path: "none")
    #expect(lines { try checkReadable(Int.self, in: missing) }[0].hasPrefix("none: It cannot be read or written: "))
    let url = try log([])
    #expect(
      lines { try checkReadable(Int.self, in: url) } == ["log: The log has no records, so that nothing is checked."])
    // Different values that are lost in one way are one problem.
    let changed = try log([1, 2, 3])
    struct Zero: Codable {
      init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Int.self) }
      func encode(to encoder: any Encoder) throws { try 0.encode(to: encoder) }
    }
    #expect(
      lines { try checkReadable(Zero.self, in: changed) } == [
        "record 0 of log: the whole value: 1 was read as 0. If that is meant, add \"\" to dropping."
      ])
    try FileManager.default.removeItem(at: changed)
    let full = try log((0..<100).map { $0 })
    try checkReadable(Int.self, in: full)
    var bytes = try Data(contentsOf: full)
    bytes[bytes.count / 2] ^= 0xFF
    try bytes.write(to: full)
    #expect(lines { try checkReadable(Int.self, in: full) }.contains { $0.hasPrefix("log: The log is damaged: ") })
  }
}
