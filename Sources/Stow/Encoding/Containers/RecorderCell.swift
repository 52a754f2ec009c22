import Synchronization

// How encoders and containers refer to their recorder, which nobody counts.

/// A token on the tape of a recorder, for as long as its message is being recorded.
///
/// What encoders and containers have instead of a reference to their recorder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: RecorderCell
  /// The token, and the generation of the cell.
  private let bits: UInt64

  init(_ recorder: Recorder, token: Int) {
    cell = recorder.cell
    bits = UInt64(UInt32(truncatingIfNeeded: token)) | UInt64(recorder.generation) << 32
  }

  /// A position that no recorder has.
  init() {
    cell = .discarding
    bits = UInt64(RecorderCell.none) << 32
  }

  var token: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

  /// Nil when the message is over.
  var recorder: RecorderReference? { cell.recorder(UInt32(truncatingIfNeeded: bits >> 32)) }
}

/// A recorder that somebody else keeps: nobody counts this reference.
struct RecorderReference: BitwiseCopyable {
  private let reference: Unmanaged<Recorder>

  init(_ recorder: Recorder) { reference = .passUnretained(recorder) }

  @inline(__always)
  func lend<Result>(_ body: (Recorder) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef { try body($0) }
  }
}

/// Where encoders and containers find their recorder, for as long as its message is being recorded.
///
/// Counting references to the recorder would cost more than what they record. Instead they keep the generation that the
/// cell had when they were made. It changes when the message is over, so that what escaped from it finds no recorder, and
/// what is written to it is discarded. A cell is never freed, only used for another recorder, until its generations have
/// run out.
struct RecorderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(RecorderCell.none + 1)
    var recorder: RecorderReference?
  }

  /// A generation that no recorder has: for encoders that discard from the beginning.
  static let none: UInt32 = 0

  /// Cells that were given back, to be taken again.
  private static let free = Mutex<[RecorderCell]>([])

  /// The cell of encoders that discard from the beginning, which is never assigned a recorder.
  static let discarding = RecorderCell.take()

  private init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  /// Takes a cell for a recorder: one that was given back, or a new one.
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

  func assign(_ recorder: Recorder) { state.pointee.recorder = RecorderReference(recorder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Goes on to the next generation; false if they have run out, so that the cell cannot be used again.
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.recorder = nil
    return false
  }

  /// The recorder, if the generation is still the same.
  @inline(__always)
  func recorder(_ generation: UInt32) -> RecorderReference? {
    self.generation == generation ? state.pointee.recorder : nil
  }
}
