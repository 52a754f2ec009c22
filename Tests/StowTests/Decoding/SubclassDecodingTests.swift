import Foundation
import Stow
import Testing

/// A metatype says more than the type that it is statically known as.
@Suite("Subclasses passed as metatypes of their superclass")
struct SubclassDecodingTests {
  private class Base: Codable {
    var name = ""

    init(name: String) { self.name = name }
  }

  private final class Derived: Base {
    var level = 0

    private enum CodingKeys: CodingKey { case level }

    init(name: String, level: Int) {
      self.level = level
      super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      level = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .level)
    }

    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(level, forKey: .level)
    }
  }

  private static let type: Base.Type = Derived.self
  private static var derived: Derived { Derived(name: "Ada", level: 7) }

  private func expectDerived(_ value: Base?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect((value as? Derived)?.level == 7, sourceLocation: sourceLocation)
    #expect(value?.name == "Ada", sourceLocation: sourceLocation)
  }

  @Test("a class passed as its superclass's metatype is decoded at the top")
  func top() throws { expectDerived(try StowDecoder().decode(Self.type, from: StowEncoder().encode(Self.derived))) }

  /// Reads by calls that `body` makes.
  private struct Reading: Decodable {
    nonisolated(unsafe) static var body: (any Decoder) throws -> Base? = { _ in nil }
    let value: Base?
    init(from decoder: any Decoder) throws { value = try Self.body(decoder) }
  }

  @Test("a class passed as its superclass's metatype is decoded in every other container")
  func containers() throws {
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    for values in [[Self.derived], Array(repeating: Self.derived, count: 5)] {
      let data = try encoder.encode(values)
      Reading.body = { decoder in
        var container = try decoder.unkeyedContainer()
        return try container.decode(Self.type)
      }
      expectDerived(try decoder.decode(Reading.self, from: data).value)
      Reading.body = { decoder in
        var container = try decoder.unkeyedContainer()
        return try container.decodeIfPresent(Self.type)
      }
      expectDerived(try decoder.decode(Reading.self, from: data).value)
    }
    Reading.body = { try $0.singleValueContainer().decode(Self.type) }
    expectDerived(try decoder.decode(Reading.self, from: encoder.encode(Self.derived)).value)
    // A row of a table.
    let rows = try encoder.encode((0..<20).map { Row(name: 300 * $0, level: 7) })
    #expect(rows.contains(0x7A))
    struct Row: Encodable {
      var name, level: Int
    }
    Reading.body = { decoder in
      var container = try decoder.unkeyedContainer()
      let type: Numbered.Type = NumberedMore.self
      let value = try container.decode(type)
      #expect((value as? NumberedMore)?.level == 7)
      return Self.derived
    }
    expectDerived(try decoder.decode(Reading.self, from: rows).value)
  }

  private class Plain: Codable {
    var name = ""
    init(name: String) { self.name = name }
  }

  private final class Tabled: Plain, StowFields {
    static var stowFields: FieldTable<Tabled> { FieldTable({ Tabled(name: $0) }, Field("name", \Tabled.name)) }
  }

  @Test("a nil within an optional is nil even if only the subclass has a table of fields")
  func nestedNil() throws {
    let data = try StowEncoder().encode([Int??.some(.none), .none])
    struct Nils: Decodable {
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        let type: Plain.Type = Tabled.self
        #expect(try elements.decodeIfPresent(type) == nil && elements.decodeIfPresent(type) == nil)
        #expect(elements.isAtEnd)
      }
    }
    _ = try StowDecoder().decode(Nils.self, from: data)
  }

  private class Numbered: Decodable {
    var name = 0
  }

  private final class NumberedMore: Numbered {
    var level = 0
    private enum CodingKeys: CodingKey { case level }
    required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      level = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .level)
    }
  }
}
