import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What can be done with bytes from anywhere.
///
/// Every target must come back or throw a `Finding`; whatever else happens is one, too.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// Decodes into a value of whatever kind there is.
  case generic
  /// Decodes into records as programs have them, with tables of fields and without.
  case records
  /// Decodes into types that have nothing to do with the message, and drives containers over it.
  case unrelated
  /// Decodes, encodes and decodes again.
  case roundTrip
  /// Drives the containers of an encoder and a decoder, and compares them with a model.
  case containers
  /// Reads a context and a message that relies on it, and writes in contexts what it has read.
  case contexts
  /// Opens a file as a log, reads it in every way, and appends to it.
  case logs
  /// Opens a message and reads it in parts.
  case parts
  /// Reads streams that are cut, changed or made up.
  case streams
  /// Reads a text in diagnostic notation.
  case notation
  /// Drives the containers of an encoder alone, with calls that refuse and class hierarchies.
  case writing

  public func run(_ bytes: UnsafeRawBufferPointer) throws {
    // The message is read where it stands, so that a read beyond it is noticed.
    switch self {
    case .generic: try Decoding.survive(bytes, as: [GenericValue.self, StowValue.self])
    case .records:
      try Decoding.survive(bytes, as: Decoding.recordTypes)
      try Decoding.compare([Record<Tabled>].self, [Record<Untabled>].self, bytes)
      try Decoding.compare(Record<Tabled>.self, Record<Untabled>.self, bytes)
    case .unrelated: try UnrelatedTarget.run(bytes)
    case .roundTrip: try RoundTripTarget.run(bytes)
    case .containers: try ContainersTarget.run(bytes)
    case .writing: try ContainersTarget.runWriting(bytes)
    case .contexts: try ContextTarget.run(bytes)
    case .logs: try LogTarget.run(bytes)
    case .parts: try PartsTarget.run(bytes)
    case .streams: try StreamTarget.run(bytes)
    case .notation: try NotationTarget.run(bytes)
    }
  }
}

/// What is wrong with Stow.
public struct Finding: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// A message where it stands.
struct Message: ContiguousBytes {
  let bytes: UnsafeRawBufferPointer

  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try body(bytes) }
}

/// Decoding that must end well, or with a `DecodingError`.
enum Decoding {
  static var recordTypes: [any Decodable.Type] {
    [[Record<Tabled>].self, Record<Untabled>.self, [Sparse].self, Shelf.self, Dog.self]
  }

  static func survive(_ bytes: UnsafeRawBufferPointer, as types: [any Decodable.Type]) throws {
    for type in types { try survive(type, bytes) }
  }

  static func survive(_ type: any Decodable.Type, _ bytes: UnsafeRawBufferPointer) throws {
    _ = try attempt { _ = try StowDecoder().decode(type, from: Message(bytes: bytes)) }
  }

  /// Decodes a type with a table of fields and the same type without, which must have the same values or errors.
  static func compare(
    _ tabled: any Codable.Type, _ untabled: any Codable.Type, _ bytes: UnsafeRawBufferPointer
  ) throws {
    let (one, other) = (try outcome(of: tabled, bytes), try outcome(of: untabled, bytes))
    if one != other { throw Finding("with a table: \(one); without: \(other)") }
  }

  private static func outcome(of type: any Codable.Type, _ bytes: UnsafeRawBufferPointer) throws -> String {
    do {
      let value = try StowDecoder().decode(type, from: Message(bytes: bytes))
      let encoder = StowEncoder()
      encoder.outputFormatting = .sortedKeys
      return try "\(Array(encoder.encode(value)))"
    } catch let error as DecodingError {
      return "\(error)".replacing("Untabled", with: "Tabled")
    } catch {
      throw Finding("coding throws \(error)")
    }
  }

  /// The result of `body`; nil if it throws as it may.
  static func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch is DecodingError {
      return nil
    } catch {
      throw Finding("decoding throws \(error)")
    }
  }
}
