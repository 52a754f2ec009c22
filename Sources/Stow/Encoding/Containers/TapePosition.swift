/// A token on the tape of a session, for as long as its message is being recorded.
///
/// What encoders and containers have instead of a reference to their session: two trivial words.
struct TapePosition: BitwiseCopyable {
  private let cell: SessionCell
  /// The token, and the generation of the cell.
  private let bits: UInt64

  @inline(__always)
  init(_ session: EncodingSession, token: Int) {
    cell = session.cell
    bits = UInt64(UInt32(truncatingIfNeeded: token)) | UInt64(session.generation) << 32
  }

  /// A position that no session has.
  init() {
    cell = .nowhere
    bits = UInt64(SessionCell.none) << 32
  }

  @inline(__always)
  var token: Int { Int(UInt32(truncatingIfNeeded: bits)) }

  /// Nil when the message is over.
  @inline(__always)
  var session: Unmanaged<EncodingSession>? { cell.session(UInt32(truncatingIfNeeded: bits >> 32)) }
}
