import Synchronization

/// An option that an encoder or a decoder shares between threads, and that is mostly none.
///
/// As long as none was ever set, a call takes no lock and writes nothing that other threads read, and there is nothing
/// to let go of.
@frozen
@usableFromInline
struct SharedOption<Value: Sendable>: ~Copyable, Sendable {
  private final class Box: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// The address of a box, which is made when the option is first set and stays; 0 before.
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

  /// The option, if there is one.
  @inline(__always)
  var current: Value? { address.load(ordering: .relaxed) == 0 ? nil : locked }

  @inline(never)
  private var locked: Value? { box?._withUnsafeGuaranteedRef { $0.value.withLock { $0 } } }

  func set(_ value: Value?) { update { $0 = value } }

  /// Changes the option, while no other thread does.
  func update(_ body: (inout Value?) -> Void) {
    let box = self.box ?? makeBox()
    box._withUnsafeGuaranteedRef { $0.value.withLock { body(&$0) } }
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
