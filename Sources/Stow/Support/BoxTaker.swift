/// Copies a keyed container out of the pool, without the metadata of its type.
///
/// `KeyedEncodingContainer<Key>` is opaque to other modules, so copying one where `Key` is generic looks its
/// metadata up, in a table of the runtime: a tenth of the time of records. But the container is one strong
/// reference, and an object of a generic class knows how to copy what it is generic over. Here an object that
/// copies one kind of reference is called as one that copies another.
///
/// That is safe as long as both are one reference, copied by retaining it. `shared` checks this once, by sizes and
/// by behaviour; it is nil where it does not hold, or if the environment has `STOW_PLAIN`. Then every container is
/// made anew, as `ContainerPool` describes.
struct BoxTaker: @unchecked Sendable {
  private let object: UnsafeMutableRawPointer

  /// Copies the container at `address`.
  @inline(__always)
  func take<Container>(_ address: UnsafeRawPointer, as _: Container.Type) -> Container {
    Unmanaged<Copier<Container>>.fromOpaque(object)._withUnsafeGuaranteedRef { $0.copy(address) }
  }

  private class Copier<Value> {
    @inline(never)
    func copy(_ address: UnsafeRawPointer) -> Value { address.assumingMemoryBound(to: Value.self).pointee }
  }

  /// The object is kept for as long as the process runs.
  private init() { object = Unmanaged.passRetained(Copier<AnyObject>()).toOpaque() }

  static let shared: BoxTaker? = {
    guard !Techniques.arePlain else { return nil }
    let taker = BoxTaker()
    return taker.copiesEncodingContainers() && taker.copiesDecodingContainers() ? taker : nil
  }()

  // MARK: the check

  private func copiesEncodingContainers() -> Bool {
    let session = EncodingSession(boxTaker: nil)
    let cursor = KeyedCursor(session: session, schema: Schema(PathKey.self, index: 0))
    return copies { KeyedEncodingContainer(KeyedEncoder<PathKey>(cursor: cursor)) }
  }

  private func copiesDecodingContainers() -> Bool {
    let session = DecodingSession(boxTaker: nil)
    let cursor = DecodingCursor(session: session, schema: DecodingSchema(PathKey.self))
    return copies { KeyedDecodingContainer(KeyedDecoder<PathKey>(cursor)) }
  }

  /// Whether a container is one reference, which a copy of it holds until the copy goes.
  private func copies<Container>(_ make: () -> Container) -> Bool {
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size,
      MemoryLayout<Container>.alignment == MemoryLayout<AnyObject>.alignment, !_isPOD(Container.self)
    else { return false }
    var box = unsafeBitCast(make(), to: AnyObject.self)
    guard isKnownUniquelyReferenced(&box) else { return false }
    var copy: Container? = withUnsafePointer(to: &box) { take($0, as: Container.self) }
    let isHeld = copy != nil && !isKnownUniquelyReferenced(&box)
    copy = nil
    return isHeld && isKnownUniquelyReferenced(&box)
  }
}
