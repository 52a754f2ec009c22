/// What a value is: the kinds of values that a message tells apart.
///
/// ```swift
/// if try message.kind(at: ["people"]) == .array { … }
/// ```
public enum StowKind: String, Hashable, Sendable, CaseIterable {
  /// The nil of an optional, at whatever level.
  case null
  /// A Bool, which is no number.
  case bool
  /// An integer of any size.
  case integer
  /// A floating-point number of any size.
  case floatingPoint
  /// A string.
  case string
  /// Bytes.
  case data
  /// A point in time.
  case date
  /// A UUID.
  case uuid
  /// A URL.
  case url
  /// A decimal number.
  case decimal
  /// Values in order.
  case array
  /// Values by their keys.
  case object
}
