import Synchronization

/// What an encoder or a decoder passes to every value. Mostly it is empty, and counts no reference.
struct UserInfo: Sendable {
  /// The values of the user, and the mark.
  private var marked: [CodingUserInfoKey: any Sendable]?

  var isEmpty: Bool { marked == nil }

  var values: [CodingUserInfoKey: any Sendable] {
    get {
      var values = marked ?? .init()
      values[.stowCoder] = nil
      return values
    }
    set {
      marked = newValue.isEmpty ? nil : newValue
      marked?[.stowCoder] = true
    }
  }

  init(_ values: [CodingUserInfoKey: any Sendable] = .init()) { self.values = values }

  /// What a coder shows to values: also a mark, by which they know the coder if another one forwards to it.
  var shown: [CodingUserInfoKey: any Sendable] { marked ?? Self.mark }

  private static let mark: [CodingUserInfoKey: any Sendable] = [.stowCoder: true]
}

extension CodingUserInfoKey {
  static let stowCoder = CodingUserInfoKey(rawValue: "Stow")!
}

/// The options of a coder. Threads that share one with the default options do not wait for each other.
struct SharedOptions<Options: Sendable>: ~Copyable, Sendable {
  /// Options that somebody has set, which never change.
  final class Changed: Sendable {
    let options: Options

    init(_ options: Options) { self.options = options }
  }

  private let standard: Options
  private let changed = Mutex<Changed?>(nil)
  private let areChanged = Atomic<Bool>(false)

  init(_ standard: Options) { self.standard = standard }

  var current: Options { read { copy $0 } }

  /// Passes the options to `body`. As long as nobody has set any, no reference is counted.
  @inline(__always)
  func read<Result>(_ body: (borrowing Options) throws -> Result) rethrows -> Result {
    if areChanged.load(ordering: .acquiring), let changed = latest() { return try body(changed.options) }
    return try body(standard)
  }

  @inline(never)
  private func latest() -> Changed? { changed.withLock { $0 } }

  /// Changes the options, and releases the old ones after the lock, because a `deinit` may use the same coder.
  @inline(never)
  func update(_ body: (inout Options) throws -> Void) rethrows {
    let old = try changed.withLock { changed in
      let old = changed
      var options = old?.options ?? standard
      try body(&options)
      changed = Changed(options)
      return old
    }
    areChanged.store(true, ordering: .releasing)
    withExtendedLifetime(old) {}
  }
}

/// The state of one call of `encode` or `decode`, which later calls reuse. Not a protocol, because the first use of a
/// generic type whose parameter must conform to one searches every conformance of the program.
class PooledSession {
  /// Takes back the keyed containers that nobody holds any more, and returns whether these are all of them.
  func takeContainersBack() -> Bool { preconditionFailure("a session without containers") }

  func reset() {}

  /// Prepares to be used after its message is over.
  func detach() {}
}

/// A pool of sessions: free ones, and ones with a container that somebody still holds.
///
///     take ──→ a call of encode or decode ──→ takeBack ──→ places    (8, one session each)
///      ↑                                          │           │
///      │                                          ↓           │
///      │                    kept: a container of it is held   │
///      └──────────────────────────────────────────────────────┘
///
/// Keyed containers do not retain their session, so the session of one that outlives its message is kept here. Every
/// later call looks at one of the kept sessions, and releases it if all its containers are gone.
final class SessionPool<Session: PooledSession>: Sendable {
  private let places = Places<Session>()
  private let make: @Sendable () -> Session
  private let kept = Mutex(Kept())
  private let hasKept = Atomic<Bool>(false)

  /// - Parameter make: Makes a session if none is free.
  init(_ make: @escaping @Sendable () -> Session) { self.make = make }

  func take() -> Session {
    if hasKept.load(ordering: .relaxed) { releaseKept() }
    return places.take() ?? make()
  }

  /// Takes back a session whose message is over. Only containers may still hold it.
  ///
  /// - Parameter session: Optional, as `isKnownUniquelyReferenced` wants it in builds without optimization
  ///   (`ContainerPool`).
  func takeBack(_ session: inout Session?) {
    guard session?.takeContainersBack() == true, isKnownUniquelyReferenced(&session) else {
      session.map(keep)
      return
    }
    session?.reset()
    places.give(&session)
  }

  // MARK: kept sessions

  /// Used under a lock.
  private struct Kept: @unchecked Sendable {
    var sessions: [Session] = []
    private var next = 0

    mutating func removeNext() -> Session? {
      guard !sessions.isEmpty else { return nil }
      let number = next % sessions.count
      next = number + 1
      // The objects of the containers may refer to the session.
      guard sessions[number].takeContainersBack(), isKnownUniquelyReferenced(&sessions[number]) else { return nil }
      return sessions.remove(at: number)
    }
  }

  /// Keeps a session with a container that somebody holds. From then on its containers retain it.
  private func keep(_ session: Session) {
    session.detach()
    withKept { $0.sessions.append(session) }
  }

  @inline(never)
  private func releaseKept() {
    // Releasing a session may come back here, so it happens outside the lock.
    var released: Session?
    withKept { released = $0.removeNext() }
    withExtendedLifetime(released) {}
  }

  /// Uses the kept sessions, under the lock. `hasKept` orders the accesses, too: the thread sanitizer does not see
  /// through a lock that threads wait for.
  private func withKept(_ body: (inout Kept) -> Void) {
    kept.withLock { kept in
      _ = hasKept.load(ordering: .acquiring)
      body(&kept)
      hasKept.store(!kept.sessions.isEmpty, ordering: .releasing)
    }
  }
}

/// A few places, each for one session, which live as long as the process.
///
/// A thread mostly begins at a place of its own, and so finds the session that it used last, still in its caches.
private struct Places<Session: AnyObject>: ~Copyable, @unchecked Sendable {
  /// A place, on a cache line of its own.
  private struct Place: ~Copyable {
    let address = Atomic<UInt>(0)
    let padding: (SIMD64<UInt8>, SIMD64<UInt8>) = (.zero, .zero)
  }

  private let places: UnsafeMutablePointer<Place>
  /// A power of two.
  private static var count: Int { 8 }

  init() {
    places = .allocate(capacity: Self.count)
    for number in 0..<Self.count { (places + number).initialize(to: Place()) }
  }

  func take() -> Session? {
    let home = Self.home()
    for step in 0..<Self.count {
      let place = places + (home &+ step) & (Self.count &- 1)
      guard place.pointee.address.load(ordering: .relaxed) != 0 else { continue }
      let address = place.pointee.address.exchange(0, ordering: .acquiring)
      if let pointer = UnsafeRawPointer(bitPattern: address) {
        return Unmanaged<Session>.fromOpaque(pointer).takeRetainedValue()
      }
    }
    return nil
  }

  /// Puts a session into the first free place; releases it if there is none.
  func give(_ session: inout Session?) {
    guard let reference = session.map({ Unmanaged.passRetained($0) }) else { return }
    session = nil
    let home = Self.home()
    let address = UInt(bitPattern: reference.toOpaque())
    for step in 0..<Self.count {
      let place = places + (home &+ step) & (Self.count &- 1)
      let isFree = place.pointee.address.compareExchange(expected: 0, desired: address, ordering: .releasing)
      if isFree.exchanged { return }
    }
    reference.release()
  }

  /// Returns the place at which the current thread begins, derived from the address of its stack.
  private static func home() -> Int {
    // Only the address matters: nothing on the stack needs a guard.
    var marker: UInt8 = 0
    let address = _withUnprotectedUnsafeMutablePointer(to: &marker) { UInt64(UInt(bitPattern: $0)) }
    // Stacks are half a megabyte or more apart. The multiplication spreads neighboring ones.
    let spread = (address >> 19) &* 0x9E37_79B9_7F4A_7C15
    return Int(spread >> 61) & (count &- 1)
  }
}
