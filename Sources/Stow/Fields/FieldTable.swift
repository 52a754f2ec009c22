import Synchronization

/// A type whose properties Stow reads and writes in place, by a table of its fields.
///
/// The type stays `Codable` as it is, and its messages have the same bytes with a table as without. Only the
/// speed changes. See <doc:Fields>.
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
/// A table lists every property that the type encodes, in the order in which it encodes them, by the names of
/// its coding keys. Check in a test that it is right (``FieldTable/check(_:)``).
///
/// Classes must be final. They are decoded by their initializer, and encoded from memory if each field is a stored
/// `var`. To find these, an encoder sets each of them to its own value on a copy of an object: observers run there.
public protocol StowFields: Codable {
  /// The fields of the type.
  static var stowFields: FieldTable<Self> { get }
}

/// One property of a type, and the name of its coding key.
public struct Field<Root, Value: Codable>: Sendable {
  let name: String
  let property: any KeyPath<Root, Value> & Sendable
  let makeDefault: (@Sendable () -> Value)?

  /// Makes the field of a property that must have a value in messages. An optional may be absent, and is then nil.
  public init(_ name: String, _ property: any KeyPath<Root, Value> & Sendable) {
    self.name = name
    self.property = property
    makeDefault = nil
  }

  /// Makes the field of a property that has a default value for messages that lack it.
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
  // Unchecked only because the metatypes in the closures are not known to be `Sendable`.
  let fields: [AnyField]
  let witnesses: FieldWitnesses

  /// Makes a table of fields, in the order of the arguments of `initializer`, which must only store them.
  @inlinable
  public init<each Value: Codable>(
    _ initializer: @escaping @Sendable (repeat each Value) -> Root, _ field: repeat Field<Root, each Value>
  ) {
    var fields: [AnyField] = []
    repeat fields.append(AnyField(each field))
    // Made here, because only the caller's compiler knows the types.
    self.init(
      fields,
      FieldWitnesses(
        make: { memory, offsets, target in
          var number = 0
          // By its address, because accesses to a variable that a function captures are checked.
          withUnsafeMutablePointer(to: &number) { number in
            func take<Taken>(_ type: Taken.Type) -> Taken {
              defer { number.pointee += 1 }
              return (memory + offsets[number.pointee]).assumingMemoryBound(to: type).move()
            }
            target.initializeMemory(as: Root.self, to: initializer(repeat take((each Value).self)))
          }
        },
        wrap: {
          $0.initializeMemory(as: Root?.self, to: $0.assumingMemoryBound(to: Root.self).move())
        },
        makeArray: { target, isOptional, count, decode in
          // An array that grows is allocated by code that knows its type; one of a given size is not.
          var array: [Root] = []
          array.reserveCapacity(count)
          try withUnsafeTemporaryAllocation(of: Root.self, capacity: 1) { memory in
            guard let element = memory.baseAddress else { return }
            for _ in 0..<count {
              try decode(UnsafeMutableRawPointer(element))
              array.append(element.move())
            }
          }
          if isOptional {
            target.initializeMemory(as: [Root]?.self, to: array)
          } else {
            target.initializeMemory(as: [Root].self, to: array)
          }
        },
        lend: { address, body in
          try address.lend(Root.self, isOptional: true) {
            try withUnsafePointer(to: $0) { try body(UnsafeRawPointer($0), 1) }
          }
        },
        lendArray: { address, isOptional, isCopied, body in
          func use(_ array: borrowing [Root]) throws {
            try array.withUnsafeBufferPointer { try body(UnsafeRawPointer($0.baseAddress), $0.count) }
          }
          guard isCopied else { return try address.lend([Root].self, isOptional: isOptional) { try use($0) } }
          // Loaded, because the copy of a borrowed array may be left out.
          let array = isOptional ? address.load(as: [Root]?.self) : address.load(as: [Root].self)
          if let array { try use(array) }
        }))
  }

  @usableFromInline
  init(_ fields: [AnyField], _ witnesses: FieldWitnesses) {
    (self.fields, self.witnesses) = (fields, witnesses)
  }

  /// Returns whether the fields make up a whole value, so that filling them in memory makes one. They do if they take
  /// every byte of it, or if the bytes between them are padding because the value has no other stored properties.
  func isAll(of value: Root) -> Bool {
    let stored = sortedIndices(fields.count) {
      (fields[$0].offset ?? 0, fields[$0].size) < (fields[$1].offset ?? 0, fields[$1].size)
    }.map { fields[$0] }
    let layout = AnyField.packedLayout(of: stored)
    guard stored.compactMap(\.offset) == layout.offsets, layout.size == MemoryLayout<Root>.size else { return false }
    if stored.reduce(0, { $0 + $1.size }) == layout.size { return true }
    // A mirror takes long the first time.
    guard !(value is any CustomReflectable) else { return false }
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .struct && mirror.children.count == fields.count
      && zip(mirror.children, stored).allSatisfy { type(of: $0.value) == $1.type }
  }
}

extension FieldTable where Root: Codable {
  /// Returns where the objects of a class store the properties of the fields; nil if they do not store each as it is.
  func objectOffsets(like value: Root) -> [Int]? {
    // Nobody else may have the object whose properties are sought. Addresses are accepted only within its memory.
    var object = withUnsafePointer(to: value) { remake($0) } as AnyObject
    guard isKnownUniquelyReferenced(&object), !(object is any CustomReflectable) else { return nil }
    let start = Unmanaged.passUnretained(object).toOpaque()
    let (types, size) = (storedTypes(of: object), CLibrary.allocatedSize(start))
    var offsets: [Int] = []
    for field in fields {
      guard let address = withUnsafePointer(to: object, { field.address?($0) }) else { return nil }
      let offset = address - UnsafeRawPointer(start)
      guard types[offset] == field.type, offset + field.size <= size else { return nil }
      offsets.append(offset)
    }
    return offsets
  }

  /// Returns the types of an object's properties by their offsets, if they follow two words in the order in which they
  /// are declared. A part of a property has another type than the property; that of an optional may be missing.
  private func storedTypes(of object: AnyObject) -> [Int: Any.Type] {
    var (types, end) = ([Int: Any.Type](), 2 * MemoryLayout<Int>.size)
    func add<Stored>(_ value: Stored) {
      let alignment = MemoryLayout<Stored>.alignment
      let offset = (end + alignment - 1) / alignment * alignment
      (types[offset], end) = (Stored.self, offset + MemoryLayout<Stored>.size)
    }
    for mirror in Array(sequence(first: Mirror(reflecting: object), next: \.superclassMirror)).reversed() {
      for property in mirror.children { add(property.value) }
    }
    return types
  }
}

/// What code that does not know a type does with values of it in memory.
@usableFromInline
struct FieldWitnesses {
  /// Initializes the next element of an array at an address.
  @usableFromInline
  typealias Decode = (UnsafeMutableRawPointer) throws -> Void
  /// Uses values that follow each other from an address on.
  @usableFromInline
  typealias Use = (UnsafeRawPointer?, _ count: Int) throws -> Void

  /// Makes a value from its fields, which are at offsets from an address and are moved out, at another address.
  let make: (_ fields: UnsafeMutableRawPointer, [Int], _ target: UnsafeMutableRawPointer) -> Void
  /// Makes the optional of a value in its place.
  let wrap: (UnsafeMutableRawPointer) -> Void
  /// Makes an array of as many elements as given at an address, or an optional of one.
  let makeArray: (UnsafeMutableRawPointer, _ isOptional: Bool, Int, Decode) throws -> Void
  /// Lends the value of an optional; nothing if that is nil.
  let lend: (UnsafeRawPointer, Use) throws -> Void
  /// Lends the elements of an array, or of an optional one; nothing if that is nil. A copy holds on to them.
  let lendArray: (UnsafeRawPointer, _ isOptional: Bool, _ isCopied: Bool, Use) throws -> Void

  @usableFromInline
  init(
    make: @escaping (UnsafeMutableRawPointer, [Int], UnsafeMutableRawPointer) -> Void,
    wrap: @escaping (UnsafeMutableRawPointer) -> Void,
    makeArray: @escaping (UnsafeMutableRawPointer, Bool, Int, Decode) throws -> Void,
    lend: @escaping (UnsafeRawPointer, Use) throws -> Void,
    lendArray: @escaping (UnsafeRawPointer, Bool, Bool, Use) throws -> Void
  ) {
    (self.make, self.wrap, self.makeArray) = (make, wrap, makeArray)
    (self.lend, self.lendArray) = (lend, lendArray)
  }
}

/// A field for code that knows neither its type nor that of the values, which it gets by their addresses.
@usableFromInline
struct AnyField {
  let name: String
  let type: any Codable.Type
  /// Makes the value of a missing key; nil if the field has no default.
  let putDefault: ((UnsafeMutableRawPointer) -> Void)?
  /// The offset of the property in a value; nil if it is not stored there directly.
  let offset: Int?
  /// Finds the address of the property of an object, by an access that may change it. A property that is not stored as it
  /// is has an address outside the object. Nil if the property is not a `var` of a class.
  let address: ((_ object: UnsafeRawPointer) -> UnsafeRawPointer)?
  let size: Int
  let alignment: Int
  let copy: (UnsafeRawPointer, UnsafeMutableRawPointer) -> Void
  let record: (UnsafeRawPointer, TapeBuilder) throws -> Void
  /// Whether two values have the same property, as far as that can be determined.
  let isSame: (UnsafeRawPointer, UnsafeRawPointer) -> Bool

  @usableFromInline
  init<Root, Value>(_ field: Field<Root, Value>) {
    func property(_ value: UnsafeRawPointer) -> Value {
      value.assumingMemoryBound(to: Root.self).pointee[keyPath: field.property]
    }
    name = field.name
    type = Value.self
    putDefault = field.makeDefault.map { make in { $0.put(make()) } }
    offset = MemoryLayout<Root>.offset(of: field.property)
    let variable = Root.self is AnyClass ? field.property as? ReferenceWritableKeyPath<Root, Value> : nil
    address = variable.map { variable in
      { object in
        let object = object.assumingMemoryBound(to: Root.self).pointee
        return withUnsafeMutablePointer(to: &object[keyPath: variable]) { UnsafeRawPointer($0) }
      }
    }
    (size, alignment) = (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    copy = { $1.put(property($0)) }
    record = { try $1.record(property($0)) }
    isSame = { value, other in
      // Comparing bytes is quick, and ends for an object that contains itself. A cast to a protocol searches every
      // conformance of the program.
      func bytes(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
      if bytes(property(value)) == bytes(property(other)) { return true }
      // A value that does not equal itself, such as a NaN, tells nothing.
      func isSame<Known: Equatable>(_ type: Known.Type) -> Bool {
        let known = property(value) as? Known
        return known == property(other) as? Known || known != known
      }
      return (Value.self as? any Equatable.Type).map { isSame($0) } ?? true
    }
  }

  /// Returns the layout of fields that lie one after the other, as decoded ones do until the initializer takes them.
  static func packedLayout(of fields: [AnyField]) -> (offsets: [Int], size: Int, alignment: Int) {
    var (offsets, size, alignment): ([Int], Int, Int) = ([], 0, 1)
    for field in fields {
      let offset = (size + field.alignment - 1) / field.alignment * field.alignment
      offsets.append(offset)
      size = offset + field.size
      alignment = max(alignment, field.alignment)
    }
    return (offsets, size, alignment)
  }
}

// MARK: checking a table

/// An error in a table of fields.
public struct FieldTableError: Error, CustomStringConvertible {
  /// The type and the field, and what is wrong.
  public let description: String

  fileprivate init(_ type: Any.Type, _ field: String? = nil, _ flaw: String) {
    let place = field.map { "the field \"\($0)\" of \(type)" } ?? "\(type)"
    description = "The table of fields is wrong for \(place): \(flaw)."
  }
}

extension FieldTable where Root: Codable {
  /// Checks that the table is right for its type, with one of the type's values.
  ///
  /// A `StowEncoder` does so itself with the first value of the type, and throws if the table is wrong. Decoding does
  /// not check values, so check the table in a test:
  ///
  /// ```swift
  /// @Test func pointHasItsFields() throws { try Point.stowFields.check(Point(x: 1, y: 2, z: 3)) }
  /// ```
  ///
  /// <doc:Fields> says when a table is right. The more the properties of the value differ, the more the check finds.
  ///
  /// - Throws: `FieldTableError` if the table is wrong.
  public func check(_ value: Root) throws { try withUnsafePointer(to: value) { try check(at: $0) } }

  private func check(at value: UnsafePointer<Root>) throws {
    let (type, _) = try codingKeys()
    let names = fields.map(\.name)
    // A value that cannot be encoded says nothing about the table.
    let written = record(value.pointee, type)
    if let encoded = written?.keys.map(\.name), encoded != names {
      let same = zip(encoded, names).prefix { $0 == $1 }.count
      let (found, name) = (encoded.dropFirst(same).first, names.dropFirst(same).first)
      func shown(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "nothing" }
      throw flaw(name ?? found, "encode(to:) asks for \(shown(found)) where the table has \(shown(name))")
    }
    try checkWrappers(of: value.pointee)
    try withUnsafePointer(to: remake(value)) { again in
      for field in fields where !field.isSame(value, again) {
        throw flaw(field.name, "the initializer does not give it back")
      }
    }
    if let builder = written?.builder { try checkScalars(of: value, in: builder) }
    let bare = record(remake(value, withoutOptionals: true), type)?.keys ?? []
    for (field, key) in zip(fields, bare) where key.isWritten && field.optional != nil {
      throw flaw(
        field.name,
        key.name == field.name
          ? "encode(to:) writes its nil, as of a generic type's parameter"
          : "encode(to:) does not ask for it if optionals are nil")
    }
  }

  /// Checks that no property with a wrapper of this library, which is encoded as the wrapper does it, is a field by its
  /// value. The wrapper of `owner` is stored as `_owner`; `owner` itself is computed.
  private func checkWrappers(of value: Root) throws {
    guard fields.contains(where: { $0.offset == nil }) else { return }
    for property in Mirror(reflecting: value).children {
      let wrapper = type(of: property.value)
      guard let wrapped = (wrapper as? any DecodableWrapper.Type)?.wrapped,
        let field = fields.first(where: { "_" + $0.name == property.label && $0.type == wrapped })
      else { continue }
      throw flaw(field.name, "its property has the wrapper \(wrapper), which encodes something else")
    }
  }

  /// Checks that `encode(to:)` wrote scalars as they are, as the table writes them and reads them.
  private func checkScalars(of value: UnsafePointer<Root>, in builder: TapeBuilder) throws {
    for (name, token) in builder.recorded.valuesOfTop.reversed() where builder.recorded.tape[token].kind != .null {
      guard let field = fields.first(where: { $0.name == name }),
        ScalarTypes.scalar(field.optional?.wrapped ?? field.type) != nil
      else { continue }
      let own = builder.recorded.tape.count
      try field.record(value, builder)
      if !builder.recorded.areSame(token, own) {
        throw flaw(name, "encode(to:) writes another value than the property has")
      }
    }
  }

  private func flaw(_ field: String?, _ text: String) -> FieldTableError { FieldTableError(Root.self, field, text) }

  /// Records a value, and returns the keys that it encodes, or would encode if they had values, in order; nil if it
  /// cannot be encoded.
  ///
  /// Values inside it that are no scalars are recorded as nil, because they may ask for keys of the same type.
  private func record(
    _ value: Root, _ type: any CodingKey.Type
  ) -> (keys: [(name: String, isWritten: Bool)], builder: TapeBuilder)? {
    func skip<Skipped: Encodable>(_ type: Skipped.Type) -> AnyEncodingPlan { SkippingPlan<Skipped>() }
    let builder = TapeBuilder(reusesContainers: false) { type in
      // Fields know that their types can be encoded, whereas a cast searches every conformance of the program.
      ScalarTypes.scalar(type)?.makeEncodingPlan()
        ?? (fields.first { $0.type == type }?.type ?? type as? any Encodable.Type).map { skip($0) }
    }
    do { try builder.appendPlain(value, key: TokenKey(), parent: 0) } catch { return nil }
    builder.recorded.tape.link(1, in: 0)
    func table<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { builder.pool(of: type).pointee.keys }
    let table = table(type)
    let keys = (0..<table.pointee.slotCount).map {
      (name: table.pointee.name(atSlot: $0), isWritten: table.pointee.hasValue(atSlot: $0))
    }
    // The object may have keys of other types, too, such as those of a superclass.
    let others = builder.recorded.valuesOfTop.filter { value in !keys.contains { $0.name == value.name } }
    return (keys + others.map { ($0.name, true) }, builder)
  }

  /// Returns the value that the initializer makes from the properties of another, or from nil for each optional.
  func remake(_ value: UnsafePointer<Root>, withoutOptionals: Bool = false) -> Root {
    let layout = AnyField.packedLayout(of: fields)
    return withUnsafeTemporaryAllocation(byteCount: max(layout.size, 1), alignment: layout.alignment) {
      guard let memory = $0.baseAddress else { return value.pointee }
      for (field, offset) in zip(fields, layout.offsets) {
        if withoutOptionals, let optional = field.optional {
          optional.putNil(memory + offset)
        } else {
          field.copy(value, memory + offset)
        }
      }
      return withUnsafeTemporaryAllocation(of: Root.self, capacity: 1) { target in
        guard let target = target.baseAddress else { return value.pointee }
        witnesses.make(memory, layout.offsets, target)
        return target.move()
      }
    }
  }

  /// Checks the table with a value, unless it was right for one before.
  func checkOnce(_ value: Root) throws {
    if rightTables.withLock({ $0[Root.self] != nil }) { return }
    try check(value)
    rightTables.withLock { if $0[Root.self] == nil { $0.insert(nil, for: Root.self) } }
  }

  /// Returns the coding keys of the fields in the type's own `Codable`.
  func codingKeys() throws(FieldTableError) -> (type: any CodingKey.Type, keys: [any CodingKey]) {
    let probe = KeyTypeProbe()
    _ = try? Root(from: probe)
    guard let type = probe.keyType else { throw flaw(nil, "init(from:) asks for no keyed container") }
    let keys = try fields.map { field throws(FieldTableError) in
      guard let key = type.init(stringValue: field.name), key.stringValue == field.name else {
        throw flaw(field.name, "it is no coding key of the type")
      }
      guard fields.count(where: { $0.name == field.name }) == 1 else { throw flaw(field.name, "it is there twice") }
      return key
    }
    return (type, keys)
  }
}

/// Records a nil for each value inside the outermost one. A value that the outermost one encodes in its own place,
/// by a single-value container, still encodes itself.
private final class SkippingPlan<Value: Encodable>: EncodingPlan<Value> {
  override func append(
    _ value: borrowing Value, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    if parent == 0 { return try builder.appendPlain(value, key: key, parent: parent) }
    builder.recorded.recordNil(level: level, key: key)
  }
}

private let rightTables = Mutex(TypeTable())

/// A decoder that finds out which keys a value asks for, and then throws.
private final class KeyTypeProbe: Decoder {
  struct Stop: Error {}

  private(set) var keyType: (any CodingKey.Type)?
  let codingPath: [any CodingKey] = []
  let userInfo = [CodingUserInfoKey: Any]()

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if keyType == nil { keyType = type }
    throw Stop()
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }
}
