import Synchronization

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
