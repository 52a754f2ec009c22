/// An object of two words and then bytes, as the standard library's storage of strings and arrays is.
final class StorageObject: ManagedBuffer<StorageObjectWords, UInt8> {
  /// Where its own words stand, behind those that every object begins with, and where the bytes.
  static let firstWord = 16
  static let firstByte = 32

  @inline(__always)
  static func make(_ first: UInt64, _ second: UInt64, byteCount: Int) -> StorageObject {
    let object = create(minimumCapacity: byteCount) { _ in StorageObjectWords(first: first, second: second) }
    return unsafeDowncast(object, to: StorageObject.self)
  }

  /// The address of the object, which the caller keeps alive.
  @inline(__always)
  var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Changes the first of its words; through `header` the runtime would check the access.
  @inline(__always)
  func set(first: UInt64) { address.storeBytes(of: first, toByteOffset: Self.firstWord, as: UInt64.self) }

  /// Gives the object another class, whose objects have the same words.
  @inline(__always)
  func become(_ storageClass: UInt) { address.storeBytes(of: storageClass, as: UInt.self) }
}

struct StorageObjectWords: BitwiseCopyable {
  let first: UInt64
  let second: UInt64
}

/// The words of an object like that.
struct StorageWords {
  let storageClass: UInt
  let first: UInt64
  let second: UInt64

  init(_ object: UnsafeRawPointer) {
    storageClass = object.load(as: UInt.self)
    first = object.load(fromByteOffset: StorageObject.firstWord, as: UInt64.self)
    second = object.load(fromByteOffset: StorageObject.firstWord + 8, as: UInt64.self)
  }
}
