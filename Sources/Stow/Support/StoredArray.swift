/// Arrays put into storage of our own, as the standard library would.
///
/// The library is not compiled for the type of the elements here, and looks the class of the storage up, in a table of
/// the runtime, for every array it makes: without, decoding coordinates takes a third less time, trees a sixth, other
/// records with arrays a tenth. Where the storage is an object of a few words and then the elements, this makes the same
/// object and gives it the class that the library gave to that of a first array, so that from there on it is the
/// library's own. `StoredArrays.areKnown` checks that once; where it does not hold, on Apple's platforms, or if the
/// environment has `STOW_PLAIN`, the library makes every array.
struct StoredArray<Element>: BitwiseCopyable {
  /// The class of the library's storage.
  private let storageClass: UInt
  /// What the library notes beside the capacity.
  private let flags: UInt64

  /// Nil where the library's arrays are of another kind.
  init?() {
    guard StoredArrays.areKnown else { return nil }
    self.init(unchecked: ())
  }

  /// The same for the check of all arrays.
  fileprivate init?(unchecked: Void) {
    guard MemoryLayout<Element>.alignment <= 16 else { return nil }
    var sample: [Element] = []
    sample.reserveCapacity(3)
    guard let words = StoredArrays.words(sample), words.first == 0 else { return nil }
    guard words.second >> 1 == UInt64(sample.capacity) else { return nil }
    storageClass = words.storageClass
    flags = words.second & 1
  }

  /// An array of `count` elements, at least one, or fewer, that `fill` initializes and counts.
  @inline(__always)
  func filled(
    count: Int, _ fill: (UnsafeMutablePointer<Element>, _ initialized: inout Int) throws -> Void
  ) rethrows -> [Element] {
    let storage = StorageObject.make(
      0, UInt64(count) << 1 | flags, byteCount: count * MemoryLayout<Element>.stride)
    let first = (storage.address + StorageObject.firstByte).assumingMemoryBound(to: Element.self)
    var initialized = 0
    do {
      try fill(first, &initialized)
    } catch {
      withExtendedLifetime(storage) { _ = first.deinitialize(count: initialized) }
      throw error
    }
    storage.set(first: UInt64(initialized))
    storage.become(storageClass)
    return unsafeBitCast(storage, to: [Element].self)
  }
}

/// What is known of arrays of all types.
enum StoredArrays {
  /// Whether arrays are what `StoredArray` relies on.
  static let areKnown: Bool = {
    #if canImport(ObjectiveC)
      return false
    #else
      guard !Techniques.arePlain, MemoryLayout<Int>.size == 8 else { return false }
      return makesTheSame([1, 2, 3] as [UInt8]) && makesTheSame([1.5]) && makesTheSame(["a", "b"])
        && makesTheSame([nil, 1] as [Int?]) && releasesElements()
    #endif
  }()

  /// The words of an array's storage: the first is the count, the second twice the capacity, and flags. Nil if the
  /// array is not the address of an object in which they stand and then the elements.
  fileprivate static func words<Element>(_ array: [Element]) -> StorageWords? {
    guard MemoryLayout<[Element]>.size == MemoryLayout<UInt>.size,
      let object = UnsafeRawPointer(bitPattern: unsafeBitCast(array, to: UInt.self)),
      array.withUnsafeBufferPointer({ UnsafeRawPointer($0.baseAddress) }) == object + StorageObject.firstByte
    else { return nil }
    return withExtendedLifetime(array) { StorageWords(object) }
  }

  private static func copy<Element>(of array: [Element]) -> [Element]? {
    StoredArray<Element>(unchecked: ())?.filled(count: array.count) { first, initialized in
      for element in array {
        (first + initialized).initialize(to: element)
        initialized += 1
      }
    }
  }

  /// Whether a copy of an array that is made here has the same words, and grows like any other.
  private static func makesTheSame<Element: Equatable>(_ array: [Element]) -> Bool {
    var theirs = array
    theirs.reserveCapacity(array.count + 1)
    guard var ours = copy(of: array), let our = words(ours), let their = words(theirs) else { return false }
    // The capacities differ.
    guard our.storageClass == their.storageClass, our.first == their.first,
      our.second & 1 == their.second & 1, ours == theirs, ours.capacity == array.count
    else { return false }
    ours += array
    return ours == array + array
  }

  private final class Element {}

  /// Whether an array that is made here holds its elements for as long as it is there.
  private static func releasesElements() -> Bool {
    weak var element: Element?
    let isHeld = {
      let strong = Element()
      element = strong
      let array = copy(of: [strong])
      return withExtendedLifetime(array) { array?.first === element }
    }()
    return isHeld && element == nil
  }
}
