import Foundation
import Stow
import Testing

private struct Window: Codable, Equatable {
  var width = 640
  var height = 480
  var title: String? = "Untitled"
}

private enum Theme: Codable, Equatable {
  case plain
  case colored(red: Double, blue: Double)
}

private struct Settings: Codable, Equatable {
  var name = "new"
  var window = Window()
  var second: Window? = Window(width: 1, height: 1)
  var opened = Date(timeIntervalSinceReferenceDate: 0.1)
  var tags = ["a"]
  var keys = ["copy": "c", "paste": "v"]
  var rows = [Window()]
  var theme = Theme.colored(red: 1, blue: 0.5)
  var price = Decimal(string: "1.10")!
  var levels: [Int: Window] = [1: Window()]
}

/// The message of `value` decoded with defaults.
private func decoded(_ value: JSONValue, _ strategy: StowDecoder.DefaultsStrategy = .strict) throws -> Settings {
  try StowDecoder().decode(Settings.self, from: StowEncoder().encode(value), defaults: Settings(), strategy: strategy)
}

@Suite("Defaults for missing keys")
struct DefaultsTests {
  @Test("missing keys have the values of the template, at every depth")
  func missing() throws {
    #expect(try decoded([:]) == Settings())
    var settings = Settings()
    settings.window.height = 7
    settings.second?.title = "2nd"
    #expect(try decoded(["window": ["height": 7], "second": ["title": "2nd"]]) == settings)
    let whole = Settings(name: "x", window: Window(width: 0), tags: [], keys: [:], theme: .plain)
    let data = try StowEncoder().encode(whole)
    #expect(try StowDecoder().decode(Settings.self, from: data, defaults: Settings()) == whole)
    #expect(try StowDecoder().decode(Settings.self, from: [UInt8](data), defaults: Settings()) == whole)
  }

  @Test("missing keys have the values of the template within any optional, however it is decoded")
  func withinOptionals() throws {
    struct Box<Value: Codable & Equatable>: Codable, Equatable {
      var value: Value
    }
    func decoded<Value: Codable>(_ value: JSONValue, _ template: Value) throws -> [Value] {
      let data = try StowEncoder().encode(value)
      return try [.strict, .lenient].map {
        try StowDecoder().decode(Value.self, from: data, defaults: template, strategy: $0)
      }
    }
    let template = Window(width: 1, height: 2, title: nil)
    let window = Window(width: 1, height: 7, title: nil)
    let message: JSONValue = ["value": ["height": 7]]
    #expect(try decoded(message, Box<Window?>(value: template)).allSatisfy { $0.value == window })
    #expect(try decoded(message, Box<Window??>(value: template)).allSatisfy { $0.value == window })
    #expect(try decoded(["height": 7], Optional(template)).allSatisfy { $0 == window })
    #expect(try decoded(["value": nil], Box<Window?>(value: template)).allSatisfy { $0.value == nil })
    #expect(try decoded(nil, Optional(template)).allSatisfy { $0 == nil })
    let some = Box<Window??>(value: .some(nil))
    let data = try StowEncoder().encode(some)
    #expect(try StowDecoder().decode(Box<Window??>.self, from: data, defaults: Box(value: template)) == some)
  }

  @Test("defaults do not replace a nil of the message")
  func null() throws {
    let settings = try decoded(["second": nil, "window": ["title": nil]])
    #expect(settings.second == nil && settings.window.title == nil)
    #expect(try decoded(["window": [:]]).window.title == "Untitled")
    #expect(failure { try decoded(["name": nil]) } == .valueNotFound("name"))
  }

  @Test("defaults do not change whether a key of the message is nil")
  func asksForNil() throws {
    struct Asked: Codable, Equatable {
      var isNil: Bool
      var name: String?
      private enum CodingKeys: CodingKey { case name }
      init(_ name: String?) { (isNil, self.name) = (name == nil, name) }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isNil = try container.decodeNil(forKey: .name)
        name = try container.decodeIfPresent(String.self, forKey: .name)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
      }
    }
    func asked(_ message: JSONValue, _ template: String?) throws -> Asked {
      try StowDecoder().decode(Asked.self, from: StowEncoder().encode(message), defaults: Asked(template))
    }
    #expect(try asked(["name": nil], "Elbe") == Asked(nil))
    #expect(try asked(["name": "Oder"], nil) == Asked("Oder"))
    #expect(try asked([:], "Elbe") == Asked("Elbe"))
    #expect(try asked([:], nil) == Asked(nil))
  }

  @Test("defaults are not added to arrays and dictionaries, or to their elements")
  func collections() throws {
    let settings = try decoded(["tags": ["b"], "keys": ["cut": "x"], "levels": [:]])
    #expect(settings.tags == ["b"] && settings.keys == ["cut": "x"] && settings.levels.isEmpty)
    #expect(failure { try decoded(["rows": [["width": 1]]]) } == .keyNotFound("height", "rows", 0))
    #expect(
      failure { try decoded(["levels": ["1": ["width": 1]]]) }
        == .keyNotFound("height", "levels", .key("1", 1)))
  }

  @Test("defaults are not added to dictionaries of several types, or to their values")
  func families() throws {
    struct Drawing: Codable {
      @Polymorphic var shapes: [String: any Shape] = ["a": Square(side: 3), "b": Circle(radius: 1)]
    }
    let decoder = StowDecoder()
    decoder.types = .shapes
    func shapes(_ value: JSONValue, _ strategy: StowDecoder.DefaultsStrategy = .strict) throws -> [String: any Shape] {
      let data = try StowEncoder().encode(["shapes": value])
      let drawing = try decoder.decode(Drawing.self, from: data, defaults: Drawing(), strategy: strategy)
      return drawing.shapes
    }
    #expect(try shapes(["b": ["circle": ["radius": 2]]]) as? [String: Circle] == ["b": Circle(radius: 2)])
    let message: JSONValue = ["a": ["square": ["side": 1]], "b": ["circle": ["radius": 2]]]
    #expect(failure { try shapes(message) } == .keyNotFound("made", "shapes", "a", "square"))
    #expect(try shapes(message, .lenient)["b"] as? Circle == Circle(radius: 1))
  }

  @Test("defaults do not change the case of an enumeration with values")
  func enumerations() throws {
    #expect(try decoded(["theme": ["plain": [:]]]).theme == .plain)
    #expect(try decoded(["theme": ["colored": ["red": 0]]]).theme == .colored(red: 0, blue: 0.5))
  }

  @Test("defaults do not hide which of several keys the message has")
  func alternatives() throws {
    enum Size: Codable, Equatable {
      case length(Int)
      case width(Int)
      enum CodingKeys: CodingKey { case length, width }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self =
          try container.contains(.length)
          ? .length(container.decode(Int.self, forKey: .length))
          : .width(container.decode(Int.self, forKey: .width))
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .length(let value): try container.encode(value, forKey: .length)
        case .width(let value): try container.encode(value, forKey: .width)
        }
      }
    }
    let data = try StowEncoder().encode(["width": 2])
    #expect(try StowDecoder().decode(Size.self, from: data, defaults: .length(1)) == .width(2))
  }

  @Test("defaults are found for types that decode themselves in unusual ways")
  func unusual() throws {
    struct Wrapped: Codable, Equatable {
      var window: Window
      init(_ window: Window) { self.window = window }
      init(from decoder: any Decoder) throws { window = try decoder.readSingle(Window.self) }
      func encode(to encoder: any Encoder) throws { try encoder.writeSingle(window) }
    }
    struct Nested: Codable, Equatable {
      var width = 3, height = 4, list = [1]
      private enum Outer: CodingKey { case size, list }
      private enum Inner: CodingKey { case width, height }
      init() {}
      init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Outer.self)
        let inner = try outer.nestedContainer(keyedBy: Inner.self, forKey: .size)
        width = try inner.decode(Int.self, forKey: .width)
        height = try inner.decode(Int.self, forKey: .height)
        var elements = try outer.nestedUnkeyedContainer(forKey: .list)
        list = try [elements.decode(Int.self)]
      }
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Outer.self)
        var inner = outer.nestedContainer(keyedBy: Inner.self, forKey: .size)
        try inner.encode(width, forKey: .width)
        try inner.encode(height, forKey: .height)
        var elements = outer.nestedUnkeyedContainer(forKey: .list)
        try elements.encode(list[0])
      }
    }
    struct Both: Codable, Equatable {
      var wrapped = Wrapped(Window())
      var nested = Nested()
      var deep: Int?? = .some(nil)
      var wide = Int128.max
    }
    func both(_ value: JSONValue) throws -> Both {
      try StowDecoder().decode(Both.self, from: StowEncoder().encode(value), defaults: Both())
    }
    #expect(try both([:]) == Both())
    #expect(try both(["wrapped": ["width": 2]]).wrapped.window == Window(width: 2))
    let nested = try both(["nested": ["size": ["height": 9]], "wide": 5])
    #expect(nested.nested.width == 3 && nested.nested.height == 9 && nested.nested.list == [1] && nested.wide == 5)
  }

  @Test("defaults are found for superclasses")
  func superclasses() throws {
    let template = Terrier(name: "Rex", tricks: ["sit"])
    let data = try StowEncoder().encode(["name": "Ida"])
    let copy = try StowDecoder().decode(Terrier.self, from: data, defaults: template)
    #expect(copy.name == "Ida" && copy.tricks == ["sit"])
    // With a container of its own for the superclass.
    final class Sub: Window2 {
      var depth = 5
      override init() { super.init() }
      private enum CodingKeys: CodingKey { case depth }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        depth = try container.decode(Int.self, forKey: .depth)
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(depth, forKey: .depth)
        try super.encode(to: container.superEncoder())
      }
    }
    func sub(_ value: JSONValue) throws -> Sub {
      try StowDecoder().decode(Sub.self, from: StowEncoder().encode(value), defaults: Sub())
    }
    #expect(try sub([:]).width == 1 && sub([:]).depth == 5)
    let changed = try sub(["super": ["height": 8]])
    #expect(changed.width == 1 && changed.height == 8 && changed.depth == 5)
  }

  @Test("decoding with defaults keeps user information, contexts and registered types")
  func options() throws {
    struct Drawing: Codable {
      var name = ""
      @Polymorphic var shape: any Shape = Square(side: 3, made: Date(timeIntervalSinceReferenceDate: 9))
    }
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    decoder.types = .shapes
    let context = try StowContext(learningFrom: [
      ["name": "name", "shape": "shape"], ["name": "x", "shape": "y"],
    ])
    encoder.context = context
    decoder.contexts = [context]
    func shape(_ value: JSONValue) throws -> any Shape {
      let data = try encoder.encode(value)
      let drawing = try decoder.decode(Drawing.self, from: data, defaults: Drawing())
      return drawing.shape
    }
    let unchanged = try shape(["name": "a"]) as? Square
    #expect(unchanged == Drawing().shape as? Square)
    #expect(try shape(["shape": ["circle": ["radius": 1]]]) as? Circle == Circle(radius: 1))
    let square = try shape(["shape": ["square": ["side": 1]]]) as? Square
    #expect(square?.side == 1 && square?.made.timeIntervalSinceReferenceDate == 9)
  }

  @Test("values that accept unknown keys come from the message alone")
  func values() throws {
    struct Kept: Codable {
      var name = "n"
      var other = StowValue.object(["a": 1, "b": 2])
    }
    let data = try StowEncoder().encode(["other": ["a": 5]])
    #expect(try StowDecoder().decode(Kept.self, from: data, defaults: Kept()).other == ["a": 5])
  }
}

private class Window2: Codable {
  var width = 1
  var height = 2
}

@Suite("Defaults for values that do not fit")
struct LenientDefaultsTests {
  @Test("defaults replace only the values that do not fit")
  func misfits() throws {
    let message: JSONValue = [
      "name": 5, "window": ["width": "wide", "height": 9, "title": [1]], "second": 1, "tags": [1, 2],
      "opened": "?",
      "theme": ["striped": [:]], "rows": [["width": 1]], "keys": ["cut": 1],
    ]
    var settings = Settings()
    settings.window.height = 9
    #expect(try decoded(message, .lenient) == settings)
    #expect(failure { try decoded(message) }?.kind == .typeMismatch)
    #expect(try decoded(["name": nil], .lenient).name == "new")
    #expect(try decoded(["window": ["width": 1e300]], .lenient) == Settings())
    #expect(try decoded("none", .lenient) == Settings())
    #expect(failure { try decoded("none") } == .typeMismatch())
  }

  @Test("values that do not fit are nil if the template has none")
  func absent() throws {
    struct Sparse: Codable, Equatable { var count: Int?, window: Window? }
    let data = try StowEncoder().encode(["count": "many", "window": "big"])
    let sparse = try StowDecoder().decode(Sparse.self, from: data, defaults: Sparse(), strategy: .lenient)
    #expect(sparse == Sparse())
    // What has no default within its object is taken with all of the object.
    struct Outer: Codable, Equatable { var inner = Window() }
    struct Other: Codable { var inner = ["depth": 1] }
    let message = try StowEncoder().encode(["inner": ["width": "wide"]])
    let outer = try StowDecoder().decode(Outer.self, from: message, defaults: Outer(), strategy: .lenient)
    #expect(outer == Outer())
  }

  @Test("defaults do not replace values whose types throw errors of their own")
  func userErrors() throws {
    struct Strict: Codable { var value = Picky() }
    struct Picky: Codable {
      init() {}
      init(from decoder: any Decoder) throws { throw Refusal() }
    }
    let data = try StowEncoder().encode(["value": [String: Int]()])
    #expect(throws: Refusal.self) {
      try StowDecoder().decode(Strict.self, from: data, defaults: Strict(), strategy: .lenient)
    }
  }

  @Test("defaults do not hide broken bytes, whatever is changed or cut off")
  func broken() throws {
    let data = [UInt8](try StowEncoder().encode(Settings(name: "Elbe", tags: ["x", "y", "z"])))
    let decoder = StowDecoder()
    for index in data.indices {
      var cut: (any Error)?
      do {
        _ = try decoder.decode(Settings.self, from: data[..<index], defaults: Settings(), strategy: .lenient)
      } catch { cut = error }
      #expect(cut is DecodingError)
      for byte in stride(from: UInt8.min, to: .max, by: 37) {
        var changed = data
        changed[index] ^= byte
        do {
          _ = try decoder.decode(Settings.self, from: changed, defaults: Settings(), strategy: .lenient)
        } catch {
          let isValid = (try? StowValue(from: changed)) != nil
          #expect(error is DecodingError && !isValid, "\(error)")
        }
      }
    }
  }

  @Test("defaults do not hide broken bytes in a value of another kind")
  func brokenMisfits() {
    struct Sparse: Codable { var name: String? }
    // {"name": …}: a reserved tag, a number that is cut off, an array that holds a reserved tag, and a row with a Bool
    // of 2.
    let name: [UInt8] = [0x04, 0x0D, 0xC0, 0x10]
    let values: [[UInt8]] = [[0x7D], [0x0E, 0, 0], [0xE1, 0x7D], [0x7B, 3, 1, 0x0B, 2]]
    let objects = values.map { [0xC0 + UInt8(name.count + $0.count)] + name + $0 }
    // In place of the whole object, and of one within it.
    let window: [UInt8] = [0xC7, 0x46, 0x16, 0xB5, 0xE1, 0x2C, 0xE1, 0x7D]
    for message in objects + [[0xE1, 0x7D], window] {
      #expect(throws: DecodingError.self, "\(message)") {
        try StowDecoder().decode(Settings.self, from: message, defaults: Settings(), strategy: .lenient)
      }
    }
    for message in objects {
      #expect(throws: DecodingError.self, "\(message)") {
        try StowDecoder().decode(Sparse.self, from: message, defaults: Sparse(), strategy: .lenient)
      }
    }
  }

  @Test("defaults do not hide that the stack is full")
  func stack() throws {
    struct Endless: Codable {
      var next: [Int] = []
      init() {}
      init(from decoder: any Decoder) throws { self = try decoder.readSingle(Endless.self) }
      func encode(to encoder: any Encoder) throws { try encoder.writeSingle(1) }
    }
    struct Outer: Codable { var endless = Endless() }
    let data = try StowEncoder().encode(["endless": 1])
    #expect(
      failure { try StowDecoder().decode(Outer.self, from: data, defaults: Outer(), strategy: .lenient) }
        == .dataCorrupted("endless"))
  }
}
