/// Strings of 16 to 63 ASCII characters, put into storage of our own as the standard library would.
///
/// The library validates the bytes, which have to be looked at again here, and finds the size of the storage by ways
/// that are not in line: arrays of strings decode a fifth faster without, people 4 %. Where the storage is an object
/// of a few words and then the characters, this makes the same object and gives it the library's class, so that from
/// there on it is the library's own. `known` checks once, for every count, that the library's strings are the very
/// same words; where they are not, on Apple's platforms, or if the environment has `STOW_PLAIN`, nothing is done this
/// way. Longer strings have more behind their characters.
struct StoredString: BitwiseCopyable {
  /// How many characters a string may have.
  static let counts = SmallString.longest + 1...63

  /// The class of the library's storage.
  private let storageClass: UInt

  /// The bits of the first word that say what the string is: ASCII, and in storage like this.
  private static let flags: UInt64 = 0xF << 60

  /// Nil if the library's strings are of another kind.
  static let known: StoredString? = {
    #if canImport(ObjectiveC)
      return nil
    #else
      guard !Techniques.arePlain, MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size,
        MemoryLayout<Int>.size == 8
      else { return nil }
      guard let sample = Parts(String(repeating: "s", count: counts.upperBound)) else { return nil }
      let candidate = StoredString(storageClass: sample.words.storageClass)
      return counts.allSatisfy(candidate.makesTheSame) ? candidate : nil
    #endif
  }()

  /// The string of `count` bytes, one of `counts`; nil if they are not ASCII.
  ///
  /// The bytes are taken in four blocks of 16, which overlap if there are fewer than 64: no branch has to be foretold.
  @inline(__always)
  func make(_ bytes: UnsafeRawPointer, count: Int) -> String? {
    let last = count &- 16
    let (second, third) = (min(16, last), min(32, last))
    let blocks = (
      Self.block(bytes), Self.block(bytes + second), Self.block(bytes + third), Self.block(bytes + last)
    )
    let all = blocks.0 | blocks.1 | blocks.2 | blocks.3
    guard (all[0] | all[1]) & SmallString.beyondASCII == 0 else { return nil }
    let capacity = Self.capacity(count)
    let countAndFlags = Self.flags | UInt64(truncatingIfNeeded: count)
    let storage = StorageObject.make(
      UInt64(truncatingIfNeeded: capacity), countAndFlags, byteCount: capacity)
    let target = storage.address + StorageObject.firstByte
    target.storeBytes(of: blocks.0, as: Block.self)
    target.storeBytes(of: blocks.1, toByteOffset: second, as: Block.self)
    target.storeBytes(of: blocks.2, toByteOffset: third, as: Block.self)
    target.storeBytes(of: blocks.3, toByteOffset: last, as: Block.self)
    target.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    storage.become(storageClass)
    return unsafeBitCast((countAndFlags, storage), to: String.self)
  }

  private typealias Block = SIMD2<UInt64>

  @inline(__always)
  private static func block(_ bytes: UnsafeRawPointer) -> Block { bytes.loadUnaligned(as: Block.self) }

  /// The characters and a zero fill blocks of 16 bytes.
  @inline(__always)
  private static func capacity(_ count: Int) -> Int { (count &+ 16) & ~15 }

  // MARK: the check

  /// A string and its storage, word by word.
  private struct Parts {
    let first: UInt64
    let words: StorageWords
    /// The characters, and the zero.
    let bytes: [UInt8]

    /// Nil if the string is not the address of such storage.
    init?(_ string: String) {
      let (first, second) = unsafeBitCast(string, to: (UInt64, UInt64).self)
      let start = string.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) } ?? 0
      let address = start &- UInt(StorageObject.firstByte)
      guard UInt64(address) == second, let object = UnsafeRawPointer(bitPattern: address) else { return nil }
      self.first = first
      words = StorageWords(object)
      let characters = UnsafeRawBufferPointer(
        start: object + StorageObject.firstByte, count: string.utf8.count + 1)
      bytes = withExtendedLifetime(string) { Array(characters) }
    }
  }

  /// Whether a string of so many characters is the library's, word by word.
  private func makesTheSame(_ count: Int) -> Bool {
    let characters = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    let ours = characters.withUnsafeBytes { $0.baseAddress.flatMap { make($0, count: count) } }
    guard let ours, let our = Parts(ours), let their = Parts(String(decoding: characters, as: UTF8.self))
    else { return false }
    // The first of the words is the capacity: the library may have found more room.
    return our.first == their.first && our.words.storageClass == their.words.storageClass
      && (our.words.first..<1 << 16).contains(their.words.first) && our.words.second == their.words.second
      && our.bytes == their.bytes
  }
}
