#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a message stands for, with all kinds apart that a reader of any message can tell apart.
public enum MessageMeaning: Sendable {
  /// Levels beyond 4 are 4: optionals that tell the levels apart have to end somewhere.
  case null(level: Int)
  case bool(Bool)
  case integer(Int128)
  /// An integer beyond `Int128`.
  case unsigned(UInt128)
  case float(bits: UInt64)
  /// A NaN that a `Float` holds, whichever of the formats it has: as a `Double` both may be the same. It is quiet,
  /// because a `Double` on the way makes it so.
  case singleNaN(bits: UInt32)
  case string(String)
  case data(Data)
  case date(seconds: UInt64)
  case uuid(UUID)
  case url(String)
  case decimal(Decimal)
  /// A decimal number that `Decimal` does not hold.
  case largeDecimal(magnitude: UInt128, exponent: Int8, isNegative: Bool)
  case array([MessageMeaning])
  case object([(key: String, value: MessageMeaning)])
}
