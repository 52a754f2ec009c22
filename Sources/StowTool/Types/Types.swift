import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `types`: Swift source for values.
enum Types {
  static let verb = Verb(
    name: "types", operands: "[options] FILE …", files: 1...Int.max,
    summary: "print Swift types that decode values, and their tables of fields",
    details: """
      Objects become Codable structs, named after their keys. All values share one type: a key that is missing or null in some
      becomes an optional. Values of several kinds become StowValue, as do the elements of empty arrays; integers mixed with
      floating-point numbers become Double.

      Objects become dictionaries if each key is a UUID or begins with a digit; if there are more than \(Objects.mostKeys) keys; or if there
      are more than \(Objects.fewestKeys), none of them is in all objects, and all values have one type.

      Decoding and encoding again with these types preserves the values, with two exceptions: null optionals are left out, and
      integers mixed with floating-point numbers become Doubles. The order of keys may change.
      """,
    options: Contents.options + [
      Option("--name", "NAME", "the name of the outermost type; Root by default"),
      Option("--fields", nil, "also print the table of fields of each struct, for faster coding"),
    ]
  ) { arguments in
    let name = arguments.value("--name") ?? "Root"
    guard SwiftNames.isTypeName(name) else {
      throw Failure("--name needs a free name for a type, such as Station, not \"\(name)\"")
    }
    let shape = Shape()
    var (count, isWhole) = (0, true)
    for file in arguments.files {
      isWhole =
        try Contents.forEach(in: file, arguments) { value, _ in
          shape.add(value)
          count += 1
        } && isWhole
    }
    guard count > 0 else { throw Failure("\(arguments.files.joined(separator: ", ")): no values", .differs) }
    let output = Output()
    output.text(SwiftSource(of: shape, name: name, fields: arguments.has("--fields")).text)
    output.flush()
    return isWhole ? .fine : .differs
  }
}

/// What all values at one place have in common: a tree that grows with the number of keys, not of values.
final class Shape {
  enum Kind {
    case bool, integer, double, string, data, date, uuid, url, decimal, array, object
    /// Integers and floating-point numbers.
    case number
    /// Several kinds, or one that only a `StowValue` holds.
    case mixed
  }

  /// Nil until there is a value that is not nil.
  private(set) var kind: Kind?
  /// How many levels of optionals the nils need.
  private(set) var levels = 0
  /// The least integer and the greatest, and 0.
  private(set) var (least, greatest): (Int128, UInt128) = (0, 0)
  /// The elements of arrays.
  private(set) var element: Shape?
  private(set) var objects: Objects?

  /// The most optionals inside each other: with more, Swift's runtime takes long.
  private static let mostLevels = 12

  func add(_ value: StowValue) {
    switch value {
    case .null: levels = max(levels, 1)
    case .nestedNull(let level):
      if level < Self.mostLevels { levels = max(levels, level + 1) } else { join(.mixed) }
    case .bool: join(.bool)
    case .integer(let value):
      least = min(least, value)
      greatest = max(greatest, UInt128(max(value, 0)))
      join(.integer)
    case .unsignedInteger(let value):
      greatest = max(greatest, value)
      join(.integer)
    case .double: join(.double)
    case .string: join(.string)
    case .data: join(.data)
    case .date: join(.date)
    case .uuid: join(.uuid)
    // Foundation refuses some texts, and changes others.
    case .url(let text): join(URL(string: text)?.absoluteString == text ? .url : .mixed)
    case .decimal: join(.decimal)
    case .float, .largeDecimal: join(.mixed)
    case .array(let values):
      join(.array)
      for value in values { element?.add(value) }
    case .object(let object):
      join(.object)
      if objects?.add(object) == false { join(.mixed) }
    }
  }

  /// Adds the values of another shape.
  func add(_ other: Shape) {
    levels = max(levels, other.levels)
    (least, greatest) = (min(least, other.least), max(greatest, other.greatest))
    guard let kind = other.kind else { return }
    join(kind)
    if let values = other.element { element?.add(values) }
    if let others = other.objects, objects?.add(others) == false { join(.mixed) }
  }

  private func join(_ other: Kind) {
    if kind == other { return }
    let isNumber = kind == .number || kind == .integer || kind == .double
    if kind == nil {
      kind = other
    } else if isNumber, other == .number || other == .integer || other == .double {
      kind = .number
    } else {
      kind = .mixed
    }
    element = kind == .array ? Shape() : nil
    objects = kind == .object ? Objects() : nil
  }

  /// Whether all values may be of one type that says something about them.
  fileprivate var isUniform: Bool {
    switch kind {
    case .mixed: false
    case .array: element?.kind == nil || element?.isUniform == true
    case .object: objects?.haveSomeKeyInCommon == true
    default: true
    }
  }
}

/// What the objects at one place have in common.
struct Objects {
  final class Field {
    let key: String
    /// How many objects have the key.
    fileprivate(set) var count = 0
    let shape = Shape()

    fileprivate init(_ key: String) { self.key = key }
  }

  /// Objects with more keys than the first limit are dictionaries. So are those with more than the second, if
  /// no key is in all of them.
  static let (mostKeys, fewestKeys) = (200, 20)

  /// How many objects there are.
  private(set) var count = 0
  /// A field for each key, in the order of appearance.
  private(set) var fields: [Field] = []
  private var places: [String: Int] = [:]
  /// The values of all keys, if there are too many keys to keep apart.
  private var values: Shape?

  /// Adds an object. Returns false if no struct or dictionary of Swift holds it, because several spellings of
  /// a key are equal as strings.
  fileprivate mutating func add(_ object: StowObject) -> Bool {
    if let values {
      for value in object.values { values.add(value) }
      return Set(object.keys).count == object.count
    }
    count += 1
    for (key, value) in object {
      guard let field = field(key) else { return false }
      field.count += 1
      field.shape.add(value)
    }
    limitKeys()
    return true
  }

  fileprivate mutating func add(_ other: Objects) -> Bool {
    if let values = values ?? other.values.map({ _ in merged }) {
      values.add(other.values ?? other.merged)
      self.values = values
      return true
    }
    count += other.count
    for other in other.fields {
      guard let field = field(other.key) else { return false }
      field.count += other.count
      field.shape.add(other.shape)
    }
    limitKeys()
    return true
  }

  private mutating func field(_ key: String) -> Field? {
    if let place = places[key] { return fields[place].key.hasSameBytes(as: key) ? fields[place] : nil }
    places[key] = fields.count
    fields.append(Field(key))
    return fields[fields.count - 1]
  }

  private mutating func limitKeys() {
    guard fields.count > Self.mostKeys else { return }
    values = merged
    (fields, places) = ([], [:])
  }

  /// The values of all fields, merged as those of one place.
  private var merged: Shape {
    let shape = Shape()
    for field in fields { shape.add(field.shape) }
    return shape
  }

  /// The values of the objects if these are dictionaries, whose keys are data and not names; nil if they are structs.
  var dictionaryValues: Shape? {
    if let values { return values }
    if fields.allSatisfy({ Self.isData($0.key) }) { return merged }
    guard fields.count > Self.fewestKeys, fields.allSatisfy({ $0.count < count }) else { return nil }
    let values = merged
    return values.isUniform ? values : nil
  }

  fileprivate var haveSomeKeyInCommon: Bool { dictionaryValues != nil || fields.contains { $0.count == count } }

  private static func isData(_ key: String) -> Bool {
    let first = key.first { $0 != "-" }
    return first?.isASCII == true && first?.isNumber == true || UUID(uuidString: key) != nil
  }
}
