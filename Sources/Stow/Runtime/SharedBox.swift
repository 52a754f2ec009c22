import Synchronization

/// An object that an encoder or a decoder makes when it is first needed, and keeps: most never need it.
///
/// As long as there is none, a call writes nothing that other threads read, and there is nothing to let go of.
@frozen
@usableFromInline
struct SharedBox<Box: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The address of the object; 0 before there is one.
  ///
  /// Not an `AtomicLazyReference`, whose `load` is not specialized.
  @usableFromInline let address = Atomic<UInt>(0)

  @inlinable
  init() {}

  @inlinable
  deinit {
    if address.load(ordering: .acquiring) != 0 { release() }
  }

  @usableFromInline
  func release() { current?.release() }

  /// The object, if there is one. Valid as long as the owner of this is.
  @inline(__always)
  var current: Unmanaged<Box>? {
    UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { .fromOpaque($0) }
  }

  /// The object, which `make` makes if there is none and no other thread has just made one.
  func current(orMaking make: () -> Box) -> Unmanaged<Box> {
    if let current { return current }
    let new = Unmanaged.passRetained(make())
    let (isFirst, old) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
    guard !isFirst, let other = UnsafeRawPointer(bitPattern: old) else { return new }
    new.release()
    return .fromOpaque(other)
  }
}
