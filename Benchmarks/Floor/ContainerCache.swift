/// Keeps one keyed container per key type, for coders whose containers know nothing of the object they stand
/// for: making one anew, with the look-up of its type, is up to half of what such a coder spends.
///
/// It lives behind a plain pointer, so that a coder holding it costs no reference counting.
struct ContainerCache {
  typealias Reference = UnsafeMutablePointer<ContainerCache>

  private typealias Slot = UnsafeMutablePointer<(key: ObjectIdentifier?, box: Unmanaged<AnyObject>?)>

  private static let slotCount = 256

  /// What was made for the key types that fall on each slot, last one first to be found.
  private let slots: Slot

  /// An empty cache, to be given to `destroy`.
  static func create() -> Reference {
    let reference = Reference.allocate(capacity: 1)
    reference.initialize(to: ContainerCache())
    return reference
  }

  /// Lets go of all containers.
  static func destroy(_ reference: Reference) {
    for slot in 0..<slotCount { reference.pointee.slots[slot].box?.release() }
    reference.pointee.slots.deallocate()
    reference.deallocate()
  }

  private init() {
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: (nil, nil), count: Self.slotCount)
  }

  /// The container of a key type, made the first time. `Container` must depend on `Key` alone.
  @inline(__always)
  func container<Key, Container>(for key: Key.Type, make: () -> Container) -> Container {
    let identity = ObjectIdentifier(key)
    let address = UInt(bitPattern: identity)
    let slot = slots + Int((address >> 4 ^ address >> 12) & UInt(Self.slotCount - 1))
    if slot.pointee.key == identity, let box = slot.pointee.box {
      return box._withUnsafeGuaranteedRef { unsafeDowncast($0, to: ContainerBox<Container>.self).get() }
    }
    return keep(make(), in: slot, identity)
  }

  /// Keeps a new container in a slot; out of line, as it is needed once for a type.
  @inline(never)
  private func keep<Container>(_ container: Container, in slot: Slot, _ identity: ObjectIdentifier)
    -> Container
  {
    slot.pointee.box?.release()
    slot.pointee = (identity, .passRetained(ContainerBox(container)))
    return container
  }
}

/// Holds a container and hands it out: being asked through a method, it needs no look-up of the container's
/// type by the one who asks.
private final class ContainerBox<Container> {
  private let container: Container

  init(_ container: Container) { self.container = container }

  @inline(never)
  func get() -> Container { container }
}
