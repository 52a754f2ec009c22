import Synchronization

/// What an encoder or a decoder hands to every value.
///
/// There is mostly none, and then handing it on counts no reference.
struct UserInfo: Sendable {
  private var some: [CodingUserInfoKey: any Sendable]?

  @inline(__always)
  var isEmpty: Bool { some == nil }

  var values: [CodingUserInfoKey: any Sendable] {
    get { some ?? [:] }
    set { some = newValue.isEmpty ? nil : newValue }
  }
}

/// What an encoder or a decoder shares between threads for every value.
///
/// As long as none was ever set, a call takes no lock and writes nothing that other threads read, and there is nothing
/// to let go of.
@frozen
@usableFromInline
struct SharedUserInfo: ~Copyable, Sendable {
  private final class Box: Sendable {
    let userInfo = Mutex(UserInfo())
  }

  /// The address of a box, which is made when user info is first set and stays; 0 before.
  ///
  /// Not an `AtomicLazyReference`, whose `load` is not specialized.
  @usableFromInline let address = Atomic<UInt>(0)

  @inlinable
  init() {}

  @inlinable
  deinit {
    if address.load(ordering: .acquiring) != 0 { releaseBox() }
  }

  @usableFromInline
  func releaseBox() { box?.release() }

  private var box: Unmanaged<Box>? {
    UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { .fromOpaque($0) }
  }

  var current: UserInfo {
    box?._withUnsafeGuaranteedRef { $0.userInfo.withLock { $0 } } ?? UserInfo()
  }

  /// Hands it on, if there is any.
  @inline(__always)
  func hand(to other: inout UserInfo) {
    // Assigning none calls the runtime twice.
    if address.load(ordering: .relaxed) != 0 { other = current }
  }

  func set(_ values: [CodingUserInfoKey: any Sendable]) {
    let box = self.box ?? makeBox()
    box._withUnsafeGuaranteedRef { $0.userInfo.withLock { $0.values = values } }
  }

  /// Makes the box, if no other thread has just done so.
  private func makeBox() -> Unmanaged<Box> {
    let new = Unmanaged.passRetained(Box())
    let (isFirst, old) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isFirst, let other = UnsafeRawPointer(bitPattern: old) else { return new }
    new.release()
    return .fromOpaque(other)
  }
}
