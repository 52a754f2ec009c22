/// Whether a keyed container can be used again when nobody holds it any more: the first of the two assumptions about types
/// of the standard library (SECURITY.md names both).
///
/// It is assumed that a `KeyedEncodingContainer` or a `KeyedDecodingContainer` is one strong reference, which a copy
/// retains and which is released when the copy goes. Then a container in a pool is free exactly if the pool's is the
/// only reference. Where the check below finds anything else, every container is made anew.
enum ContainerReuse {
  /// Whether the process allows it: not if the variable `STOW_CONTAINER_REUSE` of its environment is `0`, as for tests
  /// of what happens where the assumption does not hold.
  private static let isAllowed = CLibrary.environment("STOW_CONTAINER_REUSE") != "0"

  /// Whether containers like the one made are one reference each.
  ///
  /// - Parameter make: Makes a container that nobody else holds.
  static func isPossible<Container>(_ make: () -> Container) -> Bool {
    guard isAllowed, MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size,
      MemoryLayout<Container>.alignment == MemoryLayout<AnyObject>.alignment, !_isPOD(Container.self)
    else { return false }
    // In memory of its own, the container is a single reference whatever the optimizer does with copies.
    let container = UnsafeMutablePointer<Container>.allocate(capacity: 1)
    container.initialize(to: make())
    defer {
      container.deinitialize(count: 1)
      container.deallocate()
    }
    let reference = UnsafeMutableRawPointer(container).assumingMemoryBound(to: AnyObject?.self)
    guard isKnownUniquelyReferenced(&reference.pointee) else { return false }
    let isHeld = withExtendedLifetime(ContainerCopier<Container>().copy(container)) {
      !isKnownUniquelyReferenced(&reference.pointee)
    }
    return isHeld && isKnownUniquelyReferenced(&reference.pointee)
  }

  /// The reference that a container is. Only where `isPossible` has said so.
  static func reference<Container>(of container: Container) -> AnyObject {
    unsafeBitCast(container, to: AnyObject.self)
  }
}

/// Copies containers of one type.
///
/// Where the type of the keys is not known, the compiler looks up the type of their container to copy one, in a table of
/// the runtime. This object knows the type that it is generic over.
class ContainerCopier<Container> {
  /// A copy of the container at `address`.
  @inline(never)
  func copy(_ address: UnsafeRawPointer) -> Container {
    address.assumingMemoryBound(to: Container.self).pointee
  }
}
