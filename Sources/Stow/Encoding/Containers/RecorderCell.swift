import Synchronization

// How encoders and containers refer to their recorder, without reference counting.

/// A token on the tape of a recorder, for as long as its message is being recorded.
///
/// Encoders and containers have it instead of a reference to their recorder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: RecorderCell
  /// The token, and the generation of the cell.
  private let bits: UInt64

  init(_ recorder: Recorder, token: Int) {
    cell = recorder.cell
    bits = UInt64(UInt32(truncatingIfNeeded: token)) | UInt64(recorder.generation) << 32
  }

  /// Makes a position that no recorder has.
  init() {
    cell = .discarding
    bits = UInt64(RecorderCell.none) << 32
  }

  var token: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

  /// The recorder; nil when the message is over.
  var recorder: RecorderReference? { cell.recorder(UInt32(truncatingIfNeeded: bits >> 32)) }
}

/// A recorder that somebody else keeps alive, without reference counting.
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
/// Counting references to the recorder would cost more than what they record. Instead they keep the
/// generation that the cell had when they were made. It changes when the message is over, so that those that
/// escaped find no recorder, and anything written to them is discarded. A cell is never freed, and is reused
/// for other recorders until its generations have run out.
struct RecorderCell: BitwiseCopyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>

  private struct State: ~Copyable {
    let generation = Atomic<UInt32>(RecorderCell.none + 1)
    var recorder: RecorderReference?
  }

  /// The generation of recorders and encoders that are over.
  static let none: UInt32 = 0

  /// The free list: cells that were given back.
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

  /// Gives back the cell of a recorder that no longer exists.
  func giveBack() {
    guard advance() else { return }
    state.pointee.recorder = nil
    Self.free.withLock { $0.append(self) }
  }

  func assign(_ recorder: Recorder) { state.pointee.recorder = RecorderReference(recorder) }

  var generation: UInt32 { state.pointee.generation.load(ordering: .relaxed) }

  /// Advances to the next generation. Returns false if they have run out, so that the cell cannot be reused.
  func advance() -> Bool {
    let next = generation &+ 1
    state.pointee.generation.store(next, ordering: .relaxed)
    if next != Self.none { return true }
    state.pointee.recorder = nil
    return false
  }

  /// Returns the recorder, if the generation is still the same.
  @inline(__always)
  func recorder(_ generation: UInt32) -> RecorderReference? {
    self.generation == generation ? state.pointee.recorder : nil
  }
}
