import Foundation
import Stow

/// Messages of containers within each other around an integer.
enum DeepMessage: CaseIterable {
  case array, map, record, partialRecord, table

  func bytes(depth: Int) -> [UInt8] {
    // From the inside out.
    (0..<depth).reduce(innermost) { message, _ in
      switch self {
      case .array: Bomb.sized(0x70, message)
      case .map: Bomb.sized(0x71, [0x81, 0x61] + message)
      case .record: Bomb.sized(0xF0, message)
      case .partialRecord: Bomb.sized(0xF8, [1] + message)
      case .table: Bomb.sized(0xF0, message)
      }
    }.withPrelude(hasShape: self != .array && self != .map)
  }

  private var innermost: [UInt8] { self == .table ? Bomb.sized(0x7A, [0, 1, 7, 8, 9]) : [0x91] }
}

extension [UInt8] {
  /// After a prelude whose shape has the key "a".
  fileprivate func withPrelude(hasShape: Bool) -> [UInt8] { hasShape ? [0x1F, 0, 1, 1, 0x81, 0x61] + self : self }
}

/// Types that decode themselves within themselves, each by other calls.
enum DeepReaders {
  static var all: [any Decodable.Type] {
    [
      JSONValue.self, StowValue.self, [StowValue].self, Fields.self, Dictionaries.self, Arrays.self,
      Optionals.self, SuperDecoders.self,
      NestedContainers.self, Elements.self, Singles.self, Skipping.self, [Skipping].self, Int.self,
    ]
  }

  private final class Fields: Decodable {
    let a: Fields?
  }

  private struct Dictionaries: Decodable {
    let inner: [String: Dictionaries]
    init(from decoder: any Decoder) throws { inner = try [String: Dictionaries](from: decoder) }
  }

  private struct Arrays: Decodable {
    let inner: [Arrays]
    init(from decoder: any Decoder) throws {
      inner = try decoder.singleValueContainer().decode([Arrays].self)
    }
  }

  private struct Optionals: Decodable {
    let inner: [String: [Optionals??]?]
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let inner = try? container.decode([String: Optionals??].self) {
        self.inner = inner.mapValues { [$0] }
      } else {
        inner = ["": try container.decode([Optionals??]?.self)]
      }
    }
  }

  private struct SuperDecoders: Decodable {
    init(from decoder: any Decoder) throws {
      var decoder = decoder
      while true {
        if var list = try? decoder.unkeyedContainer() {
          decoder = try list.superDecoder()
        } else {
          decoder = try decoder.container(keyedBy: AnyKey.self).superDecoder(forKey: "a")
        }
      }
    }
  }

  private struct NestedContainers: Decodable {
    init(from decoder: any Decoder) throws {
      if var list = try? decoder.unkeyedContainer() {
        while true { list = try list.nestedUnkeyedContainer() }
      }
      var object = try decoder.container(keyedBy: AnyKey.self)
      while true { object = try object.nestedContainer(keyedBy: AnyKey.self, forKey: "a") }
    }
  }

  private struct Elements: Decodable {
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd { _ = try list.decode(Elements.self) }
    }
  }

  /// Without an end, whatever the message is.
  private struct Singles: Decodable {
    init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Singles.self) }
  }

  private struct Skipping: Decodable {
    let z: Int?
  }
}

/// Values that encode themselves within themselves, each by other calls.
enum DeepWriters {
  static func all(depth: Int) -> [any Encodable] {
    var values: [any Encodable] = writers.map { Nest(depth: depth, write: $0) }
    values.append((0..<depth).reduce(JSONValue.int(1)) { value, _ in .array([value]) })
    values.append((0..<depth).reduce(JSONValue.int(1)) { value, _ in .object(["a": value]) })
    values.append((0..<depth).reduce(StowValue.integer(1)) { value, _ in [value] })
    values.append((0..<depth).reduce(StowValue.integer(1)) { value, _ in ["a": value] })
    values.append((0..<depth).reduce(Fields(a: nil)) { value, _ in Fields(a: value) })
    return values + [Endless()]
  }

  private typealias Write = (_ inner: Nest, _ encoder: any Encoder) throws -> Void

  private struct Nest: Encodable {
    let depth: Int
    let write: Write

    func encode(to encoder: any Encoder) throws {
      guard depth > 0 else { return try encoder.writeSingle(7) }
      try write(Nest(depth: depth - 1, write: write), encoder)
    }
  }

  private static var writers: [Write] {
    [
      { try $1.writeSingle([$0]) },
      { try $1.writeSingle(["a": $0]) },
      { try $1.writeSingle([1: $0]) },
      { try $1.writeSingle(Nest??.some($0)) },
      { inner, encoder in
        var object = encoder.container(keyedBy: AnyKey.self)
        try object.encodeIfPresent(inner, forKey: "a")
      },
      { inner, encoder in
        var list = encoder.unkeyedContainer()
        try list.encode(inner)
      },
      { inner, encoder in
        var object = encoder.container(keyedBy: AnyKey.self)
        try object.superEncoder().writeSingle(inner)
      },
      { inner, encoder in
        var list = encoder.unkeyedContainer()
        try list.superEncoder().writeSingle(inner)
      },
      { inner, encoder in
        var object = encoder.container(keyedBy: AnyKey.self)
        var nested = object.nestedContainer(keyedBy: AnyKey.self, forKey: "a")
        try nested.encode(inner, forKey: "b")
      },
    ]
  }

  private final class Fields: Encodable {
    let a: Fields?
    init(a: Fields?) { self.a = a }
  }

  private struct Endless: Encodable {
    func encode(to encoder: any Encoder) throws { try encoder.writeSingle(Endless()) }
  }
}
