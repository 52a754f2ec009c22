import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The ways in which arrays and objects can be read, which have to find the same.
public enum MeaningReading: CaseIterable, Sendable {
  /// By unkeyed containers, element by element, and by keyed containers, with the keys that they say they have.
  case containers
  /// As `[Value]` and `[String: Value]`.
  case collections
  /// As `StowValue`.
  case values
}

extension MessageMeaning {
  /// Reads a message whole, without knowing what it holds.
  ///
  /// - Throws: `DecodingError` if it is refused; `Finding` if two ways to read one value contradict each other.
  public init(
    of message: some ContiguousBytes, by reading: MeaningReading, _ decoder: StowDecoder = StowDecoder()
  ) throws {
    switch reading {
    case .containers: self = try decoder.decode(ContainerMeaning.self, from: message).meaning
    case .values: self = MessageMeaning(try decoder.decode(StowValue.self, from: message))
    case .collections: self = try decoder.decode(CollectionMeaning.self, from: message).meaning
    }
  }
}

/// A value that reads what is inside in the same way.
protocol MeaningReader: Decodable {
  var meaning: MessageMeaning { get }

  init(meaning: MessageMeaning)

  static func elements(_ decoder: any Decoder) throws -> [MessageMeaning]
  static func entries(_ decoder: any Decoder) throws -> [(key: String, value: MessageMeaning)]
}

extension MeaningReader {
  init(from decoder: any Decoder) throws {
    self.init(meaning: try MeaningFinder(decoder: decoder).meaning(as: Self.self))
  }
}

private struct ContainerMeaning: MeaningReader {
  let meaning: MessageMeaning

  static func elements(_ decoder: any Decoder) throws -> [MessageMeaning] {
    var container = try decoder.unkeyedContainer()
    var elements: [MessageMeaning] = []
    while !container.isAtEnd { elements.append(try container.decode(Self.self).meaning) }
    return elements
  }

  static func entries(_ decoder: any Decoder) throws -> [(key: String, value: MessageMeaning)] {
    let container = try decoder.container(keyedBy: NameKey.self)
    return try container.allKeys.map { key in
      (key.stringValue, try container.decode(Self.self, forKey: key).meaning)
    }
  }
}

private struct CollectionMeaning: MeaningReader {
  let meaning: MessageMeaning

  static func elements(_ decoder: any Decoder) throws -> [MessageMeaning] {
    try decoder.singleValueContainer().decode([Self].self).map(\.meaning)
  }

  static func entries(_ decoder: any Decoder) throws -> [(key: String, value: MessageMeaning)] {
    do {
      return try decoder.singleValueContainer().decode([String: Self].self).map { ($0.key, $0.value.meaning) }
    } catch let error as DecodingError {
      // Of an object with two spellings of one key there is no dictionary.
      let keys = try decoder.container(keyedBy: NameKey.self).allKeys.map(\.stringValue)
      guard Set(keys).count < keys.count else { throw error }
      return try ContainerMeaning.entries(decoder)
    }
  }
}
