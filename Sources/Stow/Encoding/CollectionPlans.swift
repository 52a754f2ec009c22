// Optionals, arrays and dictionaries, recorded without their own `encode(to:)`: what they would record is
// known, and a call and an existential are saved for every element.

extension Optional: PlannedEncodable where Wrapped: Encodable {
  static func makeEncodingPlan() -> EncodingPlan { OptionalEncodingPlan<Wrapped>() }
}

/// Keeps the level of a nil, which `Optional.encode(to:)` would lose.
private final class OptionalEncodingPlan<Wrapped: Encodable>: EncodingPlan {
  override var isOptional: Bool { true }

  override func encode(
    at address: UnsafeRawPointer, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    guard let value = address.assumingMemoryBound(to: Wrapped?.self).pointee else {
      session.recordNil(level: level, key: key)
      return
    }
    let entry = session.plans.entry(for: Wrapped.self)
    try session.encodeKnown(value, entry, key: key, parent: parent, level: level + 1)
  }
}

extension Array: PlannedEncodable where Element: Encodable {
  static func makeEncodingPlan() -> EncodingPlan {
    let bulk: EncodingPlan? =
      switch ValueKind(Element.self) {
      case .int: BulkEncodingPlan<Int>(kind: .integers) { .ints($0) }
      case .int64: BulkEncodingPlan<Int64>(kind: .integers) { .integers($0) }
      case .int8: BulkEncodingPlan<Int8>.integers
      case .int16: BulkEncodingPlan<Int16>.integers
      case .int32: BulkEncodingPlan<Int32>.integers
      case .uint: BulkEncodingPlan<UInt>.integers
      case .uint8: BulkEncodingPlan<UInt8>.integers
      case .uint16: BulkEncodingPlan<UInt16>.integers
      case .uint32: BulkEncodingPlan<UInt32>.integers
      case .uint64: BulkEncodingPlan<UInt64>.integers
      case .double: BulkEncodingPlan<Double>(kind: .doubles) { .doubles($0) }
      case .float:
        BulkEncodingPlan<Float>(kind: .doubles) { values in
          values.contains(where: \.isNaN) ? nil : .doubles(values.map(Double.init))
        }
      case .bool: BulkEncodingPlan<Bool>(kind: .bools) { .bools($0) }
      case .string: StringArrayEncodingPlan()
      default: nil
      }
    return bulk ?? ArrayEncodingPlan<Element>()
  }
}

/// Records the elements one by one.
private class ArrayEncodingPlan<Element: Encodable>: EncodingPlan {
  override func encode(
    at address: UnsafeRawPointer, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    let elements = address.assumingMemoryBound(to: [Element].self)
    try session.recordContainer(.container(.array, key: key, parent: parent)) { begin in
      let entry = session.plans.entry(for: Element.self)
      let isPlain = entry.kind == .plain
      try elements.pointee.withUnsafeBufferPointer { buffer in
        guard let first = buffer.baseAddress else { return }
        for index in 0..<buffer.count {
          let key = UInt64(truncatingIfNeeded: index) << 32
          if isPlain {
            try borrowing(first + index) { try session.encodePlain($0, key: key, parent: begin) }
          } else {
            try session.encodeKnown(first[index], entry, key: key, parent: begin, level: 0)
          }
        }
      }
    }
  }
}

/// Arrays of strings, compiled for them.
private final class StringArrayEncodingPlan: EncodingPlan {
  override func encode(
    at address: UnsafeRawPointer, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    try session.recordContainer(.container(.array, key: key, parent: parent)) { _ in
      for string in address.assumingMemoryBound(to: [String].self).pointee { session.record(string, key: 0) }
    }
  }
}

/// Passes the pointee where it is: reading a copyable one copies it first.
@inline(__always)
private func borrowing<Pointee: ~Copyable>(
  _ pointer: UnsafePointer<Pointee>, _ body: (borrowing Pointee) throws -> Void
) rethrows {
  try body(pointer.pointee)
}

/// Keeps a long array of numbers as it is, to be packed when it is written.
private final class BulkEncodingPlan<Element: Encodable>: ArrayEncodingPlan<Element> {
  private let kind: Token.Kind
  private let retain: ([Element]) -> RetainedValue?

  /// Shorter arrays are recorded element by element.
  static var shortest: Int { 17 }

  init(kind: Token.Kind, retain: @escaping ([Element]) -> RetainedValue?) {
    self.kind = kind
    self.retain = retain
  }

  override func encode(
    at address: UnsafeRawPointer, into session: EncodingSession, key: UInt64, parent: Int, level: Int
  ) throws {
    let elements = address.assumingMemoryBound(to: [Element].self).pointee
    if elements.count >= Self.shortest, let value = retain(elements) {
      try session.checkDepth(key: key, parent: parent)
      session.retain(value, as: kind, key: key)
    } else {
      try super.encode(at: address, into: session, key: key, parent: parent, level: level)
    }
  }
}

extension BulkEncodingPlan where Element: FixedWidthInteger {
  /// For integers of any width; those beyond `Int64` are recorded one by one.
  static var integers: EncodingPlan {
    BulkEncodingPlan(kind: .integers) { values in
      if Element.bitWidth == 64, !Element.isSigned, values.contains(where: { $0 > Element(Int64.max) }) {
        return nil
      }
      return .integers(values.map { Int64(truncatingIfNeeded: $0) })
    }
  }
}
