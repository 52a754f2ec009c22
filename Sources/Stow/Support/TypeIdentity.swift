/// Reinterprets a value whose type was found to be `Target` by comparing types.
///
/// Cheaper than a cast, which looks the conformance up again; the sizes are compared all the same.
@inline(__always)
func reinterpret<Source, Target>(_ value: Source, as _: Target.Type) -> Target {
  unsafeBitCast(value, to: Target.self)
}

/// The byte that tells a key from the others of its type, where the type is a single trivial byte; 0 for
/// every other type.
@inline(__always)
func keyByte<Key>(_ key: Key) -> Int {
  MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
}

/// Whether a type may have generic arguments.
///
/// Only those have plans, and asking the runtime whether a type conforms to a protocol takes it through every
/// conformance of the program: some 400,000 instructions for each type, in the first message of a process.
func mayBeGeneric(_ type: Any.Type) -> Bool {
  _typeName(type, qualified: false).utf8.contains(UInt8(ascii: "<"))
}
