#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Types whose values are decoded without their own `init(from:)`, so that a call, a container and an existential are saved
// for every value: scalars, optionals, arrays, dictionaries of strings, and `StowValue`.

/// A way to decode the values of some type.
class AnyDecodingPlan {}

/// A way to decode the values of one type, without knowing the type's parameters where it is called.
///
/// The caller knows only `Value`, and calls what the object's class has. No metadata is looked up for that.
class DecodingPlan<Value>: AnyDecodingPlan {
  func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    preconditionFailure("a plan without a way to decode")
  }

  /// Returns the value that stands for a nil `level` optionals deep, or nil if the type has none.
  func none(level: Int, _ session: DecodingSession) -> Value? { nil }

  /// Decodes what a path finds in each of some elements, if that can be done at once; nil where it takes a decoder, also
  /// to find out what is wrong.
  func decode(each elements: PlaceElements, _ session: DecodingSession) -> Value? { nil }
}

// MARK: which types have plans

/// The types that have a plan besides scalars: `StowValue`, optionals, arrays, and dictionaries.
protocol PlannedDecodable {
  static func makeDecodingPlan() -> AnyDecodingPlan
}

typealias DecodingPlans = TypePlans<AnyDecodingPlan>

extension DecodingPlans {
  init() {
    self.init(
      ofScalar: {
        $0 == StowValue.self ? Self.plan($0) : Scalars.readable($0)?.makeDecodingPlan()
      },
      ofGeneric: Self.plan)
  }

  private static func plan(_ type: Any.Type) -> AnyDecodingPlan? {
    (type as? any PlannedDecodable.Type)?.makeDecodingPlan()
  }
}

extension Scalars {
  private static let readable = all.compactMap { $0 as? any ReadableScalar.Type }

  /// Returns a type as the scalar that it is; nil for other types.
  static func readable(_ type: Any.Type) -> (any ReadableScalar.Type)? { readable.first { $0 == type } }
}

extension Optional: PlannedDecodable where Wrapped: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan { OptionalDecodingPlan<Wrapped>() }
}

extension Array: PlannedDecodable where Element: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    Scalars.readable(Element.self)?.makeArrayPlan() ?? ArrayDecodingPlan<Element>()
  }
}

extension Dictionary: PlannedDecodable where Key: Decodable, Value: Decodable {
  static func makeDecodingPlan() -> AnyDecodingPlan {
    guard Key.self == String.self else { return PlainDecodingPlan<Self>() }
    return Scalars.readable(Value.self)?.makeDictionaryPlan() ?? DictionaryDecodingPlan<Value>()
  }
}

extension ReadableScalar {
  static func makeDecodingPlan() -> AnyDecodingPlan { ScalarPlan<Self>() }
  static func makeArrayPlan() -> AnyDecodingPlan { ScalarArrayPlan<Self>() }
  static func makeDictionaryPlan() -> AnyDecodingPlan { DictionaryDecodingPlan<Self>() }
}

extension Data {
  static func makeDecodingPlan() -> AnyDecodingPlan { DataPlan() }
}

extension Int {
  static func makeDictionaryPlan() -> AnyDecodingPlan { ScalarDictionaryPlan<Int>() }
}

extension String {
  static func makeDictionaryPlan() -> AnyDecodingPlan { ScalarDictionaryPlan<String>() }
}

// MARK: the plans of single values

final class PlainDecodingPlan<Value: Decodable>: DecodingPlan<Value> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    try session.decodePlain(Value.self, ValueDecoder(session, place, node))
  }
}

class ScalarPlan<Value: ReadableScalar>: DecodingPlan<Value> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    do throws(FormatError) { return try place.read(Value.self, session.message) } catch {
      throw session.error(error, at: node, expected: Value.self)
    }
  }
}

/// Decodes data, also from an array of bytes.
final class DataPlan: ScalarPlan<Data> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Data {
    let reader = session.message.reader
    guard let offset = place.tagged, offset < reader.count, reader.base[offset] != DataValues.tag else {
      return try super.decode(at: place, from: session, node)
    }
    let entry = session.types.entry(for: [UInt8].self)
    return Data(try session.decode([UInt8].self, entry, at: place, node))
  }
}

/// Tells a nil of its own from one of the optional inside, which `Optional.init(from:)` cannot.
final class OptionalDecodingPlan<Wrapped: Decodable>: DecodingPlan<Wrapped?> {
  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws
    -> Wrapped?
  {
    if let level = place.levelOfNil(session.message) { return session.none(Wrapped.self, level: level - 1) }
    return try session.decode(Wrapped.self, session.types.entry(for: Wrapped.self), at: place, node)
  }

  /// Returns nil if it is this optional's own, or a value that holds it further inside.
  override func none(level: Int, _ session: DecodingSession) -> Wrapped?? {
    .some(session.none(Wrapped.self, level: level - 1))
  }
}
