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
/// Each kind of value in a message has a case of its own, so that nothing is lost: what is read and written again means
/// the same, to the bits of every number and to the order of the keys of every object (<doc:Unknown>).
///
/// Values are equal if they would be written alike: numbers of different kinds never are; floating-point numbers and
/// dates are if they have the same bits, so that NaN equals itself and `0.0` is not `-0.0`; objects are, whatever the
/// order of their keys.
///
/// Comparing, hashing, printing and letting go of a value take room on the stack for each level of nesting.
public enum StowValue: Hashable, Sendable, ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A list of keys and their values, in order.
  public typealias Object = StowObject
  /// No value.
  case null
  /// The nil of an optional that stands in so many others: `.some(.none)` of an `Int??` is level 1. Level 0 equals
  /// `null`, and levels above 255 are written as 255.
  case nestedNull(level: Int)
  /// A Bool, which is no number.
  case bool(Bool)
  /// An integer of any type.
  case integer(Int128)
  /// An integer beyond `Int128`. Others are equal to `integer`, and are decoded as that.
  case unsignedInteger(UInt128)
  /// A floating-point number of any type.
  case double(Double)
  /// A NaN that was a `Float`, whose bits a `Double` would not keep. Others are equal to `double`, and decoded as that.
  case float(Float)
  /// A string. Two spellings of the same Unicode characters are equal, as they are as `String`s.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// The absolute string of a URL, which need not be one that Foundation takes: see `url` for that.
  case url(String)
  /// A decimal number.
  case decimal(Decimal)
  /// A decimal number of 10¹²⁸ or more that `Decimal` does not hold: an integer times a power of ten. Others are equal to
  /// `decimal`, and decoded as that.
  case largeDecimal(magnitude: UInt128, exponent: Int8, isNegative: Bool)
  /// Values in order.
  case array([StowValue])
  /// Values by their keys, in order.
  case object(StowObject)

  // MARK: making values

  /// An integer of any type, or nil if it fits into neither `Int128` nor `UInt128`.
  public init?(exactly integer: some BinaryInteger) {
    let value: StowValue? =
      Int128(exactly: integer).map { .integer($0) } ?? UInt128(exactly: integer).map { .unsignedInteger($0) }
    guard let value else { return nil }
    self = value
  }

  /// An integer: `["count": StowValue(list.count)]`.
  ///
  /// - Precondition: The integer fits into `Int128` or `UInt128`, as those of all types of the standard library do.
  public init(_ integer: some FixedWidthInteger) {
    guard let value = StowValue(exactly: integer) else {
      preconditionFailure("An integer of more than 128 bits")
    }
    self = value
  }

  /// A URL, by its absolute string: `["home": .url(home)]`.
  public static func url(_ url: URL) -> StowValue { .url(url.absoluteString) }

  // MARK: literals

  /// `null`. Where an optional is wanted, `nil` is that of the optional: write `.null` there.
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

  /// An object, in the order of the literal. Of several values for one key the last counts, in the place of the first.
  public init(dictionaryLiteral elements: (String, StowValue)...) { self = .object(StowObject(elements)) }

  // MARK: comparing

  /// Whether both would be written alike. Takes time in proportion to the values.
  public static func == (left: StowValue, right: StowValue) -> Bool { left.meaning == right.meaning }

  /// Adds what equal values have in common. Takes time in proportion to the value.
  public func hash(into hasher: inout Hasher) { hasher.combine(meaning) }

  /// A value in the form that is decoded, where it has two, and numbers by their bits.
  fileprivate enum Meaning: Hashable {
    case null(level: Int)
    case bool(Bool)
    case integer(Int128)
    case unsigned(UInt128)
    case double(UInt64)
    case singleNaN(UInt32)
    case decimal(Decimal)
    case largeDecimal(magnitude: UInt128, exponent: Int, isNegative: Bool)
    case string(String)
    case url(String)
    case data(Data)
    case date(UInt64)
    case uuid(UUID)
    case array([StowValue])
    case object(StowObject)
  }

  private var meaning: Meaning {
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
    case .decimal(let value): .decimal(value)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent).meaning
    case .array(let value): .array(value)
    case .object(let value): .object(value)
    }
  }
}

extension DecimalParts {
  /// The same for all parts of one number.
  fileprivate var meaning: StowValue.Meaning {
    if let decimal { return .decimal(decimal) }
    var (magnitude, exponent) = (magnitude, Int(exponent))
    while magnitude != 0, magnitude.isMultiple(of: 10) {
      (magnitude, exponent) = (magnitude / 10, exponent + 1)
    }
    return .largeDecimal(magnitude: magnitude, exponent: exponent, isNegative: isNegative)
  }
}

extension StowValue {
  /// The decimal number of these parts.
  init(_ parts: DecimalParts) {
    self =
      parts.decimal.map { .decimal($0) }
      ?? .largeDecimal(magnitude: parts.magnitude, exponent: parts.exponent, isNegative: parts.isNegative)
  }
}

/// What a value is: `try message.kind(at: ["people"]) == .array`.
///
/// These are the kinds of version 1 of the format; a later version may add some, so a `switch` over them has a `default`.
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

extension StowValue {
  /// What this value is: `value.kind == .array`. Takes constant time.
  public var kind: StowKind {
    switch self {
    case .null, .nestedNull: .null
    case .bool: .bool
    case .integer, .unsignedInteger: .integer
    case .double, .float: .floatingPoint
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .decimal, .largeDecimal: .decimal
    case .array: .array
    case .object: .object
    }
  }

  // MARK: inside arrays and objects

  /// The value for a key of an object; nil for a key that is not there, and if this is no object:
  /// `value["people"]?[3]?["name"] = "Ada"`.
  ///
  /// Assigning works as in `StowObject`, in place and in its time: nil removes the key. A value that is not an object is
  /// taken for one without keys, and becomes an object if a value is assigned.
  public subscript(key: String) -> StowValue? {
    get { object?[key] }
    _modify {
      var object = self.object ?? [:]
      // Let go of, so that the object is referred to once and can be changed where it is.
      let other: StowValue? = self.object == nil ? self : .none
      self = .null
      defer { self = object.isEmpty ? other ?? .object(object) : .object(object) }
      yield &object[key]
    }
  }

  /// The element of an array at an index; nil for an index that is not there, and if this is no array:
  /// `value["tags"]?[0] = "river"`.
  ///
  /// Elements are changed in place, and assigning to the index after the last appends. Assigning nil removes an element,
  /// which takes time in proportion to the length. A value that is not an array is taken for one without elements, and
  /// becomes an array if a value is assigned.
  ///
  /// - Precondition: A value is assigned neither to a negative index nor to one beyond that after the last.
  public subscript(index: Int) -> StowValue? {
    get {
      guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
      return elements[index]
    }
    _modify {
      var elements = array ?? []
      // As for a key.
      let other: StowValue? = array == nil ? self : .none
      self = .null
      var value: StowValue? = elements.indices.contains(index) ? elements.take(at: index) : .none
      defer {
        elements.replace(at: index, with: value)
        self = elements.isEmpty ? other ?? .array(elements) : .array(elements)
      }
      yield &value
    }
  }

  // MARK: what it is

  /// Whether this is the nil of an optional, at whatever level.
  public var isNull: Bool { kind == .null }

  /// The Bool that this is; nil for any other kind.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The integer that this is, as in `value["count"]?.int ?? 0`; nil for one that does not fit, and for any other kind.
  public var int: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsignedInteger(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The floating-point number that this is, or the one nearest to the integer that this is; nil for any other kind.
  public var double: Double? {
    switch self {
    case .double(let value): value
    case .float(let value): Double(value)
    case .integer(let value): Double(value)
    case .unsignedInteger(let value): Double(value)
    default: nil
    }
  }

  /// The string that this is; nil for any other kind.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// The data that this is; nil for any other kind.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }

  /// The date that this is; nil for any other kind.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }

  /// The UUID that this is; nil for any other kind.
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }

  /// The URL that this is; nil for one that Foundation does not take, and for any other kind. Takes the time that
  /// Foundation needs to read it.
  public var url: URL? { if case .url(let value) = self { URL(string: value) } else { nil } }

  /// The decimal number that this is; nil for one that `Decimal` does not hold, and for any other kind.
  public var decimal: Decimal? {
    switch self {
    case .decimal(let value): value
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent).decimal
    default: nil
    }
  }

  /// The elements of the array that this is, as in `for person in value["people"]?.array ?? []`; nil for any other kind.
  public var array: [StowValue]? { if case .array(let value) = self { value } else { nil } }

  /// The object that this is, as in `for (key, value) in value.object ?? [:]`; nil for any other kind.
  public var object: StowObject? { if case .object(let value) = self { value } else { nil } }
}

extension [StowValue] {
  /// Moves an element out, which leaves null in its place.
  mutating func take(at index: Int) -> StowValue {
    var element = StowValue.null
    swap(&self[index], &element)
    return element
  }

  /// Replaces an element, or appends one after the last; removes it if there is no other.
  fileprivate mutating func replace(at index: Int, with element: StowValue?) {
    guard let element else {
      if indices.contains(index) { remove(at: index) }
      return
    }
    if index == count { append(element) } else { self[index] = element }
  }
}

/// A decoder or an encoder whose single-value container knows `StowValue` as it knows an `Int`.
protocol StowValueCoder {}
