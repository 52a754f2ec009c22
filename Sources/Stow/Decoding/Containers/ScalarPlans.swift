#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The plans that are compiled for a type, because values of it come in large numbers.

extension ReadableScalar {
  static func makeDecodingPlan() -> AnyDecodingPlan { ScalarPlan<Self>() }
  static func makeArrayPlan() -> AnyDecodingPlan { ArrayDecodingPlan<Self>() }
  static func makeDictionaryPlan() -> AnyDecodingPlan { DictionaryDecodingPlan<Self>() }
}

extension ReadableScalar where Self: FixedWidthInteger {
  static func makeArrayPlan() -> AnyDecodingPlan { IntegerArrayPlan<Self>() }
}

extension Int {
  static func makeDictionaryPlan() -> AnyDecodingPlan { ScalarDictionaryPlan<Int>() }
}

extension Double {
  static func makeArrayPlan() -> AnyDecodingPlan { DoubleArrayPlan() }
}

extension Data {
  static func makeDecodingPlan() -> AnyDecodingPlan { DataPlan() }
}

extension String {
  static func makeArrayPlan() -> AnyDecodingPlan { StringArrayPlan() }
  static func makeDictionaryPlan() -> AnyDecodingPlan { ScalarDictionaryPlan<String>() }
}

/// Decodes values of a type that is read without its own `init(from:)`.
class ScalarPlan<Value: ReadableScalar>: DecodingPlan<Value> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> Value {
    var next = offset
    do throws(FormatError) {
      return try Value.read(session.message, at: offset, next: &next)
    } catch {
      throw session.error(error, at: node, expected: Value.self)
    }
  }

  override func decode(
    _ element: ElementSource.Element, of source: SessionElements, _ node: PathNode
  ) throws -> Value {
    do throws(FormatError) {
      guard case .cell(let cell) = element else { try fail(.cellMismatch, at: source.offset) }
      return try Value.read(cell, at: source.offset)
    } catch {
      throw source.session.error(error, at: node, expected: Value.self)
    }
  }
}

/// Decodes data, also from an array of bytes.
final class DataPlan: ScalarPlan<Data> {
  override func decode(at offset: Int, from session: DecodingSession, _ node: PathNode) throws -> Data {
    let reader = session.message.reader
    guard offset < reader.count, reader.base[offset] != DataValues.tag else {
      return try super.decode(at: offset, from: session, node)
    }
    let entry = session.types.entry(for: [UInt8].self)
    return Data(try session.decodeKnown([UInt8].self, entry, at: offset, node))
  }
}
