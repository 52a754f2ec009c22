/// An object with the fields of Foundation's storage of data, and then the bytes.
final class DataObject: ManagedBuffer<DataObject.Fields, UInt8> {
  /// The fields, of which the first stands behind the words that every object begins with.
  struct Fields {
    fileprivate let bytes: UnsafeMutableRawPointer?
    fileprivate let length: Int
    fileprivate let capacity: Int
    fileprivate let offset: Int
    fileprivate let deallocator: Deallocator?
    fileprivate let needsZeros: Bool
    /// So that the bytes that follow are aligned as those from `malloc` are.
    private let padding: UInt64 = 0
  }

  typealias Deallocator = (UnsafeMutableRawPointer, Int) -> Void

  /// Where the fields stand in Foundation's object, and how large that is.
  private static let offsets: [UInt] = [16, 24, 32, 40, 48, 64]
  private static let size: UInt = 65
  /// Where the bytes stand in ours.
  private static let firstByte = 80

  /// An object with a copy of the bytes. It has the values that Foundation gives the fields when bytes are handed to it
  /// with a way to free them, so that it copies them before it lets them grow. They go with the object.
  @inline(__always)
  static func make(_ source: UnsafeRawBufferPointer) -> DataObject {
    let count = source.count
    let object = create(minimumCapacity: count) { object in
      let bytes = unsafeDowncast(object, to: DataObject.self).ownBytes
      if let start = source.baseAddress { bytes.copyMemory(from: start, byteCount: count) }
      return Fields(
        bytes: bytes, length: count, capacity: count, offset: 0, deallocator: { _, _ in }, needsZeros: false)
    }
    return unsafeDowncast(object, to: DataObject.self)
  }

  @inline(__always)
  private var ownBytes: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() + Self.firstByte }

  /// Frees the bytes that Foundation has made since, because they had to grow.
  deinit {
    withUnsafeMutablePointerToHeader { fields in
      if let bytes = fields.pointee.bytes, bytes != ownBytes { CLibrary.deallocate(bytes) }
    }
  }

  // MARK: the check

  /// Where the words of a class stand that say how large its objects are, and where their fields.
  private static let sizeWord = 3
  private static let firstFieldWord = 7

  /// Whether Foundation's object for `count` bytes at `start`, which it was given with a way to free them, has these
  /// fields and no others, with the values that they have here.
  static func isLike(_ object: UnsafeRawPointer, start: UnsafeRawPointer?, count: Int) -> Bool {
    guard let words = UnsafePointer<UInt>(bitPattern: object.load(as: UInt.self)),
      words[sizeWord] & 0xFFFF_FFFF == size,
      offsets.indices.allSatisfy({ words[firstFieldWord + $0] == offsets[$0] })
    else { return false }
    func field<Value>(_ number: Int, as type: Value.Type) -> Value {
      object.load(fromByteOffset: Int(offsets[number]), as: type)
    }
    return field(0, as: UnsafeRawPointer?.self) == start && field(1, as: Int.self) == count
      && field(2, as: Int.self) == count && field(3, as: Int.self) == 0
      && field(4, as: Deallocator?.self) != nil && !field(5, as: Bool.self)
  }
}
