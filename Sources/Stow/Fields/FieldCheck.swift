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
  /// Stow does so itself with the first value of the type that it encodes or decodes, and stops the program
  /// if the table is wrong. A test finds out sooner:
  ///
  /// ```swift
  /// @Test func pointHasItsFields() throws { try Point.stowFields.check(Point(x: 1, y: 2, z: 3)) }
  /// ```
  ///
  /// The fields must have the names of coding keys, and be those that `encode(to:)` asks for, in the same
  /// order. It must not write the nil of an optional, and the initializer must restore the properties of the
  /// value. The more the properties differ, the more the check finds.
  ///
  /// - Throws: `FieldTableError` if the table is wrong.
  public func check(_ value: Root) throws {
    let (type, _) = try codingKeys()
    let names = fields.map(\.name)
    // A value that cannot be encoded says nothing about the table.
    if let encoded = Self.keys(of: value, type)?.map(\.name), encoded != names {
      let index =
        zip(encoded, names).enumerated().first { $1.0 != $1.1 }?.offset ?? min(encoded.count, names.count)
      let (found, name) = (Self.name(index, encoded), Self.name(index, names))
      throw FieldTableError(
        Root.self, index < names.count ? names[index] : encoded[index],
        "encode(to:) asks for \(found) where the table has \(name)")
    }
    let again = remake(value)
    for field in fields where !field.isSame(value, again) {
      throw FieldTableError(Root.self, field.name, "the initializer does not give it back")
    }
    let bare = Self.keys(of: remake(value, withoutOptionals: true), type) ?? []
    for (field, key) in zip(fields, bare) where key.isWritten && field.makeCoder().isOptional {
      throw FieldTableError(
        Root.self, field.name, "encode(to:) writes its nil, as of a generic type's parameter")
    }
  }

  private static func name(_ index: Int, _ names: [String]) -> String {
    index < names.count ? "\"\(names[index])\"" : "nothing"
  }

  /// Returns the keys that a value encodes, or would encode if they had values, in order; nil if it cannot be
  /// encoded.
  ///
  /// Values inside it are not encoded, because they may ask for keys of the same type.
  private static func keys(
    of value: Root, _ type: any CodingKey.Type
  ) -> [(name: String, isWritten: Bool)]? {
    let recorder = Recorder(reusesContainers: false)
    recorder.begin(maximumDepth: DepthLimit.standard, UserInfo())
    recorder.types.encoders = TypeEncoders(
      ofScalar: { ($0 as? any Encodable.Type).map { $0.makeSkippingEncoder() } }, ofGeneric: { _ in nil })
    guard (try? recorder.encodePlain(value, key: TokenKey(), parent: -1)) != nil else { return nil }
    func table<Key: CodingKey>(_ type: Key.Type) -> KeyTable.Reference { recorder.keys(type).pointee.table }
    let table = table(type)
    return (0..<table.pointee.slotCount).map {
      (table.pointee.codingKey(atSlot: $0)?.stringValue ?? "", table.pointee.hasValue(atSlot: $0))
    }
  }

  /// Returns the value that the initializer makes from the properties of another, or from nil for each
  /// optional.
  private func remake(_ value: Root, withoutOptionals: Bool = false) -> Root {
    let (offsets, size, alignment) = packedLayout
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
    defer { memory.deallocate() }
    for (field, offset) in zip(fields, offsets) {
      let coder = field.makeCoder()
      if withoutOptionals, coder.isOptional {
        coder.makeNil(memory + offset)
      } else {
        field.copy(value, memory + offset)
      }
    }
    return make(memory, offsets)
  }

  /// Checks the table with the first value of the type, and stops the program if the table is wrong.
  func checkFirst(_ value: Root) {
    guard CheckedTypes.insert(Root.self) else { return }
    do { try check(value) } catch { fatalError("\(error)") }
  }

  /// Returns the coding keys of the fields; stops the program if the table is wrong.
  func checkedKeys() -> (type: any CodingKey.Type, keys: [any CodingKey]) {
    do { return try codingKeys() } catch { fatalError("\(error)") }
  }

  /// Returns the coding keys of the fields in the type's own `Codable`.
  private func codingKeys() throws -> (type: any CodingKey.Type, keys: [any CodingKey]) {
    let probe = KeyTypeProbe()
    _ = try? Root(from: probe)
    guard let type = probe.found.keyType else {
      throw FieldTableError(Root.self, nil, "init(from:) asks for no keyed container")
    }
    var names = Set<String>()
    let keys = try fields.map { field in
      guard let key = type.init(stringValue: field.name), key.stringValue == field.name else {
        throw FieldTableError(Root.self, field.name, "it is no coding key of the type")
      }
      guard names.insert(field.name).inserted else {
        throw FieldTableError(Root.self, field.name, "it is there twice")
      }
      return key
    }
    return (type, keys)
  }

  /// Returns whether the fields make up a whole value, so that filling them in memory makes one: there is
  /// only padding between them, and the value has as many stored properties.
  func isAll(of value: Root) -> Bool {
    guard storedOffsets != nil, !(value is any CustomReflectable) else { return false }
    var end = 0
    for field in fields.sorted(by: { ($0.offset ?? 0, $0.size) < ($1.offset ?? 0, $1.size) }) {
      let start = (end + field.alignment - 1) / field.alignment * field.alignment
      guard field.offset == start else { return false }
      end = start + field.size
    }
    let mirror = Mirror(reflecting: value)
    return end == MemoryLayout<Root>.size && mirror.displayStyle == .struct
      && mirror.children.count == fields.count
  }
}

extension Encodable {
  fileprivate static func makeSkippingEncoder() -> AnyTypeEncoder { SkippingEncoder<Self>() }
}

/// Records a nil for each value inside the outermost one. A value that the outermost one encodes in its own place,
/// by a single-value container, still encodes itself.
private final class SkippingEncoder<Value: Encodable>: TypeEncoder<Value> {
  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    if parent < 0 { return try recorder.encodePlain(value, key: key, parent: parent) }
    recorder.recording.recordNil(level: level, key: key)
  }
}

/// The types whose tables were checked.
private enum CheckedTypes {
  private static let types = Mutex<Set<ObjectIdentifier>>([])

  /// Adds a type, and returns whether it is new.
  static func insert(_ type: Any.Type) -> Bool {
    types.withLock { $0.insert(ObjectIdentifier(type)).inserted }
  }
}

/// A decoder that finds out which keys a value asks for, and then throws.
private struct KeyTypeProbe: Decoder {
  final class Found {
    var keyType: (any CodingKey.Type)?
  }

  struct Stop: Error {}

  let found = Found()
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if found.keyType == nil { found.keyType = type }
    throw Stop()
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }
}
