import Foundation
import Stow
import Testing

/// The example of the article "Keeping what is not known".
private struct Settings: Codable, Equatable {
  var name: String
  var volume: Int
  /// All keys that this version does not know, with their values.
  var unknown: StowObject

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name, volume
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    volume = try container.decode(Int.self, forKey: .volume)
    unknown = try StowValue(from: decoder).object ?? [:]
    for key in CodingKeys.allCases { unknown[key.stringValue] = nil }
  }

  func encode(to encoder: any Encoder) throws {
    var value = unknown
    value[CodingKeys.name.stringValue] = .string(name)
    value[CodingKeys.volume.stringValue] = StowValue(volume)
    try StowValue.object(value).encode(to: encoder)
  }
}

@Suite("Unknown keys")
struct UnknownKeyTests {
  private struct Later: Codable, Equatable {
    var theme: String
    var name: String
    var volume: Int
    var opened: [Date]
    var id: UUID
  }

  @Test("unknown keys are kept with the kinds of their values")
  func kept() throws {
    let later = Later(
      theme: "dark", name: "Ada", volume: 5, opened: [Date(timeIntervalSinceReferenceDate: 7)], id: UUID())
    var settings = try transcode(later, to: Settings.self)
    #expect(settings.unknown.keys == ["theme", "opened", "id"])
    settings.volume = 6
    var expected = later
    expected.volume = 6
    #expect(try transcode(settings, to: Later.self) == expected)
    #expect(try transcode([settings, settings], to: [Later].self) == [expected, expected])
    #expect(try JSONDecoder().decode(Settings.self, from: JSONEncoder().encode(settings)).volume == 6)
  }
}
