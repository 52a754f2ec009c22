import Synchronization

/// The state of one call of `encode` or `decode`, which is used again by a later call.
protocol PooledSession: AnyObject {
  /// Takes back the keyed containers that nobody holds any more, and says whether that is all of them.
  func takeContainersBack() -> Bool

  /// Forgets the message.
  func reset()

  /// Gets ready to be used when the message is over.
  func detach()
}

/// Sessions that were used: those that are free, and those that somebody still holds a container of.
///
/// For the free ones there are a few places; a session that finds none is let go. Keyed containers do not count a
/// reference to their session, so one that outlives its message has it kept here. Every later call looks at one of
/// the kept sessions, and lets it go if all its containers are gone.
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

  /// A free session, if there is one, with the reference that the pool held.
  ///
  /// Whoever takes it borrows it, without counting references.
  @inline(__always)
  func take() -> Unmanaged<Session>? {
    if hasKept.load(ordering: .relaxed) { releaseKept() }
    return places.take().map { Unmanaged.fromOpaque($0) }
  }

  /// Takes a session back whose message is over, and the reference to it.
  func takeBack(_ session: Unmanaged<Session>) {
    // Optional, because it must be known to be the only reference (`ContainerPool`).
    var owned: Session? = session.takeRetainedValue()
    guard owned?.takeContainersBack() == true, isKnownUniquelyReferenced(&owned) else {
      owned.map(keep)
      return
    }
    owned?.reset()
    give(&owned)
  }

  /// Puts a session into a place, from which another thread may take it at once: it must find nobody else
  /// referring to it.
  @inline(__always)
  private func give(_ session: inout Session?) {
    guard let reference = session.map({ Unmanaged.passRetained($0) }) else { return }
    session = nil
    if !places.give(reference.toOpaque()) { reference.release() }
  }

  // MARK: kept sessions

  /// Keeps a session that somebody holds a container of. It must make no more containers that need that.
  private func keep(_ session: Session) {
    session.detach()
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
