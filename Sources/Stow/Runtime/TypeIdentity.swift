/// Reinterprets a value whose type was found to be `Target` by comparing types.
///
/// Cheaper than a cast, which looks the conformance up again; the sizes are compared all the same.
@inline(__always)
func reinterpret<Source, Target>(_ value: Source, as _: Target.Type) -> Target {
  // Source and target are one type, which the compiler knows under two names.
  unsafeBitCast(value, to: Target.self)
}

/// The byte that tells a key from the others of its type, where the type is a single trivial byte; 0 for
/// every other type.
@inline(__always)
func keyByte<Key>(_ key: Key) -> Int {
  // Unlike reading the bytes of the key, this needs no copy of a key whose type is not known here.
  MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
}

/// What the name of a type says, which is found out sooner than by asking whether the type conforms to a protocol.
struct TypeName {
  private let name: String

  init(_ type: Any.Type) { name = _typeName(type, qualified: true) }

  /// Whether the type may have generic arguments.
  ///
  /// Only those have plans. Asking the runtime instead whether a type conforms to a protocol takes it through every
  /// conformance of the program, in the first message of a process.
  var mayBeGeneric: Bool { name.utf8.contains(UInt8(ascii: "<")) }

  var isOptional: Bool { name.hasPrefix(Self.optional) }
  /// Whether this is an optional of an optional.
  var isNestedOptional: Bool { name.hasPrefix(Self.optional + Self.optional) }

  /// Whether too many optionals stand within each other for asking what the type conforms to.
  ///
  /// The runtime asks each of them twice whether it can be copied, and so 2ⁿ times the innermost of n.
  var nestsManyOptionals: Bool {
    // Each has a bracket, and those are counted sooner.
    name.utf8.count { $0 == UInt8(ascii: "<") } > Self.mostOptionals
      && name.ranges(of: Self.optional).count > Self.mostOptionals
  }

  private static let mostOptionals = 8

  private static let optional = "Swift.Optional<"
}
