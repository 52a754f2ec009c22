/// One call of `decode` with defaults: what stands in both the message and the template, and which of them counts.
final class Merge {
  private let isLenient: Bool
  private let maximumDepth: Int
  private var plans = DecodingPlans()
  private var calls = CallDepth()

  init(isLenient: Bool, maximumDepth: Int) {
    self.isLenient = isLenient
    self.maximumDepth = maximumDepth
  }

  /// Decodes the whole value.
  ///
  /// - Parameters:
  ///   - template: What the value has by default. It counts as a whole if nothing in the message fits.
  ///   - lendDecoder: Lends a decoder of the template.
  func decode<Value: Decodable>(
    _ type: Value.Type, from message: any Decoder, defaults template: Value,
    _ lendDecoder: (_ body: (any Decoder) throws -> Value) throws -> Value
  ) throws -> Value {
    do {
      if isWhole(type) { return try message.singleValueContainer().decode(type) }
      return try lendDecoder {
        try decode(type, from: MergedDecoder(message: message, template: $0, merge: self))
      }
    } catch {
      guard replaces(error) else { throw error }
      return template
    }
  }

  /// Whether values of a type are decoded from the message alone: scalars, optionals, arrays and
  /// dictionaries.
  func isWhole(_ type: Any.Type) -> Bool {
    plans.entry(for: type).kind != .plain
  }

  /// Whether the template's value counts in place of the one that was decoded with this error.
  func replaces(_ error: any Error) -> Bool {
    guard isLenient, let error = error as? DecodingError else { return false }
    // A broken message is no reason for another value.
    return !error.isUnreadable
  }

  /// Calls the value's own `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type, from decoder: MergedDecoder) throws -> Value {
    if !calls.enter(maximumDepth: maximumDepth) {
      try calls.enterDue(maximumDepth: maximumDepth, decoder)
    }
    defer { calls.leave() }
    return try type.init(from: decoder)
  }
}
