#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Data whose bytes stand in the one object that it refers to.
///
/// Foundation's object refers to bytes that stand elsewhere. Making and freeing the two, with the accesses that it
/// checks meanwhile, was a quarter of the time of encoding a small message; this takes a third of that. The object has
/// the same fields, but is of a class of ours, which frees it. `known` checks once that Foundation's object has these
/// fields, and that such data is like any other. Where it is not, with other platforms and compilers than it was tried
/// with, or if the environment has `STOW_PLAIN`, Foundation makes the data.
struct StoredData: BitwiseCopyable {
  /// How many bytes there may be. Foundation keeps fewer in the value itself, and more are worth memory of their own.
  static let counts = 15...1 << 17

  /// The bits of the second word that are not the address of the object.
  private let tag: UInt64

  /// Nil where data is of another kind.
  static let known: StoredData? = {
    #if os(Linux) && canImport(FoundationEssentials) && compiler(>=6.3) && compiler(<6.4)
      guard !Techniques.arePlain, MemoryLayout<Data>.size == MemoryLayout<(UInt64, UInt64)>.size,
        let candidate = StoredData(like: sample())
      else { return nil }
      return candidate.isLikeOthers ? candidate : nil
    #else
      return nil
    #endif
  }()

  /// The bits of an address.
  private static let addressMask: UInt64 = .max >> 8

  /// The first word: where the bytes begin and end, 32 bits each.
  @inline(__always)
  private static func range(_ count: Int) -> UInt64 { UInt64(truncatingIfNeeded: count) &<< 32 }

  /// A copy of the bytes, whose number must be one of `counts`.
  @inline(__always)
  func copy(_ bytes: UnsafeRawBufferPointer) -> Data {
    precondition(Self.counts.contains(bytes.count))
    let object = Unmanaged.passRetained(DataObject.make(bytes)).toOpaque()
    var words = (Self.range(bytes.count), UInt64(UInt(bitPattern: object)) | tag)
    // Moved, because a copy would be one more reference to the object.
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: Data.self).move()
    }
  }

  // MARK: the check

  /// Nil if data of bytes that Foundation was given is not their range and the address of an object as expected.
  private init?(like sample: Data) {
    let (first, second) = unsafeBitCast(sample, to: (UInt64, UInt64).self)
    guard first == Self.range(sample.count),
      let object = UnsafeRawPointer(bitPattern: UInt(second & Self.addressMask)),
      sample.withUnsafeBytes({ DataObject.isLike(object, start: $0.baseAddress, count: $0.count) })
    else { return nil }
    tag = second & ~Self.addressMask
  }

  /// Data of bytes that Foundation is given.
  private static func sample() -> Data {
    let count = 40
    let bytes = CLibrary.allocate(count)
    bytes.initializeMemory(as: UInt8.self, repeating: 1, count: count)
    return Data(
      bytesNoCopy: bytes, count: count, deallocator: .custom { bytes, _ in CLibrary.deallocate(bytes) })
  }

  /// Whether data made here is read, cut and changed like other data.
  private var isLikeOthers: Bool {
    [Self.counts.lowerBound, 16, 33].allSatisfy { count in
      let bytes = (0..<count).map { UInt8($0) }
      var changed = bytes.withUnsafeBytes(copy)
      let data = changed
      changed.append(contentsOf: bytes)
      changed[0] = 1
      return data.count == count && data.elementsEqual(bytes) && data[2...].elementsEqual(bytes[2...])
        && changed.elementsEqual([1] + bytes[1...] + bytes)
    }
  }
}
