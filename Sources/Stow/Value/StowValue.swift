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
/// Values that would be written alike are equal. So are objects whatever the order of their keys, two spellings of the
/// same Unicode characters, and decimal numbers of the same size, such as 0 and 0.00. Numbers of different kinds are
/// never equal. Floating-point numbers and dates are equal if their bits are: NaN equals itself, and `0.0` is not
/// `-0.0`.
///
/// Comparing, hashing, printing and releasing a value take room on the stack for each level of nesting.
public enum StowValue: Hashable, Sendable, ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// No value.
  case null
  /// The nil of an optional inside `level` other optionals: `.some(.none)` of an `Int??` is level 1.
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
  /// The NaN of a `Float`, whose bits a `Double` would not keep. Other numbers equal `double`, and are decoded as that.
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

  /// An integer of any type.
  ///
  /// ```swift
  /// let value: StowValue = ["count": StowValue(list.count)]
  /// ```
  ///
  /// - Precondition: The integer fits into `Int128` or `UInt128`.
  public init(_ integer: some BinaryInteger) {
    self = Int128(exactly: integer).map { .integer($0) } ?? .unsignedInteger(UInt128(integer))
  }

  /// A URL, by its absolute string.
  ///
  /// ```swift
  /// let value: StowValue = ["home": .url(home)]
  /// ```
  public static func url(_ url: URL) -> StowValue { .url(url.absoluteString) }

  init(_ parts: DecimalParts) {
    self =
      parts.decimal.map { .decimal($0) }
      ?? .largeDecimal(magnitude: parts.magnitude, exponent: parts.exponent, isNegative: parts.isNegative)
  }

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
  @inline(never)
  public static func == (left: StowValue, right: StowValue) -> Bool { left.form == right.form }

  /// Hashes what equal values have in common. Takes time in proportion to the value.
  @inline(never)
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

  // MARK: what it is

  /// The kind of this value. Takes constant time.
  ///
  /// ```swift
  /// let isList = value.kind == .array
  /// ```
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

  /// The value for a key of an object; nil if the key is missing, or if this is not an object.
  ///
  /// ```swift
  /// value["people"]?[3]?["name"] = "Ada"
  /// ```
  ///
  /// Assigning works as in `StowObject`, in place and in the same time: nil removes the key. A value that is not an
  /// object is treated as one without keys, and becomes an object if a value is assigned.
  public subscript(key: String) -> StowValue? {
    get { object?[key] }
    _modify {
      var object = object ?? [:]
      // Stays if nothing is assigned. Not `nil`, which would be taken for the value `null`.
      let other: StowValue? = kind == .object ? .none : self
      // Released, so that the object is uniquely referenced.
      self = .null
      defer { if let other, object.isEmpty { self = other } else { self = .object(object) } }
      yield &object[key]
    }
  }

  /// The element of an array at an index; nil if the index is out of range, or if this is not an array.
  ///
  /// ```swift
  /// value["tags"]?[0] = "river"
  /// ```
  ///
  /// As for a key; assigning to the index after the last appends. Assigning nil removes an element, which takes
  /// time in proportion to the length; to keep it without a value, assign `.null`.
  ///
  /// - Precondition: A value is assigned only to an index from 0 to the number of elements.
  public subscript(index: Int) -> StowValue? {
    get {
      guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
      return elements[index]
    }
    _modify {
      var elements = array ?? []
      // As for a key.
      let other: StowValue? = kind == .array ? .none : self
      self = .null
      let isThere = elements.indices.contains(index)
      var value: StowValue? = isThere ? elements.take(at: index) : .none
      defer {
        if let value, index == elements.count {
          elements.append(value)
        } else if let value {
          elements[index] = value
        } else if isThere {
          elements.remove(at: index)
        }
        if let other, elements.isEmpty { self = other } else { self = .array(elements) }
      }
      yield &value
    }
  }

  // MARK: what it holds

  /// This value as a Bool; nil for any other kind.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// This value as an integer; nil for one that does not fit, and for any other kind.
  ///
  /// ```swift
  /// let count = value["count"]?.int ?? 0
  /// ```
  public var int: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsignedInteger(let value): Int(exactly: value)
    default: nil
    }
  }

  /// This value as a floating-point number, for an integer the nearest one; nil for any other kind.
  ///
  /// ```swift
  /// let level = value["level"]?.double ?? 0
  /// ```
  public var double: Double? {
    switch self {
    case .double(let value): value
    case .float(let value): Double(value)
    case .integer(let value): Double(value)
    case .unsignedInteger(let value): Double(value)
    default: nil
    }
  }

  /// This value as a string; nil for any other kind.
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  /// This value as data; nil for any other kind.
  public var data: Data? { if case .data(let value) = self { value } else { nil } }

  /// This value as a date; nil for any other kind.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }

  /// This value as a UUID; nil for any other kind.
  public var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }

  /// This value as a URL; nil for one that Foundation does not accept, and for any other kind.
  ///
  /// Takes the time that Foundation needs to parse it.
  public var url: URL? { if case .url(let value) = self { URL(string: value) } else { nil } }

  /// This value as a decimal number; nil for one that `Decimal` does not hold, and for any other kind.
  public var decimal: Decimal? {
    switch self {
    case .decimal(let value): value
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent).decimal
    default: nil
    }
  }

  /// The elements of this array; nil for any other kind.
  ///
  /// ```swift
  /// for person in value["people"]?.array ?? [] { print(person) }
  /// ```
  public var array: [StowValue]? { if case .array(let value) = self { value } else { nil } }

  /// This value as an object; nil for any other kind.
  ///
  /// ```swift
  /// for (key, value) in value.object ?? [:] { print(key, value) }
  /// ```
  public var object: StowObject? { if case .object(let value) = self { value } else { nil } }
}

extension [StowValue] {
  /// Moves an element out, and leaves null in its place.
  mutating func take(at index: Int) -> StowValue {
    var element = StowValue.null
    swap(&self[index], &element)
    return element
  }
}

extension DecimalParts {
  /// A form that is the same for all parts of one number.
  fileprivate var form: StowValue.Form {
    if let decimal { return .decimal(decimal) }
    var (magnitude, exponent) = (magnitude, Int(exponent))
    while magnitude != 0, magnitude.isMultiple(of: 10) { (magnitude, exponent) = (magnitude / 10, exponent + 1) }
    return .largeDecimal(magnitude: magnitude, exponent: exponent, isNegative: isNegative)
  }
}

/// A decoder or an encoder whose single-value container knows `StowValue` as it knows an `Int`.
protocol StowValueCoder {}
