import Synchronization

/// An object that an encoder shares between threads, and that is mostly none.
///
/// Whoever needs it often keeps it, and only looks whether it is still the one: without a lock, and without counting
/// references.
@frozen
@usableFromInline
struct SharedReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Box: Sendable {
    /// Where the object is; 0 if there is none.
    fileprivate let address = Atomic<UInt>(0)
    fileprivate let object = Mutex<Object?>(nil)
  }

  @usableFromInline let box = SharedBox<Box>()

  @inlinable
  init() {}

  /// The object, if there is one.
  var current: Object? { box.current?._withUnsafeGuaranteedRef { $0.object.withLock { $0 } } }

  /// Whether there is an object, which `kept` is from then on.
  @inline(__always)
  func isSome(_ kept: inout Object?) -> Bool {
    guard let box = box.current else { return false }
    return box._withUnsafeGuaranteedRef { box in
      let address = box.address.load(ordering: .acquiring)
      // An object that is kept is the only one with its address.
      if address != 0, address != Self.address(of: kept) { kept = box.object.withLock { $0 } }
      return address != 0 && kept != nil
    }
  }

  @inline(__always)
  private static func address(of object: Object?) -> UInt {
    object.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
  }

  /// Changes the object, while no other thread does.
  func update(_ body: (Object?) -> Object?) {
    box.current(orMaking: Box.init)._withUnsafeGuaranteedRef { box in
      // What the old one lets go of may come back here, so that happens when the lock is free again.
      var old: Object?
      box.object.withLock { object in
        old = object
        object = body(object)
        box.address.store(Self.address(of: object), ordering: .releasing)
      }
      withExtendedLifetime(old) {}
    }
  }
}
