/// A step of a path: a few words, which become a `CodingKey` only when a path is asked for.
struct PathStep {
  enum Kind: UInt8 {
    case top
    /// A key of a trivial type: its byte, of `keyTable`.
    case byte
    /// Another key that was asked for: its place among those kept.
    case key
    /// The key of a dictionary: where it stands in the message.
    case name
    case index
    case `super`
  }

  let kind: Kind
  let parent: UInt32
  var serial: UInt32 = 0
  var value: Int
  let keyTable: Unmanaged<DecodingKeyTable>?

  @inline(__always)
  init(_ kind: Kind, parent: PathNode, value: Int = 0, keyTable: Unmanaged<DecodingKeyTable>? = nil) {
    self.kind = kind
    self.parent = parent.index
    self.value = value
    self.keyTable = keyTable
  }
}

/// A place in the stack. The serial number tells whether the step there is still the same.
///
/// One word: two that are stored one by one and read at once have to wait for each other.
struct PathNode {
  private let bits: UInt64

  @inline(__always)
  init(index: UInt32, serial: UInt32) { bits = UInt64(index) | UInt64(serial) << 32 }

  @inline(__always)
  var index: UInt32 { UInt32(truncatingIfNeeded: bits) }
  @inline(__always)
  var serial: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  static let top = PathNode(index: 0, serial: 0)
}
