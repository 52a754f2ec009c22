import Foundation
import Stow

// Types that are generic over whether they have a table of fields, so that both can be compared.

enum Tabled: Sendable {}
enum Untabled: Sendable {}

struct FieldPoint<Table: Sendable>: Codable, Equatable, Sendable {
  var x, y, z: Double
}

extension FieldPoint: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(x:y:z:), Field("x", \.x), Field("y", \.y), Field("z", \.z))
  }
}

/// A type whose rows are a single column.
struct FieldLevel<Table: Sendable>: Codable, Equatable, Sendable {
  var level: UInt8
}

extension FieldLevel: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> { FieldTable(Self.init(level:), Field("level", \.level)) }
}

/// A type whose keys other values write too.
struct FieldPair<Table: Sendable>: Codable, Equatable, Sendable {
  var first, second: Int

  enum CodingKeys: CodingKey { case first, second }
}

extension FieldPair: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(first:second:), Field("first", \.first), Field("second", \.second))
  }
}

struct FieldNote<Table: Sendable>: Codable, Equatable, Sendable {
  var id: Int
  var name: String
  var flag: Bool
  var value: Double
  var note: String?
}

extension FieldNote: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(id:name:flag:value:note:), Field("id", \.id), Field("name", \.name), Field("flag", \.flag),
      Field("value", \.value), Field("note", \.note))
  }
}

enum FieldGender: String, Codable, CaseIterable, Sendable {
  case female, male, nonbinary, undisclosed
}

enum FieldRank: Int, Codable, CaseIterable, Sendable {
  case low = -1
  case middle
  case high = 1_000_000_000_000
}

struct FieldAddress<Table: Sendable>: Codable, Equatable, Sendable {
  var street: String
  var city: String
  var latitude: Double

  private enum CodingKeys: String, CodingKey {
    case street
    case city = "town"
    case latitude = "lat"
  }
}

extension FieldAddress: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(street:city:latitude:), Field("street", \.street), Field("town", \.city),
      Field("lat", \.latitude))
  }
}

struct FieldPerson<Table: Sendable>: Codable, Equatable, Sendable where FieldAddress<Table>: Codable {
  var id: Int
  var name: String
  var isActive: Bool
  var balance: Double
  var gender: FieldGender
  var address: FieldAddress<Table>
  var former: [FieldAddress<Table>]
  var byName: [String: FieldAddress<Table>]
  var tags: [String]
  var nickname: String?
  var managerID: Int?
  var score: Double?
  var second: FieldAddress<Table>?
  var former2: FieldGender?
}

extension FieldPerson: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(id:name:isActive:balance:gender:address:former:byName:tags:nickname:managerID:score:second:former2:),
      Field("id", \.id), Field("name", \.name), Field("isActive", \.isActive), Field("balance", \.balance),
      Field("gender", \.gender), Field("address", \.address), Field("former", \.former),
      Field("byName", \.byName), Field("tags", \.tags), Field("nickname", \.nickname),
      Field("managerID", \.managerID), Field("score", \.score), Field("second", \.second),
      Field("former2", \.former2))
  }
}

/// Scalars of every type, and optionals of some.
struct FieldScalars<Table: Sendable>: Codable, Equatable, Sendable {
  var a: Int8
  var b: UInt16
  var c: Int32
  var d: UInt64
  var e: Int128
  var f: Float
  var g: Date
  var h: UUID
  var i: Data
  var j: Decimal
  var k: Bool?
  var l: UInt16?
  var m: Date?
  var n: Int??
  var o: FieldRank
  var p: ClosedRange<Int32>
  var q: [Double]
}

extension FieldScalars: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(a:b:c:d:e:f:g:h:i:j:k:l:m:n:o:p:q:), Field("a", \.a), Field("b", \.b), Field("c", \.c),
      Field("d", \.d), Field("e", \.e), Field("f", \.f), Field("g", \.g), Field("h", \.h), Field("i", \.i),
      Field("j", \.j), Field("k", \.k), Field("l", \.l), Field("m", \.m), Field("n", \.n), Field("o", \.o),
      Field("p", \.p), Field("q", \.q))
  }
}

/// Of cells of rows only: a table of the format.
struct FieldRow<Table: Sendable>: Codable, Equatable, Sendable {
  var id: Int
  var small: Int8
  var at: Date
  var value: Double
  var flag: Bool
  var same: String
  var none: Int?
  var maybe: Double?
}

/// The same, with columns that are not decoded at once.
struct FieldCaseRow<Table: Sendable>: Codable, Equatable, Sendable {
  var id: Int
  var gender: FieldGender
  var rank: FieldRank
  var other: FieldGender?
  var list: [Int]
}

extension FieldCaseRow: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(id:gender:rank:other:list:), Field("id", \.id), Field("gender", \.gender),
      Field("rank", \.rank), Field("other", \.other), Field("list", \.list))
  }
}

/// An object without others, some of whose cases are texts, and some integers.
struct FieldCard<Table: Sendable>: Codable, Sendable {
  var gender: FieldGender
  var name: String?
  var rank: FieldRank?
  var level: Float?
  var size: UInt64
  var count: Int8
}

extension FieldCard: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(gender:name:rank:level:size:count:), Field("gender", \.gender), Field("name", \.name),
      Field("rank", \.rank), Field("level", \.level), Field("size", \.size), Field("count", \.count))
  }
}

/// An object that may be empty.
struct FieldNothing<Table: Sendable>: Codable, Sendable {
  var text: String?
  var rank: FieldRank?
}

extension FieldNothing: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(text:rank:), Field("text", \.text), Field("rank", \.rank))
  }
}

extension FieldRow: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(id:small:at:value:flag:same:none:maybe:), Field("id", \.id), Field("small", \.small),
      Field("at", \.at), Field("value", \.value), Field("flag", \.flag), Field("same", \.same),
      Field("none", \.none), Field("maybe", \.maybe))
  }
}

/// Has itself inside.
struct FieldTree<Table: Sendable>: Codable, Equatable, Sendable {
  var name: String
  var children: [FieldTree<Table>]
  var weight: Int?
}

extension FieldTree: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init(name:children:weight:), Field("name", \.name), Field("children", \.children),
      Field("weight", \.weight))
  }
}

/// Cannot be made by filling in its fields: there is more in it.
struct FieldHidden<Table: Sendable>: Codable, Equatable, Sendable {
  var small: UInt8
  private let hidden: UInt8 = 0xA5
  var wide: UInt32
  var text: String

  init(small: UInt8, wide: UInt32, text: String) {
    (self.small, self.wide, self.text) = (small, wide, text)
  }

  private enum CodingKeys: CodingKey { case small, wide, text }

  var isWhole: Bool { hidden == 0xA5 }
}

extension FieldHidden: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init(small:wide:text:), Field("small", \.small), Field("wide", \.wide), Field("text", \.text))
  }
}

final class FieldObject<Table: Sendable>: Codable, Equatable, Sendable {
  let name: String
  let count: Int?

  init(name: String, count: Int?) { (self.name, self.count) = (name, count) }

  static func == (one: FieldObject, other: FieldObject) -> Bool { one.name == other.name && one.count == other.count }
}

extension FieldObject: StowFields where Table == Tabled {
  static var stowFields: FieldTable<FieldObject> {
    FieldTable(FieldObject.init(name:count:), Field("name", \.name), Field("count", \.count))
  }
}

// Dates far away have no description.

extension FieldScalars: CustomStringConvertible {
  var description: String {
    let dates = [g, m].map { $0?.timeIntervalSinceReferenceDate.bitPattern }
    return "\((a, b, c, d, e, f, h, i, j, k, l)) \((n, o, p, q)) \(dates)"
  }
}

extension FieldRow: CustomStringConvertible {
  var description: String {
    "\((id, small, at.timeIntervalSinceReferenceDate.bitPattern, value, flag, same, none, maybe))"
  }
}

// MARK: values of them

extension FieldPoint {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(x: .random(&random), y: .random(&random), z: .random(&random))
  }
}

extension FieldNote {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(
      id: .random(&random), name: .random(&random), flag: .random(&random), value: .random(&random),
      note: .random(&random))
  }
}

extension FieldAddress {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(
      street: .random(&random), city: ["Basel", "Lyon", "Zürich"][random.below(3)],
      latitude: Double(random.below(1000)) / 8)
  }
}

extension FieldPerson {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(
      id: .random(&random), name: .random(&random), isActive: .random(&random), balance: .random(&random),
      gender: FieldGender.allCases[random.below(4)], address: .random(&random),
      former: random.list(3) { .random(&$0) },
      byName: random.below(2) == 0 ? [:] : ["home": .random(&random)], tags: .random(&random),
      nickname: .random(&random), managerID: .random(&random), score: .random(&random),
      second: random.below(2) == 0 ? nil : .random(&random),
      former2: random.below(2) == 0 ? nil : FieldGender.allCases[random.below(4)])
  }
}

extension FieldScalars {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(
      a: .random(&random), b: .random(&random), c: .random(&random), d: .random(&random), e: .random(&random),
      f: .random(&random), g: .random(&random), h: .random(&random), i: .random(&random), j: .random(&random),
      k: .random(&random), l: .random(&random), m: .random(&random),
      n: [nil, .some(nil), 5][random.below(3)], o: FieldRank.allCases[random.below(3)], p: .random(&random),
      q: .random(&random))
  }
}

extension FieldRow {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(
      id: random.below(1 << 20), small: .random(&random),
      at: Date(timeIntervalSince1970: Double(random.below(1 << 30))),
      value: Double(random.below(1 << 40)) / 3, flag: .random(&random), same: "the same", none: nil,
      maybe: Double(random.below(99)) / 10)
  }
}

extension FieldCaseRow {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(id: random.below(1 << 20), gender: .male, rank: FieldRank.allCases[random.below(3)], other: nil, list: [])
  }
}

extension FieldTree {
  static func random(_ random: inout SeededGenerator, depth: Int = 4) -> Self {
    Self(
      name: .random(&random), children: depth == 0 ? [] : random.list(3) { .random(&$0, depth: depth - 1) },
      weight: .random(&random))
  }
}

extension FieldHidden {
  static func random(_ random: inout SeededGenerator) -> Self {
    Self(small: UInt8(random.below(256)), wide: UInt32(random.below(1 << 30)), text: .random(&random))
  }
}

extension FieldObject {
  static func random(_ random: inout SeededGenerator) -> FieldObject {
    FieldObject(name: .random(&random), count: .random(&random))
  }
}

/// The bytes that a value is encoded as, or the error, which is to be the same for a type with a table as without.
func outcome(_ value: some Encodable, by encoder: StowEncoder = StowEncoder()) -> String {
  do { return "\(Array(try encoder.encode(value)))" } catch {
    return String(reflecting: error).replacing("Untabled", with: "Tabled")
  }
}
