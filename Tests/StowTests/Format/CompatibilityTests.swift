import Foundation
import Stow
import Testing

/// The promises of FORMAT.md, "Compatibility". That valid bytes keep their meaning is what `VectorTests` checks.
@Suite("Compatibility of versions")
struct VersionTests {
  private func expectLaterVersion<T: Decodable>(
    _ bytes: [UInt8], as type: T.Type, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: sourceLocation) {
      try StowDecoder().decode(type, from: Data(bytes))
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return context.debugDescription.contains("later version")
    }
  }

  @Test("a message of a later version is refused, and the error says what it may be")
  func announced() {
    expectLaterVersion([0x7F], as: JSONValue.self)
    expectLaterVersion([0xE1, 0x7F], as: [Int].self)
  }

  @Test("a message of another kind is refused, and the error names the kind", arguments: [0, 1, 2, 0xFC] as [UInt8])
  func otherKinds(kind: UInt8) {
    #expect {
      try StowDecoder().decode([String: Int].self, from: [0x7F, kind, 0x91] as [UInt8])
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      return context.debugDescription.contains("kind " + (kind < 16 ? "0" : "") + String(kind, radix: 16).uppercased())
    }
  }

  @Test("a reserved tag within a message is refused as one of a later version")
  func reserved() {
    for tag: UInt8 in [0x7D, 0x7E, 0x7F] {
      expectLaterVersion([0xE2, 0x91, tag], as: [Int].self)
      expectLaterVersion([0xC3, 0x81, 0x61, tag], as: [String: Int].self)
    }
  }

  @Test("no message without a context begins like one of a later version")
  func neverWritten() throws {
    let vectors = try VectorFile.all.get().filter { $0.kind == .canonical && $0.context == nil }
    #expect(vectors.count > 300 && !vectors.contains { $0.bytes.first == 0x7F })
  }

  @Test("values of every kind are skipped if their key is unknown")
  func skipped() throws {
    struct Last: Decodable { var last: Int }
    for vector in try VectorFile.all.get() where vector.kind == .canonical && vector.bytes.first != 0x1F {
      guard case .some(let meaning) = vector.meaning, vector.bytes.count < 200 else { continue }
      let object = MeaningObject([("first", meaning), ("last", .integer(7))])
      let message = try StowEncoder().encode(Meaning.object(object))
      #expect(try StowDecoder().decode(Last.self, from: message).last == 7, "\(vector.name)")
    }
  }
}

@Suite("Compatibility of changed types")
struct EvolutionTests {
  private struct Old: Codable, Equatable {
    var id = 7
    var name = "name"
    var weight = 1.5
  }

  /// Reads what `Old` wrote: as a map, as records, and as rows of a table.
  private func expectRead<New: Decodable & Equatable>(
    _ new: New, from old: some Encodable, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try transcode(old, to: New.self) == new, sourceLocation: sourceLocation)
    for count in [2, 30] {
      let copies = try transcode(Array(repeating: Encoded(old), count: count), to: [New].self)
      #expect(copies.count == count && copies.allSatisfy { $0 == new }, sourceLocation: sourceLocation)
    }
    let rows = (0..<30).map { Row(value: Encoded(old), number: $0 * 1000) }
    #expect(try transcode(rows, to: [ReadRow<New>].self).allSatisfy { $0.value == new }, sourceLocation: sourceLocation)
  }

  private struct Encoded: Encodable {
    let value: any Encodable

    init(_ value: any Encodable) { self.value = value }

    func encode(to encoder: any Encoder) throws { try encoder.writeSingle(value) }
  }

  private struct Row: Encodable {
    var value: Encoded
    var number: Int
  }

  private struct ReadRow<Value: Decodable>: Decodable {
    var value: Value
  }

  @Test("an added property that is optional or has a default in init(from:) reads old messages")
  func added() throws {
    struct WithOptional: Codable, Equatable {
      var id = 7
      var note: String?
      var name = "name"
      var weight = 1.5
    }
    struct WithDefault: Codable, Equatable {
      var id: Int
      var color: String

      init(id: Int, color: String) {
        self.id = id
        self.color = color
      }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        color = try container.decodeIfPresent(String.self, forKey: .color) ?? "red"
      }
    }
    try expectRead(WithOptional(), from: Old())
    try expectRead(WithDefault(id: 7, color: "red"), from: Old())
  }

  @Test("for any other added property, the error names its missing key")
  func addedRequired() {
    struct WithRequired: Codable {
      var id: Int
      var color = "red"
    }
    #expect(failure(decoding: WithRequired.self, from: Old()) == .keyNotFound("color"))
  }

  @Test("a type with a property removed reads old messages")
  func removed() throws {
    struct Fewer: Codable, Equatable { var name = "name" }
    try expectRead(Fewer(), from: Old())
  }

  @Test("a type with its properties reordered reads old messages")
  func reordered() throws {
    struct Reordered: Codable, Equatable {
      var weight = 1.5
      var name = "name"
      var id = 7
    }
    try expectRead(Reordered(), from: Old())
  }

  @Test("a renamed property is read if CodingKeys keep its key, and is missing otherwise")
  func renamed() throws {
    struct Kept: Codable, Equatable {
      var identifier = 7
      enum CodingKeys: String, CodingKey { case identifier = "id" }
    }
    struct Lost: Codable { var identifier: Int }
    try expectRead(Kept(), from: Old())
    #expect(failure(decoding: Lost.self, from: Old()) == .keyNotFound("identifier"))
  }

  @Test("T is read as T?, and T? as T if it has a value")
  func optional() throws {
    struct Required: Codable, Equatable { var value: Int }
    struct Optional: Codable, Equatable { var value: Int? }
    try expectRead(Optional(value: 7), from: Required(value: 7))
    try expectRead(Required(value: 7), from: Optional(value: 7))
    #expect(failure(decoding: Required.self, from: Optional()) == .keyNotFound("value"))
  }

  @Test("an integer is read as another integer type if it fits")
  func integers() throws {
    try expectRead(Int8(100), from: UInt64(100))
    try expectRead(UInt128(100), from: Int8(100))
    expectRefused(Int8.self, from: 300)
    expectRefused(UInt.self, from: -1)
  }

  @Test("an integer is read as a float and rounded, but a float is not read as an integer")
  func integersAndFloats() throws {
    try expectRead(7.0, from: 7)
    try expectRead(Float(7), from: 7)
    try expectRead(9_007_199_254_740_992.0, from: (1 << 53) + 1)
    expectRefused(Int.self, from: 7.0)
  }

  @Test("a Double is read as a Float and rounded, and a Float as an exact Double")
  func floats() throws {
    try expectRead(Float(0.1), from: 0.1)
    try expectRead(Double(Float(0.1)), from: Float(0.1))
    expectRefused(Float.self, from: 1e300)
  }

  @Test("types of Foundation are read as the types that represent them, and back")
  func foundation() throws {
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.5)
    try expectRead(700_000_000.5, from: date)
    try expectRead(date, from: 700_000_000.5)
    let id = UUID()
    try expectRead(id.uuidString, from: id)
    try expectRead(id, from: id.uuidString)
    let url = try #require(URL(string: "https://swift.org"))
    try expectRead("https://swift.org", from: url)
    try expectRead(url, from: "https://swift.org")
    try expectRead([UInt8]([1, 2, 255]), from: Data([1, 2, 255]))
    try expectRead(Data([1, 2, 255]), from: [UInt8]([1, 2, 255]))
    expectRefused(UUID.self, from: "no UUID")
    expectRefused(Data.self, from: [1, 300], at: 1)
  }

  @Test("a struct is read as a dictionary, and back")
  func dictionary() throws {
    struct Point: Codable, Equatable {
      var x = 1
      var y = 2
    }
    try expectRead(["x": 1, "y": 2], from: Point())
    try expectRead(Point(), from: ["x": 1, "y": 2])
    #expect(failure(decoding: Point.self, from: ["x": 1]) == .keyNotFound("y"))
    #expect(throws: DecodingError.self) { try transcode(Old(), to: [String: Int].self) }
  }

  @Test("a type may be renamed, and a struct may become a class")
  func names() throws {
    final class Renamed: Codable, Equatable {
      var id = 7
      static func == (a: Renamed, b: Renamed) -> Bool { a.id == b.id }
    }
    try expectRead(Renamed(), from: Old())
  }

  @Test("an enumeration with an added case reads old messages")
  func cases() throws {
    enum Few: String, Codable { case red, green }
    enum More: String, Codable { case red, blue, green }
    enum FewValues: Codable, Equatable { case point(x: Int) }
    enum MoreValues: Codable, Equatable {
      case line(Int)
      case point(x: Int)
    }
    try expectRead(More.green, from: Few.green)
    try expectRead(Few.green, from: More.green)
    try expectRead(MoreValues.point(x: 1), from: FewValues.point(x: 1))
    try expectRead(FewValues.point(x: 1), from: MoreValues.point(x: 1))
    expectRefused(Few.self, from: More.blue)
    #expect(throws: DecodingError.self) { try transcode(MoreValues.line(1), to: FewValues.self) }
  }
}
