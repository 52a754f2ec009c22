/// A type whose properties Stow reads and writes where they stand, by a table of its fields.
///
/// The type stays `Codable` as it is, and its messages have the same bytes with a table as without. What changes is the
/// speed: Stow makes no container and no call for each property.
///
/// ```swift
/// struct Point: Codable {
///   var x, y, z: Double
/// }
///
/// extension Point: StowFields {
///   static let stowFields = FieldTable(
///     Point.init(x:y:z:), Field("x", \.x), Field("y", \.y), Field("z", \.z))
/// }
/// ```
///
/// A table lists every property that the type encodes, in the order in which it encodes them, by the names of its coding
/// keys. The compiler checks that the fields are the arguments of the initializer, and the first use of a table that it is
/// right (``FieldTable/check(_:)``). A generic type has no stored static properties; its table is a computed one.
///
/// Classes must be final. They are decoded by their initializer, and encode themselves.
public protocol StowFields: Codable {
  /// The fields of the type.
  static var stowFields: FieldTable<Self> { get }
}

/// One property of a type, and the name of its coding key.
public struct Field<Root, Value: Codable>: Sendable {
  let name: String
  let property: any KeyPath<Root, Value> & Sendable
  let makeDefault: (@Sendable () -> Value)?

  /// The field of a property that a message has a value for. One that is an optional may be absent, and is nil then.
  public init(_ name: String, _ property: any KeyPath<Root, Value> & Sendable) {
    self.name = name
    self.property = property
    makeDefault = nil
  }

  /// The field of a property that has another value where a message has none for it.
  ///
  /// ```swift
  /// Field("retries", \.retries, default: 3)
  /// ```
  public init(
    _ name: String, _ property: any KeyPath<Root, Value> & Sendable,
    default makeDefault: @autoclosure @escaping @Sendable () -> Value
  ) {
    self.name = name
    self.property = property
    self.makeDefault = makeDefault
  }
}

/// The fields of a type, and the initializer that takes them.
public struct FieldTable<Root>: @unchecked Sendable {
  // Of what it holds, only the types that the closures name are not known to be `Sendable`.
  let fields: [AnyField<Root>]
  /// Makes a value of those that stand at the offsets from a place in memory, and takes them away.
  let make: (UnsafeMutableRawPointer, [Int]) -> Root

  /// A table of fields, in the order of the arguments of `initializer`, which does nothing but store them.
  public init<each Value: Codable>(
    _ initializer: @escaping @Sendable (repeat each Value) -> Root, _ field: repeat Field<Root, each Value>
  ) {
    var fields: [AnyField<Root>] = []
    repeat fields.append(AnyField(each field))
    self.fields = fields
    make = { memory, offsets in
      var number = 0
      func take<Taken>(_ type: Taken.Type) -> Taken {
        defer { number += 1 }
        return (memory + offsets[number]).assumingMemoryBound(to: type).move()
      }
      return initializer(repeat take((each Value).self))
    }
  }

  /// Where the values of the fields stand one after the other, until the initializer takes them.
  var packedLayout: (offsets: [Int], size: Int, alignment: Int) {
    var (offsets, size, alignment): ([Int], Int, Int) = ([], 0, 16)
    for field in fields {
      let offset = (size + field.alignment - 1) / field.alignment * field.alignment
      offsets.append(offset)
      size = offset + field.size
      alignment = max(alignment, field.alignment)
    }
    return (offsets, max(size, 1), alignment)
  }

  /// Where the properties lie in a value; nil if one is not stored there as it is, as in a class.
  var storedOffsets: [Int]? {
    let offsets = fields.compactMap(\.offset)
    return offsets.count == fields.count ? offsets : nil
  }
}

/// A field, whose type is not known here.
struct AnyField<Root> {
  let name: String
  let type: any Codable.Type
  let makeDefault: (() -> Any)?
  /// Where the property lies in a value; nil if it is not stored there as it is.
  let offset: Int?
  let size: Int
  let alignment: Int
  /// Copies the property of a value to a place in memory.
  let copy: (Root, UnsafeMutableRawPointer) -> Void
  /// Whether two values have the same property, as far as that can be told.
  let isSame: (Root, Root) -> Bool

  init<Value>(_ field: Field<Root, Value>) {
    name = field.name
    offset = MemoryLayout<Root>.offset(of: field.property)
    (size, alignment) = (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    type = Value.self
    makeDefault = field.makeDefault
    copy = { $1.put($0[keyPath: field.property]) }
    isSame = { value, other in
      // What is not equal to itself, as a NaN, tells nothing.
      func isSame<Known: Equatable>(_ known: Known) -> Bool {
        known == other[keyPath: field.property] as? Known || known != known
      }
      return (value[keyPath: field.property] as? any Equatable).map { isSame($0) } ?? true
    }
  }
}
