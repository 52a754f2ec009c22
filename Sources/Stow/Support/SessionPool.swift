import Synchronization

/// Sessions that were used and are free.
///
/// A few places, each taken and filled by one atomic operation; a session that finds no place is let go.
final class SessionPool<Session: AnyObject>: Sendable {
  /// The address of a session that this pool holds a reference to; 0 where there is none.
  private struct Places: ~Copyable, Sendable {
    let first = Atomic<UInt>(0)
    let second = Atomic<UInt>(0)
    let third = Atomic<UInt>(0)
    let fourth = Atomic<UInt>(0)
  }

  private let places = Places()

  func take() -> Session? {
    take(places.first) ?? take(places.second) ?? take(places.third) ?? take(places.fourth)
  }

  private func take(_ place: borrowing Atomic<UInt>) -> Session? {
    guard place.load(ordering: .relaxed) != 0,
      let session = UnsafeRawPointer(bitPattern: place.exchange(0, ordering: .acquiring))
    else { return nil }
    return Unmanaged<Session>.fromOpaque(session).takeRetainedValue()
  }

  func give(_ session: Session) {
    let reference = UInt(bitPattern: Unmanaged.passRetained(session).toOpaque())
    if give(reference, places.first) || give(reference, places.second) || give(reference, places.third)
      || give(reference, places.fourth)
    {
      return
    }
    UnsafeRawPointer(bitPattern: reference).map { Unmanaged<Session>.fromOpaque($0).release() }
  }

  private func give(_ session: UInt, _ place: borrowing Atomic<UInt>) -> Bool {
    place.compareExchange(expected: 0, desired: session, ordering: .releasing).exchanged
  }
}
