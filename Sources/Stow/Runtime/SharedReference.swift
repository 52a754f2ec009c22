import Synchronization

/// An object that an encoder shares between threads, and that is mostly none.
///
/// What was set stays until the owner goes, so that a call borrows it without a lock and without counting references.
@frozen
@usableFromInline
struct SharedReference<Object: AnyObject & Equatable & Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Box: Sendable {
    fileprivate let current = Atomic<UInt>(0)
    /// All that were set, each once.
    fileprivate let kept = Mutex<[Object]>([])
  }

  @usableFromInline let box = SharedBox<Box>()

  @inlinable
  init() {}

  /// The object, if there is one. Valid as long as the owner of this is.
  @inline(__always)
  var current: Unmanaged<Object>? {
    guard let box = box.current else { return nil }
    let address = box._withUnsafeGuaranteedRef { $0.current.load(ordering: .acquiring) }
    return UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
  }

  /// Changes the object, while no other thread does.
  func update(_ body: (Object?) -> Object?) {
    box.current(orMaking: Box.init)._withUnsafeGuaranteedRef { box in
      box.kept.withLock { kept in
        let old = UnsafeRawPointer(bitPattern: box.current.load(ordering: .relaxed))
        var new = body(old.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() })
        if let known = kept.first(where: { $0 == new }) { new = known } else if let new { kept.append(new) }
        let address = new.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
        box.current.store(address, ordering: .releasing)
      }
    }
  }
}
