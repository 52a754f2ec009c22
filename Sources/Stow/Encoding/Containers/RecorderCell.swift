import Synchronization

/// Where encoders and containers find their recorder, for as long as its message is being recorded.
///
/// Encoders and containers count no reference to the recorder, which would cost more than what they record. Instead they
/// keep the generation that the cell had when they were made. The generation changes when the message is over, so that
/// what escaped from it finds no recorder, and what is written to it is discarded. A cell is never freed, only used for
/// another recorder, until its generations have run out.
struct RecorderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(RecorderCell.none + 1)
    var recorder: Unmanaged<Recorder>?
  }

  /// A generation that no recorder has: for encoders that discard from the beginning.
  static let none: UInt32 = 0

  /// Those that no recorder has.
  private static let free = Mutex<[RecorderCell]>([])

  /// One that no recorder ever has.
  static let discarding = RecorderCell.take()

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// A cell that no recorder has.
  static func take() -> RecorderCell {
    if let cell = free.withLock({ $0.popLast() }) { return cell }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State())
    return RecorderCell(state)
  }

  /// Gives the cell of a recorder that is no more to another.
  func giveBack() {
    guard advance() else { return }
    state.pointee.recorder = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ recorder: Recorder) { state.pointee.recorder = .passUnretained(recorder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Goes on to the next generation; false if there is none, so that the cell cannot be used again.
  @inline(__always)
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.recorder = nil
    return false
  }

  /// The recorder, if the generation is still the same.
  @inline(__always)
  func recorder(_ generation: UInt32) -> Unmanaged<Recorder>? {
    self.generation == generation ? state.pointee.recorder : nil
  }
}
