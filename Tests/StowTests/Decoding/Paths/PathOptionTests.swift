import Foundation
import Stow
import Testing

@Suite("Options of decoding, with a path and from any bytes")
struct PathOptionTests {
  private struct Window: Codable, Equatable {
    var width = 1
    var title = "new"
  }

  private let data: Data
  private var bytes: [UInt8] { Array(data) }

  init() throws { data = try StowEncoder().encode(["windows": [["width": 5], ["width": 6]]]) }

  @Test("a part takes from a template what it lacks")
  func defaults() throws {
    let decoder = StowDecoder()
    let expected = Window(width: 6, title: "new")
    #expect(try decoder.decode(Window.self, from: data, at: ["windows", 1], defaults: Window()) == expected)
    #expect(try decoder.decode(Window.self, from: bytes, at: ["windows", 1], defaults: Window()) == expected)
  }

  @Test("a part that is not there is the template")
  func missingPart() throws {
    let template = Window(width: 3, title: "template")
    for path in [["windows", 2], ["none"], ["none", 5, "x"]] as [StowPath] {
      #expect(try StowDecoder().decode(Window.self, from: data, at: path, defaults: template) == template)
    }
  }

  @Test("a path that does not fit the message is an error, whatever the template has")
  func wrongPath() {
    #expect(throws: DecodingError.self) {
      try StowDecoder().decode(Window.self, from: data, at: ["windows", "x"], defaults: Window())
    }
  }

  @Test("a part that does not fit is replaced only if that is asked for")
  func lenient() throws {
    let path = ["windows"] as StowPath
    #expect(throws: DecodingError.self) {
      try StowDecoder().decode(Window.self, from: data, at: path, defaults: Window())
    }
    let window = try StowDecoder().decode(Window.self, from: data, at: path, defaults: Window(), strategy: .lenient)
    #expect(window == Window())
  }

  @Test("a part may be of a type that the message names")
  func polymorphic() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    encoder.types.register(Circle.self, as: "circle")
    decoder.types = encoder.types
    let data = try encoder.encode(["parts": Polymorphic(wrappedValue: Circle(radius: 2) as any Shape)])
    let shape = try decoder.decode(polymorphic: (any Shape).self, from: data, at: ["parts"])
    #expect(shape as? Circle == Circle(radius: 2))
    let other = try decoder.decode(polymorphic: (any Shape).self, from: Array(data), at: ["parts"])
    #expect(other as? Circle == Circle(radius: 2))
  }

  @Test("a part that is missing in one of several elements may be an optional of such a type")
  func missingPolymorphic() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    encoder.types.register(Circle.self, as: "circle")
    decoder.types = encoder.types
    let circle = Polymorphic(wrappedValue: Circle(radius: 2) as any Shape)
    let message = try decoder.message(from: encoder.encode([["shape": circle], [:]]))
    let shapes = try message.elements(at: [.each, "shape"]).map {
      try $0.decode(Polymorphic<(any Shape)?>.self).wrappedValue as? Circle
    }
    #expect(shapes == [Circle(radius: 2), nil])
  }

  @Test("a part may need a configuration")
  func configuration() throws {
    let part = try StowDecoder().decode(
      ConfigurationTests.Scaled.self, from: bytes, at: ["windows", 0, "width"], configuration: 5)
    #expect(part == ConfigurationTests.Scaled(value: 1))
    #expect(throws: DecodingError.self) {
      try StowDecoder().decode(ConfigurationTests.Scaled.self, from: data, at: ["windows", 7], configuration: 5)
    }
  }

  @Test("a shared optional is nil where the path leads to nothing")
  func missingShared() throws {
    let data = try StowEncoder().encode(["other": 1])
    let shared = try StowDecoder().decode(Shared<String?>.self, from: data, at: ["owner"])
    let conditional = try StowDecoder().decode(ConditionallyShared<String>.self, from: data, at: ["owner"])
    #expect(shared.wrappedValue == nil && conditional.wrappedValue == nil)
  }

  @Test("an optional that needs a configuration is nil where the path leads to nothing")
  func missingConfigured() throws {
    typealias Scaled = ConfigurationTests.Scaled
    func widths<Value: DecodableWithConfiguration>(_ type: Value.Type, at path: StowPath) throws -> Value
    where Value.DecodingConfiguration == Double {
      let windows = try StowEncoder().encode([["width": 4], [:]])
      return try StowDecoder().decode(type, from: windows, at: path, configuration: 2)
    }
    #expect(try widths(Scaled?.self, at: [0, "width"]) == Scaled(value: 2))
    #expect(try widths(Scaled?.self, at: [1, "width"]) == nil)
    #expect(throws: DecodingError.self) { try widths(Scaled.self, at: [1, "width"]) }
    #expect(try widths([Scaled?].self, at: [.each, "width"]) == [Scaled(value: 2), nil])
    #expect(throws: DecodingError.self) { try widths([Scaled].self, at: [.each, "width"]) }
  }

  @Test("a message is opened from any contiguous bytes, and keeps them")
  func opening() throws {
    let message = try StowDecoder().message(from: bytes)
    #expect(try message.decode(Int.self, at: ["windows", 1, "width"]) == 6)
    #expect(try StowDecoder().message(from: data).count(at: ["windows"]) == 2)
  }

  /// Uses a coder when it is let go.
  private final class Parting: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  @Test("what an option lets go of may use the same coder")
  func parting() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    let key = try #require(CodingUserInfoKey(rawValue: "parting"))
    func makeParting() -> Parting {
      Parting { [weak encoder, weak decoder] in
        encoder?.outputFormatting = .sortedKeys
        decoder?.maximumDepth = 100
      }
    }
    encoder.userInfo[key] = makeParting()
    encoder.userInfo = [:]
    decoder.userInfo[key] = makeParting()
    decoder.userInfo = [:]
    #expect(encoder.outputFormatting == .sortedKeys && decoder.maximumDepth == 100)
  }
}
