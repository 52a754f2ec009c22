/// A `DecodingError` in the box in which it is thrown, to be thrown again with another path and another offset.
///
/// Making an error takes two allocations, and reading a value as one type after another makes one for every type that
/// does not fit: half of the time of a generic value. This one is changed where it is, once nobody else holds it.
///
/// That relies on where the runtime puts an error in its box, and the standard library the bytes of a string in its
/// storage. `isKnown` checks both once, by words and by behaviour. Where they are elsewhere, on Apple's platforms,
/// whose boxes are objects of Foundation too, or if the environment has `STOW_PLAIN`, every error is made anew.
///
/// Trivial, so that boxes can be kept in a buffer: `release` lets go of the error.
///
/// The path is lent to the error, which counts no reference to it: counting one for every error took 4 % of the time
/// of a generic value. Whoever lends it keeps it until `takePath` or `keepPath`.
struct ErrorBox: BitwiseCopyable {
  private var object: Unmanaged<AnyObject>
  private let path: UnsafeMutablePointer<Path>
  /// The storage of the description. The error holds it.
  private var storage: Unmanaged<AnyObject>
  /// Those of the offset, at the end of the description.
  private let digits: UnsafeMutablePointer<UInt8>
  private let digitCount: Int

  /// A path of coding keys: the address of its storage.
  typealias Path = UInt

  /// Where the error stands in its box.
  private static let payload = 32
  /// Where the bytes stand in the storage of a string.
  private static let firstByte = 32
  /// The bits of the second word of a string that are the address of its storage.
  private static let addressBits = UInt.max >> 4

  /// Keeps an error whose description ends with the digits of an offset, from `start` on. Its path is lent from now on.
  ///
  /// Only where `isKnown`, and with a description longer than 15 bytes: shorter ones have no storage.
  init(_ error: DecodingError, digitsFrom start: Int) {
    object = Unmanaged.passRetained(Self.object(error))
    let context = object.toOpaque() + Self.payload + Self.placeOfContext(error)
    path = context.assumingMemoryBound(to: Path.self)
    Self.storage(path.pointee).release()
    let description = (context + 8).assumingMemoryBound(to: String.self)
    let address = UnsafeMutableRawPointer(bitPattern: Self.words(description.pointee).1 & Self.addressBits)
      .unsafelyUnwrapped
    storage = Unmanaged.fromOpaque(address)
    digits = (address + Self.firstByte + start).assumingMemoryBound(to: UInt8.self)
    digitCount = description.pointee.utf8.count - start
  }

  /// In most cases there is a type before the context.
  private static func placeOfContext(_ error: DecodingError) -> Int {
    if case .dataCorrupted = error { 0 } else { 8 }
  }

  /// The error as it is.
  var error: any Error { unsafeBitCast(object.takeUnretainedValue(), to: (any Error).self) }

  func release() { object.release() }

  /// Makes the offset another. False if somebody holds the error or its description, or the offset has not as many
  /// digits.
  @inline(__always)
  mutating func setOffset(_ offset: DecimalDigits) -> Bool {
    guard offset.count == digitCount, isUnique(&object), isUnique(&storage) else { return false }
    offset.write(to: digits)
    return true
  }

  /// The error with another path, once `setOffset` has found that nobody holds it, and the path it had was taken.
  @inline(__always)
  func error(_ path: Path) -> any Error {
    self.path.pointee = path
    return error
  }

  /// Takes the path out. False if somebody holds the error, which then needs `keepPath`.
  @inline(__always)
  mutating func takePath() -> Bool {
    guard isUnique(&object) else { return false }
    path.pointee = Self.path([])
    return true
  }

  /// Lets the error hold its path itself.
  func keepPath() { _ = Self.storage(path.pointee).retain() }

  /// A path, to be lent.
  @inline(__always)
  static func path(_ keys: [any CodingKey]) -> Path { unsafeBitCast(keys, to: Path.self) }

  private static func storage(_ path: Path) -> Unmanaged<AnyObject> {
    .fromOpaque(UnsafeRawPointer(bitPattern: path).unsafelyUnwrapped)
  }

  /// Whether there is one reference to an object.
  @inline(__always)
  private func isUnique(_ reference: inout Unmanaged<AnyObject>) -> Bool {
    withUnsafeMutableBytes(of: &reference) {
      isKnownUniquelyReferenced(
        &$0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: AnyObject.self).pointee)
    }
  }

  /// The box itself; without the `as`, what is in it would be taken.
  private static func object(_ error: any Error) -> AnyObject {
    unsafeBitCast(error as any Error, to: AnyObject.self)
  }

  // MARK: the check

  /// Whether boxes and strings are what this relies on.
  static let isKnown: Bool = {
    #if canImport(ObjectiveC)
      return false
    #else
      return !Techniques.arePlain && MemoryLayout<any Error>.size == 8 && MemoryLayout<String>.size == 16
        && behaves { .typeMismatch(Int.self, $0) } && behaves { .valueNotFound(Int.self, $0) }
        && behaves { .dataCorrupted($0) }
    #endif
  }()

  /// Whether errors of a case are changed where they are, and not while they or their descriptions are held.
  private static func behaves(_ make: (DecodingError.Context) -> DecodingError) -> Bool {
    guard var box = probe(make) else { return false }
    defer { box.release() }
    return isChanged(&box) && isHeld(&box) { $0 } && isHeld(&box) { context($0)?.debugDescription }
      && box.setOffset(DecimalDigits(50))
  }

  private static func probe(_ make: (DecodingError.Context) -> DecodingError) -> ErrorBox? {
    let keys: [any CodingKey] = [PathKey.super]
    let description = String(repeating: "a description ", count: 2) + "10"
    let error = make(DecodingError.Context(codingPath: keys, debugDescription: description))
    return withExtendedLifetime(keys) {
      guard isLaidOut(error, keys, description) else { return nil }
      var box = ErrorBox(error, digitsFrom: description.utf8.count - 2)
      if box.takePath() { return box }
      box.keepPath()
      box.release()
      return nil
    }
  }

  private static func isLaidOut(
    _ error: DecodingError, _ path: [any CodingKey], _ description: String
  ) -> Bool {
    let box = object(error)
    let words = words(description)
    let bytes = description.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) }
    return withExtendedLifetime(box) {
      let context = Unmanaged.passUnretained(box).toOpaque() + payload + placeOfContext(error)
      return context.load(as: UInt.self) == unsafeBitCast(path, to: UInt.self)
        && (context + 8).load(as: (UInt, UInt).self) == words
        && bytes == words.1 & addressBits + UInt(firstByte)
    }
  }

  private static func isChanged(_ box: inout ErrorBox) -> Bool {
    guard box.setOffset(DecimalDigits(20)), let context = context(box.error(path([]))) else { return false }
    return context.codingPath.isEmpty && context.debugDescription.hasSuffix(" 20")
  }

  /// Whether the error is not changed while somebody holds what `part` gives of it.
  private static func isHeld<Part>(_ box: inout ErrorBox, by part: (any Error) -> Part?) -> Bool {
    guard box.setOffset(DecimalDigits(30)), let held = part(box.error(path([]))) else { return false }
    return withExtendedLifetime(held) { !box.setOffset(DecimalDigits(40)) }
  }

  private static func context(_ error: any Error) -> DecodingError.Context? {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      context
    default: nil
    }
  }

  private static func words(_ string: String) -> (UInt, UInt) { unsafeBitCast(string, to: (UInt, UInt).self) }
}
