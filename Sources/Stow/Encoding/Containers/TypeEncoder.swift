#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A way to record the values of some generic type.
class AnyTypeEncoder {}

/// A way to record the values of one generic type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls what the object's class has. No metadata is looked up for that.
class TypeEncoder<Value>: AnyTypeEncoder {
  /// Records a value.
  ///
  /// - Parameter level: How many optionals stand around the value that a nil would be taken for.
  func encode(
    _ value: borrowing Value, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    preconditionFailure("a plan without a way to encode")
  }
}

/// The types that have a plan: optionals, arrays, and dictionaries of strings.
protocol WholeEncodable {
  static func makeTypeEncoder() -> AnyTypeEncoder
}

typealias TypeEncoders = TypePlans<AnyTypeEncoder>

extension TypeEncoders {
  init() { self.init { ($0 as? any WholeEncodable.Type)?.makeTypeEncoder() } }
}

extension EncodingSession {
  /// Records a value in the current container.
  @inline(__always)
  func encode<Value: Encodable>(_ value: Value, key: UInt64) throws {
    let entry = plans.entry(for: Value.self)
    if entry.kind == .plain {
      try encodePlain(value, key: key, parent: current)
    } else if entry.kind == .planned {
      try entry.withPlan(as: TypeEncoder<Value>.self) {
        try $0.encode(value, into: self, key: key, parent: current, level: 0)
      }
    } else {
      try encodeKnown(value, entry, key: key, parent: current, level: 0)
    }
  }

  /// Records a value that an optional held, so that a nil in it is told from the optional's own.
  @inline(__always)
  func encodePresent<Value: Encodable>(_ value: borrowing Value, key: UInt64) throws {
    let entry = plans.entry(for: Value.self)
    if entry.kind == .plain {
      try encodePlain(value, key: key, parent: current)
    } else {
      try encodeKnown(copy value, entry, key: key, parent: current, level: 1)
    }
  }

  /// Records the value of a single-value container in the place of `encoder`.
  func encode<Value: Encodable>(
    _ value: Value, inPlaceOf encoder: RecordingEncoder, _ key: () -> UInt64
  ) throws {
    let entry = plans.entry(for: Value.self)
    if entry.kind == .plain {
      try encodeNested(value, in: encoder)
    } else {
      try encodeKnown(value, entry, key: key(), parent: encoder.parent, level: 0)
    }
  }

  /// Records a value whose type is known here.
  @inline(never)
  func encodeKnown<Value: Encodable>(
    _ value: Value, _ entry: TypeEncoders.Entry, key: UInt64, parent: Int, level: Int
  ) throws {
    switch entry.kind {
    case .plain: try encodePlain(value, key: key, parent: parent)
    case .bool: record(reinterpret(value, as: Bool.self), key: key)
    case .double: record(reinterpret(value, as: Double.self), key: key)
    case .float: record(reinterpret(value, as: Float.self), key: key)
    case .float16:
      #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
        record(Float(preserving: reinterpret(value, as: Float16.self)), key: key)
      #endif
    case .int: record(reinterpret(value, as: Int.self), key: key)
    case .int8: record(reinterpret(value, as: Int8.self), key: key)
    case .int16: record(reinterpret(value, as: Int16.self), key: key)
    case .int32: record(reinterpret(value, as: Int32.self), key: key)
    case .int64: record(reinterpret(value, as: Int64.self), key: key)
    case .uint: record(reinterpret(value, as: UInt.self), key: key)
    case .uint8: record(reinterpret(value, as: UInt8.self), key: key)
    case .uint16: record(reinterpret(value, as: UInt16.self), key: key)
    case .uint32: record(reinterpret(value, as: UInt32.self), key: key)
    case .uint64: record(reinterpret(value, as: UInt64.self), key: key)
    case .int128: record(reinterpret(value, as: Int128.self), key: key)
    case .uint128: record(reinterpret(value, as: UInt128.self), key: key)
    case .string: record(reinterpret(value, as: String.self), key: key)
    case .date: record(reinterpret(value, as: Date.self), key: key)
    case .uuid: record(reinterpret(value, as: UUID.self), key: key)
    case .url: record(reinterpret(value, as: URL.self), key: key)
    case .decimal: record(reinterpret(value, as: Decimal.self), key: key)
    case .data: retain(.data(reinterpret(value, as: Data.self)), as: .data, key: key)
    case .deepOptional:
      try value.encode(to: OptionalEncoder(session: self, key: key, parent: parent, level: level))
    case .planned:
      try entry.withPlan(as: TypeEncoder<Value>.self) {
        try $0.encode(value, into: self, key: key, parent: parent, level: level)
      }
    }
  }
}
