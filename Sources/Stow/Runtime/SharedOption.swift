import Synchronization

/// An option that an encoder or a decoder shares between threads, and that is mostly none.
@frozen
@usableFromInline
struct SharedOption<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline
  final class Box: Sendable {
    fileprivate let value = Mutex<Value?>(nil)
  }

  @usableFromInline let box = SharedBox<Box>()

  @inlinable
  init() {}

  /// The option, if there is one.
  @inline(__always)
  var current: Value? { box.current.flatMap { Self.value(in: $0) } }

  @inline(never)
  private static func value(in box: Unmanaged<Box>) -> Value? {
    box._withUnsafeGuaranteedRef { $0.value.withLock { $0 } }
  }

  func set(_ value: Value?) { update { $0 = value } }

  /// Changes the option, while no other thread does.
  func update(_ body: (inout Value?) -> Void) {
    box.current(orMaking: Box.init)._withUnsafeGuaranteedRef { $0.value.withLock { body(&$0) } }
  }
}
