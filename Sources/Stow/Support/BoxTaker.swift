/// Copies a keyed container out of the pool, without the metadata of its type.
///
/// `KeyedEncodingContainer<Key>` is opaque to other modules, so copying one where `Key` is generic looks its
/// metadata up, in a table of the runtime: a tenth of the time of records. But the container is one strong
/// reference, and an object of a generic class knows how to copy what it is generic over. Here an object that
/// copies one kind of reference is called as one that copies another.
///
/// That is safe as long as both are one reference, copied by retaining it. `init` checks this once, by sizes and
/// by behaviour; there is none where it does not hold, or if the environment has `STOW_PLAIN`. Then every container
/// is made anew, and holds its session itself.
struct BoxTaker: @unchecked Sendable {
  private let object: UnsafeMutableRawPointer
  /// Whether containers refer to cursors, not to boxes of the standard library (`BoxClass`).
  private(set) var usesCursors = false

  /// Copies the container at `address`.
  @inline(__always)
  func take<Container>(_ address: UnsafeRawPointer, as _: Container.Type) -> Container {
    Unmanaged<Copier<Container>>.fromOpaque(object)._withUnsafeGuaranteedRef { $0.copy(address) }
  }

  private class Copier<Value> {
    @inline(never)
    func copy(_ address: UnsafeRawPointer) -> Value { address.assumingMemoryBound(to: Value.self).pointee }
  }

  /// For the containers of encoders.
  static let forEncoding = BoxTaker(
    takes: {
      let session = EncodingSession(boxTaker: nil)
      let cursor = KeyedCursor(session: session, schema: Schema(BoxCheck.Key.self, index: 0))
      return KeyedEncodingContainer(KeyedEncoder<BoxCheck.Key>(cursor: cursor))
    }, orCursors: KeyedCursor.self, that: BoxCheck.writes)

  /// For the containers of decoders.
  static let forDecoding = BoxTaker(
    takes: {
      let session = DecodingSession(boxTaker: nil)
      let cursor = DecodingCursor(session: session, schema: DecodingSchema(BoxCheck.Key.self))
      return KeyedDecodingContainer(KeyedDecoder<BoxCheck.Key>(cursor))
    }, orCursors: DecodingCursor.self, that: BoxCheck.reads)

  // MARK: the check

  /// Nil where containers like the one made are not what this relies on.
  private init?<Container>(
    takes make: () -> Container, orCursors cursorClass: AnyClass, that areCalled: (BoxTaker) -> Bool
  ) {
    guard !Techniques.arePlain else { return nil }
    // Kept for as long as the process runs, if this is.
    let copier = Unmanaged.passRetained(Copier<AnyObject>())
    object = copier.toOpaque()
    guard copies(make) else {
      copier.release()
      return nil
    }
    guard BoxClass.hasSameMethods(cursorClass, as: unsafeBitCast(make(), to: AnyObject.self)) else { return }
    usesCursors = true
    usesCursors = areCalled(self)
  }

  /// Whether a container is one reference, which a copy of it holds until the copy goes.
  private func copies<Container>(_ make: () -> Container) -> Bool {
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size,
      MemoryLayout<Container>.alignment == MemoryLayout<AnyObject>.alignment, !_isPOD(Container.self)
    else { return false }
    // In memory of its own, the container is a single reference whatever the optimizer does with copies.
    let container = UnsafeMutablePointer<Container>.allocate(capacity: 1)
    container.initialize(to: make())
    defer {
      container.deinitialize(count: 1)
      container.deallocate()
    }
    let box = UnsafeMutableRawPointer(container).assumingMemoryBound(to: AnyObject?.self)
    guard isKnownUniquelyReferenced(&box.pointee) else { return false }
    let isHeld = withExtendedLifetime(take(container, as: Container.self)) {
      !isKnownUniquelyReferenced(&box.pointee)
    }
    return isHeld && isKnownUniquelyReferenced(&box.pointee)
  }
}
