/// The encoder that a value is handed: the place on the tape where the value goes.
///
/// Three trivial words, so that it sits inside its existential and nothing is counted. It may escape from the `encode(to:)`
/// it was made for; once the message is over, what is encoded to it is discarded, and it has no path.
struct RecordingEncoder: Encoder, StowValueCoder {
  private let position: TapePosition
  /// The container of the value, and the key.
  private let location: UInt64

  /// Tells that a key is an index, not a slot.
  private static let isIndex: UInt32 = 1 << 31

  /// - Parameters:
  ///   - start: The token where the value begins, or the mark that it comes later.
  ///   - parent: The container of the value; negative at the top.
  ///   - key: The slot or the index of the value in its parent.
  @inline(__always)
  init(recorder: Recorder, start: Int, parent: Int, key: TokenKey) {
    let parent = UInt32(truncatingIfNeeded: max(parent, -1))
    let key = key.index == 0 ? UInt32(truncatingIfNeeded: key.bits) : key.index | Self.isIndex
    position = TapePosition(recorder, token: start)
    location = UInt64(parent) | UInt64(key) << 32
  }

  /// The encoder of a value that is discarded.
  init() {
    position = TapePosition()
    location = 0
  }

  @inline(__always)
  var start: Int { position.token }
  @inline(__always)
  var parent: Int { Int(Int32(truncatingIfNeeded: location)) }

  /// The slot or the index of the value in its parent.
  @inline(__always)
  var key: TokenKey {
    let key = UInt32(truncatingIfNeeded: location >> 32)
    return key & Self.isIndex == 0
      ? TokenKey(slotBits: UInt64(key), index: 0) : TokenKey(slotBits: 0, index: key & ~Self.isIndex)
  }

  /// Nil when the message is over.
  @inline(__always)
  var recorder: Unmanaged<Recorder>? { position.recorder }

  var codingPath: [any CodingKey] {
    recorder?._withUnsafeGuaranteedRef { $0.recording.path(parent: parent, key: key, start: start) } ?? []
  }

  var userInfo: [CodingUserInfoKey: Any] {
    recorder.map { $0._withUnsafeGuaranteedRef { $0.userInfo.values } } ?? [:]
  }

  @inline(__always)
  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard let recorder else { return Recorder.discarding(type) }
    return recorder._withUnsafeGuaranteedRef {
      $0.keyedContainer(type, start: start, key: key, parent: parent)
    }
  }

  @inline(__always)
  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    guard let recorder else { return UnkeyedEncoder() }
    return recorder._withUnsafeGuaranteedRef { $0.unkeyedContainer(start: start, key: key, parent: parent) }
  }

  @inline(__always)
  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }
}
