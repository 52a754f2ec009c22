import Foundation
import Stow
import Testing

/// Whether the technique is off.
private var boxesAreTheLibrarys: Bool {
  #if os(Linux) && compiler(>=6.3) && compiler(<6.4)
    ["STOW_PLAIN", "STOW_BOXES"].contains { ProcessInfo.processInfo.environment[$0] != nil }
  #else
    true
  #endif
}

/// The technique is only tested where it is in use: with and without optimization, and under a sanitizer.
@Suite(
  "Keyed containers go without the standard library's box",
  .disabled(if: boxesAreTheLibrarys, "other paths are asked for, or the platform's are not known"))
struct ContainerBoxTests {
  /// Notes what its containers refer to.
  private struct Boxes: Codable {
    let reading: String

    init() { reading = "" }

    init(from decoder: any Decoder) throws {
      reading = Self.boxClass(of: try decoder.container(keyedBy: AnyKey.self))
    }

    func encode(to encoder: any Encoder) throws {
      let container = encoder.container(keyedBy: AnyKey.self)
      #expect(Self.boxClass(of: container) == "KeyedCursor")
    }

    private static func boxClass<Container>(of container: Container) -> String {
      withExtendedLifetime(container) {
        String(describing: type(of: unsafeBitCast(container, to: AnyObject.self)))
      }
    }
  }

  @Test("of encoders and decoders")
  func boxes() throws {
    let data = try StowEncoder().encode([Boxes()])
    let boxes = try StowDecoder().decode([Boxes].self, from: data)
    #expect(boxes.map(\.reading) == ["DecodingCursor"])
  }
}
