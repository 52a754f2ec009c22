import Foundation
import Stow
import Testing

/// Types that need a configuration to be encoded and decoded.
@Suite struct ConfigurationTests {
  struct Scaled: Equatable, EncodableWithConfiguration, DecodableWithConfiguration {
    var value: Double

    func encode(to encoder: any Encoder, configuration: Double) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value * configuration)
    }

    init(from decoder: any Decoder, configuration: Double) throws {
      value = try decoder.singleValueContainer().decode(Double.self) / configuration
    }

    init(value: Double) { self.value = value }
  }

  enum Thousand: EncodingConfigurationProviding, DecodingConfigurationProviding {
    static let encodingConfiguration = 1000.0
    static let decodingConfiguration = 1000.0
  }

  @Test func aConfigurationIsHandedOn() throws {
    let data = try StowEncoder().encode(Scaled(value: 2), configuration: 10)
    #expect(try StowDecoder().decode(Double.self, from: data) == 20)
    #expect(try StowDecoder().decode(Scaled.self, from: data, configuration: 5) == Scaled(value: 4))
  }

  @Test func aTypeProvidesAConfiguration() throws {
    let data = try StowEncoder().encode(Scaled(value: 2), configuration: Thousand.self)
    #expect(try StowDecoder().decode(Double.self, from: data) == 2000)
    #expect(try StowDecoder().decode(Scaled.self, from: data, configuration: Thousand.self) == Scaled(value: 2))
  }

  @Test func errorsAreThoseOfOtherTypes() throws {
    let data = try StowEncoder().encode("text")
    #expect(throws: DecodingError.self) { try StowDecoder().decode(Scaled.self, from: data, configuration: 1) }
    #expect(throws: DecodingError.self) { try StowDecoder().decode(Scaled.self, from: Data([0x7D]), configuration: 1) }
  }
}
