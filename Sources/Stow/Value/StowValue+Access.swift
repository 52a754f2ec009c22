#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What a value is and holds, and the way to what is inside.

extension StowValue {
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
      var value: StowValue? = elements.indices.contains(index) ? elements.take(at: index) : .none
      defer {
        elements.replace(at: index, with: value)
        if let other, elements.isEmpty { self = other } else { self = .array(elements) }
      }
      yield &value
    }
  }

  // MARK: what it is

  /// Whether this is the nil of an optional, at any level.
  public var isNull: Bool {
    switch self {
    case .null, .nestedNull: true
    default: false
    }
  }

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

  /// Replaces the element at an index, or appends one after the last; without an element, removes the one
  /// there.
  fileprivate mutating func replace(at index: Int, with element: StowValue?) {
    guard let element else {
      if indices.contains(index) { remove(at: index) }
      return
    }
    if index == count { append(element) } else { self[index] = element }
  }
}
