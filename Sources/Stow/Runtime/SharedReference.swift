import Synchronization

/// An object that an encoder shares between threads, and that is mostly none.
///
/// What was set stays until the owner goes, so that a call borrows it without a lock and without counting references.
@frozen
@usableFromInline
struct SharedReference<Object: AnyObject & Equatable & Sendable>: ~Copyable, Sendable {
  private final class Box: Sendable {
    let current = Atomic<UInt>(0)
    /// All that were set, each once.
    let kept = Mutex<[Object]>([])
  }

  /// The address of a box, which is made when an object is first set and stays; 0 before.
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

  /// The object, if there is one. Valid as long as the owner of this is.
  @inline(__always)
  var current: Unmanaged<Object>? {
    guard let box else { return nil }
    let address = box._withUnsafeGuaranteedRef { $0.current.load(ordering: .acquiring) }
    return UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
  }

  /// Changes the object, while no other thread does.
  func update(_ body: (Object?) -> Object?) {
    (box ?? makeBox())._withUnsafeGuaranteedRef { box in
      box.kept.withLock { kept in
        let old = UnsafeRawPointer(bitPattern: box.current.load(ordering: .relaxed))
        var new = body(old.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() })
        if let known = kept.first(where: { $0 == new }) { new = known } else if let new { kept.append(new) }
        let address = new.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
        box.current.store(address, ordering: .releasing)
      }
    }
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
