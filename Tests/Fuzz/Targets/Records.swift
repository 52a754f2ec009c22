import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whether a type has a table of its fields.
enum Tabled {}
enum Untabled {}

/// A record with a field of every type that Stow knows.
struct Record<Table>: Codable {
  var id: Int
  var tiny: Int8?
  var small: UInt16?
  var medium: Int32?
  var large: UInt64?
  var huge: Int128?
  var flag: Bool??
  var x: Double?
  var y: Float?
  var name: String?
  var blob: Data?
  var date: Date?
  var uuid: UUID?
  var url: URL?
  var decimal: Decimal?
  var color: Color?
  var command: Command?
  var numbers: [Int]?
  var fractions: [Double]?
  var bits: [Bool]?
  var tags: [String: [String]]?
  var codes: [Int: Float]?
  var points: [Point<Table>]?
  var children: [Record]?
}

extension Record: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(
      Self.init, Field("id", \.id), Field("tiny", \.tiny), Field("small", \.small), Field("medium", \.medium),
      Field("large", \.large), Field("huge", \.huge), Field("flag", \.flag), Field("x", \.x), Field("y", \.y),
      Field("name", \.name), Field("blob", \.blob), Field("date", \.date), Field("uuid", \.uuid),
      Field("url", \.url), Field("decimal", \.decimal), Field("color", \.color), Field("command", \.command),
      Field("numbers", \.numbers), Field("fractions", \.fractions), Field("bits", \.bits), Field("tags", \.tags),
      Field("codes", \.codes), Field("points", \.points), Field("children", \.children))
  }
}

struct Point<Table>: Codable {
  var x: Double
  var y: Int
  var on: Bool?
}

extension Point: StowFields where Table == Tabled {
  static var stowFields: FieldTable<Self> {
    FieldTable(Self.init, Field("x", \.x), Field("y", \.y), Field("on", \.on))
  }
}

enum Color: String, Codable { case red, green, blue }

enum Command: Codable {
  case stop
  case move(x: Int, y: Int)
  case say(String)
}

/// Few of the fields of `Record`, in another order and as other types.
struct Sparse: Codable {
  var y: Decimal?
  var name: URL?
  var missing: [String]?
  var id: Double?
}

/// Everything by names that only the message knows.
struct Shelf: Codable {
  var shelves: [String: Shelf]?
  var rows: [[[Double]]]?
  var texts: [String: String]?
  var counts: [String: Int]?
  var levels: [Int???]?
}

class Animal: Codable {
  var name: String
  var litter: [Animal]?
}

/// A subclass that keeps its superclass in an encoder of its own.
final class Dog: Animal {
  var breed: String

  private enum CodingKeys: String, CodingKey { case breed }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    breed = try container.decode(String.self, forKey: .breed)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(breed, forKey: .breed)
    try super.encode(to: container.superEncoder())
  }
}
