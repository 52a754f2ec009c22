#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Any value that a message can hold, whatever type wrote it.
///
/// ```swift
/// let value = try StowValue(from: data)
/// value["people"]?[3]?["name"]?.string  // "Ada"
/// let built: StowValue = ["name": "Ada", "tags": ["a", "b"], "level": 4.25, "id": .uuid(id)]
/// ```
///
/// Each kind of value in a message has a case of its own, so that nothing is lost: a value that is read and
/// written again means the same. See <doc:Unknown> for when it also has the same bytes.
///
/// Values that would be written alike are equal. So are objects whatever the order of their keys, two spellings of the same
/// Unicode characters, and decimal numbers of the same size, such as 0 and 0.00. Numbers of different kinds are never
/// equal. Floating-point numbers and dates are equal if they have the same bits, so that NaN equals itself and `0.0` is not
/// `-0.0`. So any value may be the key of a dictionary.
///
/// Comparing, hashing, printing and releasing a value take room on the stack for each level of nesting, as
/// for any recursive type.
public enum StowValue: Hashable, Sendable, ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A list of keys and their values, in order.
  public typealias Object = StowObject

  /// No value.
  case null
  /// The nil of an optional inside `level` other optionals, at least one: `.some(.none)` of an `Int??` is
  /// level 1.
  ///
  /// Levels above 255 are written as 255. A value of level 0 is equal to `null`.
  case nestedNull(level: Int)
  /// A Bool, which is not a number.
  case bool(Bool)
  /// An integer of any type.
  case integer(Int128)
  /// An integer beyond `Int128`. Smaller ones are equal to `integer`, and are decoded as that.
  case unsignedInteger(UInt128)
  /// A floating-point number of any type.
  case double(Double)
  /// The NaN of a `Float`, whose bits a `Double` would not keep. All other numbers are equal to `double`, and
  /// are decoded as that.
  case float(Float)
  /// A string. Two spellings of the same Unicode characters are equal, as they are as `String`s.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// The absolute string of a URL, which Foundation need not accept: see `url` for that.
  case url(String)
  /// A decimal number.
  case decimal(Decimal)
  /// A decimal number of 10¹²⁸ or more that `Decimal` does not hold: an integer times a power of ten. All
  /// others are equal to `decimal`, and are decoded as that.
  case largeDecimal(magnitude: UInt128, exponent: Int8, isNegative: Bool)
  /// Values in order.
  case array([StowValue])
  /// Values by their keys, in order.
  case object(StowObject)

  // MARK: making values

  /// An integer of any type, or nil if it fits into neither `Int128` nor `UInt128`.
  public init?(exactly integer: some BinaryInteger) {
    if let value = Int128(exactly: integer) {
      self = .integer(value)
    } else {
      guard let value = UInt128(exactly: integer) else { return nil }
      self = .unsignedInteger(value)
    }
  }

  /// An integer from an `Int`.
  ///
  /// ```swift
  /// let value: StowValue = ["count": StowValue(list.count)]
  /// ```
  public init(_ integer: Int) { self = .integer(Int128(integer)) }
  /// An integer from an `Int8`.
  public init(_ integer: Int8) { self = .integer(Int128(integer)) }
  /// An integer from an `Int16`.
  public init(_ integer: Int16) { self = .integer(Int128(integer)) }
  /// An integer from an `Int32`.
  public init(_ integer: Int32) { self = .integer(Int128(integer)) }
  /// An integer from an `Int64`.
  public init(_ integer: Int64) { self = .integer(Int128(integer)) }
  /// An integer from an `Int128`.
  public init(_ integer: Int128) { self = .integer(integer) }
  /// An integer from an `UInt`.
  public init(_ integer: UInt) { self = .integer(Int128(integer)) }
  /// An integer from an `UInt8`.
  public init(_ integer: UInt8) { self = .integer(Int128(integer)) }
  /// An integer from an `UInt16`.
  public init(_ integer: UInt16) { self = .integer(Int128(integer)) }
  /// An integer from an `UInt32`.
  public init(_ integer: UInt32) { self = .integer(Int128(integer)) }
  /// An integer from an `UInt64`.
  public init(_ integer: UInt64) { self = .integer(Int128(integer)) }
  /// An integer from an `UInt128`.
  public init(_ integer: UInt128) {
    self = Int128(exactly: integer).map { .integer($0) } ?? .unsignedInteger(integer)
  }

  /// A URL, by its absolute string.
  ///
  /// ```swift
  /// let value: StowValue = ["home": .url(home)]
  /// ```
  public static func url(_ url: URL) -> StowValue { .url(url.absoluteString) }

  // MARK: literals

  /// Makes `null`. Where an optional is expected, `nil` is the optional's own: write `.null` there.
  public init(nilLiteral: ()) { self = .null }
  /// A Bool.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int128) { self = .integer(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: StowValue...) { self = .array(elements) }

  /// Makes an object in the order of the literal, as `StowObject` does.
  public init(dictionaryLiteral elements: (String, StowValue)...) { self = .object(StowObject(elements)) }

  // MARK: comparing

  /// Returns whether both are equal, as ``StowValue`` says. Takes time in proportion to the values.
  public static func == (left: StowValue, right: StowValue) -> Bool { left.form == right.form }

  /// Hashes what equal values have in common. Takes time in proportion to the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(form) }

  /// A value as it is decoded, where several would be written alike; floating-point numbers by their bits.
  fileprivate enum Form: Hashable {
    case null(level: Int)
    case bool(Bool)
    case integer(Int128)
    case unsigned(UInt128)
    case double(UInt64)
    case singleNaN(UInt32)
    case string(String)
    case data(Data)
    case date(UInt64)
    case uuid(UUID)
    case url(String)
    case decimal(Decimal)
    case largeDecimal(magnitude: UInt128, exponent: Int, isNegative: Bool)
    case array([StowValue])
    case object(StowObject)
  }

  private var form: Form {
    switch self {
    case .null: .null(level: 0)
    case .nestedNull(let level): .null(level: min(max(level, 0), 255))
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsignedInteger(let value): Int128(exactly: value).map { .integer($0) } ?? .unsigned(value)
    case .double(let value): .double(value.bitPattern)
    case .float(let value):
      value.isNaN ? .singleNaN(value.bitPattern) : .double(Double(value).bitPattern)
    case .string(let value): .string(value)
    case .data(let value): .data(value)
    case .date(let value): .date(value.timeIntervalSinceReferenceDate.bitPattern)
    case .uuid(let value): .uuid(value)
    case .url(let value): .url(value)
    case .decimal(let value): DecimalParts(value).form
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent).form
    case .array(let value): .array(value)
    case .object(let value): .object(value)
    }
  }
}

extension DecimalParts {
  /// A form that is the same for all parts of one number.
  fileprivate var form: StowValue.Form {
    if let decimal { return .decimal(decimal) }
    var (magnitude, exponent) = (magnitude, Int(exponent))
    while magnitude != 0, magnitude.isMultiple(of: 10) {
      (magnitude, exponent) = (magnitude / 10, exponent + 1)
    }
    return .largeDecimal(magnitude: magnitude, exponent: exponent, isNegative: isNegative)
  }
}

extension StowValue {
  /// Makes the decimal number of these parts.
  init(_ parts: DecimalParts) {
    self =
      parts.decimal.map { .decimal($0) }
      ?? .largeDecimal(magnitude: parts.magnitude, exponent: parts.exponent, isNegative: parts.isNegative)
  }
}

/// A decoder or an encoder whose single-value container knows `StowValue` as it knows an `Int`.
protocol StowValueCoder {}
