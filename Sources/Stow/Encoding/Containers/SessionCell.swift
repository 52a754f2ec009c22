import Synchronization

/// Where encoders and containers find their session, for as long as its message is being recorded.
///
/// They count no reference to it: that was an eighth of the time of generic values, and 1 to 8 % of that of records.
/// Instead they keep the generation that the cell had when they were made. It changes when the message is over, so
/// that what outlived its message finds none, and goes nowhere. A cell is never freed, only used for another session,
/// until its generations have run out.
struct SessionCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(SessionCell.none + 1)
    var session: Unmanaged<EncodingSession>?
  }

  /// A generation that no session has: of what goes nowhere from the beginning.
  static let none: UInt32 = 0

  /// Those that no session has.
  private static let free = Mutex<[SessionCell]>([])

  /// One that no session ever has.
  static let nowhere = SessionCell.take()

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// A cell that no session has.
  static func take() -> SessionCell {
    if let cell = free.withLock({ $0.popLast() }) { return cell }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    return SessionCell(state)
  }

  /// Gives the cell of a session that is no more to another.
  func giveBack() {
    guard advance() else { return }
    state.pointee.session = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ session: EncodingSession) { state.pointee.session = .passUnretained(session) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Goes on to the next generation; false if there is none, so that the cell cannot be used again.
  @inline(__always)
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.session = nil
    return false
  }

  /// The session, if the generation is still the same.
  @inline(__always)
  func session(_ generation: UInt32) -> Unmanaged<EncodingSession>? {
    self.generation == generation ? state.pointee.session : nil
  }
}
