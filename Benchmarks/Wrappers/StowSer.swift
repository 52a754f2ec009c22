import Foundation
import Stow

// MARK: - Stow (self-describing binary Codable)
// Optimal: StowEncoder.encode / StowDecoder.decode, both kept and used again; no schema, no options.

private final class StowDecoderBox: Fixture.GenericDecoder {
  let decoder = StowDecoder()
  func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { try decoder.decode(type, from: data) }
}

public final class StowSerializer: CodableBenchSerializer {
  public init() {
    let encoder = StowEncoder()
    super.init(
      name: "Stow",
      version: PackageVersions.version(for: "stow", fallback: "0.1"),
      streamMode: .adapted,
      nativeKind: .codable,
      encode: { value in try encodeOpened(value) { try encoder.encode($0) } },
      decoder: StowDecoderBox()
    )
  }
}
