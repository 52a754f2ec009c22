import Synchronization

/// The state of one call of `encode` or `decode`, which is used again by a later call.
protocol PooledSession: AnyObject {
  /// Takes back the keyed containers that nobody holds any more, and says whether that is all of them.
  func takeContainersBack() -> Bool

  /// Forgets the message.
  func reset()

  /// Gets ready to be used when the message is over.
  func outlive()
}

/// Sessions that were used: those that are free, and those that somebody still holds a container of.
///
/// For the free ones there are a few places, each taken and filled by one atomic operation; a session that finds
/// no place is let go. Keyed containers do not count a reference to their session, so one that outlives its
/// message has it kept here. Every later call looks at one of the kept sessions, and lets it go if all its
/// containers are gone.
final class SessionPool<Session: PooledSession>: Sendable {
  /// Used under a lock.
  private struct Kept: @unchecked Sendable {
    var sessions: [Session] = []
    /// The one to look at next.
    private var next = 0

    /// Takes the next session out if nobody else uses it.
    mutating func removeNext() -> Session? {
      guard !sessions.isEmpty else { return nil }
      let number = next % sessions.count
      next = number + 1
      // What the containers refer to may refer to the session.
      guard sessions[number].takeContainersBack(), isKnownUniquelyReferenced(&sessions[number]) else {
        return nil
      }
      sessions.swapAt(number, sessions.count - 1)
      return sessions.removeLast()
    }
  }

  private let places = SessionPlaces()
  private let kept = Mutex(Kept())
  private let hasKept = Atomic<Bool>(false)

  func take() -> Session? {
    if hasKept.load(ordering: .relaxed) { releaseKept() }
    return take(places.first) ?? take(places.second) ?? take(places.third) ?? take(places.fourth)
  }

  private func take(_ place: borrowing Atomic<UInt>) -> Session? {
    guard place.load(ordering: .relaxed) != 0,
      let session = UnsafeRawPointer(bitPattern: place.exchange(0, ordering: .acquiring))
    else { return nil }
    return Unmanaged<Session>.fromOpaque(session).takeRetainedValue()
  }

  /// Takes a session back whose message is over.
  func takeBack(_ session: inout Session?) {
    guard let isComplete = session?.takeContainersBack() else { return }
    guard isComplete, isKnownUniquelyReferenced(&session) else {
      session.map(keep)
      return
    }
    session?.reset()
    give(&session)
  }

  /// Puts a session into a place, from which another thread may take it at once: it must find nobody else
  /// referring to it.
  private func give(_ session: inout Session?) {
    guard let reference = session.map({ UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) }) else {
      return
    }
    session = nil
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

  // MARK: kept sessions

  /// Keeps a session that somebody holds a container of. It must make no more containers that need that.
  private func keep(_ session: Session) {
    session.outlive()
    withKept { $0.sessions.append(session) }
  }

  @inline(never)
  private func releaseKept() {
    // What a session lets go of may come back here, so that happens when the lock is free again.
    var released: Session?
    withKept { released = $0.removeNext() }
    withExtendedLifetime(released) {}
  }

  /// Uses what is kept, under the lock.
  ///
  /// `hasKept` orders what threads do here, too: the thread sanitizer does not see into a lock that they wait for.
  private func withKept(_ body: (inout Kept) -> Void) {
    kept.withLock { kept in
      _ = hasKept.load(ordering: .acquiring)
      body(&kept)
      hasKept.store(!kept.sessions.isEmpty, ordering: .releasing)
    }
  }
}

/// The addresses of sessions that a pool holds a reference to; 0 where there is none.
private struct SessionPlaces: ~Copyable, Sendable {
  let first = Atomic<UInt>(0)
  let second = Atomic<UInt>(0)
  let third = Atomic<UInt>(0)
  let fourth = Atomic<UInt>(0)
}
