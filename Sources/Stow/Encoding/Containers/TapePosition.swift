/// A token on the tape of a recorder, for as long as its message is being recorded.
///
/// What encoders and containers have instead of a reference to their recorder: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: RecorderCell
  /// The token, and the generation of the cell.
  private let bits: UInt64

  @inline(__always)
  init(_ recorder: Recorder, token: Int) {
    cell = recorder.cell
    bits = UInt64(UInt32(truncatingIfNeeded: token)) | UInt64(recorder.generation) << 32
  }

  /// A position that no recorder has.
  init() {
    cell = .discarding
    bits = UInt64(RecorderCell.none) << 32
  }

  @inline(__always)
  var token: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

  /// Nil when the message is over.
  @inline(__always)
  var recorder: Unmanaged<Recorder>? { cell.recorder(UInt32(truncatingIfNeeded: bits >> 32)) }
}
