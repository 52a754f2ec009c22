/// The keys of one key type, as an encoder meets them.
///
/// A key type that is one trivial byte, as every synthesized `CodingKeys` is, is known by that byte: it
/// indexes a table of slots. The slots of a message are numbered in the order in which its keys are first
/// asked for; what a key is called is remembered from message to message. Other key types have no slots:
/// their keys are strings, written before the values.
final class Schema {
  /// A key as text: what it is called, and its bytes in a map or a shape.
  struct KeyInfo {
    let string: String
    let text: UnsafeRawBufferPointer
    /// The first key that is called the same; usually the key itself.
    let first: UInt8
    let make: any CodingKey
  }

  let index: Int
  /// Whether keys are known by their byte.
  let hasSlots: Bool
  /// By the byte of a key: its slot in this message.
  let table: UnsafeMutablePointer<UInt16>
  private var infos: [KeyInfo?]

  /// The entry of a key that has no slot yet.
  static let unknown = UInt16.max
  /// Marks the slot of a key that has been asked for and never had a value.
  static let absent: UInt16 = 0x8000

  // MARK: in this message

  /// By slot: the byte of the key.
  private(set) var keys: [UInt8] = []
  /// How many objects have these keys.
  var uses = 0
  /// The first of them on the tape.
  var firstUse = 0
  /// By slot: the string of the key in the pool.
  var strings: [Int] = []
  /// The slots that have a value in some object, in order; the keys of the shape.
  private(set) var presentSlots: [Int] = []
  /// The bytes of the keys, and of the longest text among them.
  private(set) var textSize = 0
  /// The number of the shape in the message; −1 if the objects are maps.
  var shape = -1

  let pool = ContainerPool<KeyedCursor>()

  init<Key: CodingKey>(_ keyType: Key.Type, index: Int) {
    self.index = index
    hasSlots = MemoryLayout<Key>.size <= 1 && _isPOD(Key.self)
    let size = hasSlots ? 256 : 1
    table = .allocate(capacity: size)
    table.initialize(repeating: Self.unknown, count: size)
    infos = hasSlots ? Array(repeating: nil, count: 256) : []
  }

  deinit {
    table.deallocate()
    for info in infos { info?.text.deallocate() }
  }

  /// Takes the last slot back.
  func forgetLastSlot() {
    if let byte = keys.popLast() { forget(byte) }
  }

  /// Forgets the message.
  func reset() {
    for byte in keys { forget(byte) }
    keys.removeAll(keepingCapacity: true)
    uses = 0
  }

  private func forget(_ byte: UInt8) {
    table[Int(byte)] = Self.unknown
    guard hasAliases else { return }
    for (other, info) in infos.enumerated() where info?.first == byte { table[other] = Self.unknown }
  }

  private var hasAliases = false

  /// The slot of `key`, which is given one if this message has not asked for it yet.
  func slot<Key: CodingKey>(of key: Key, byte: Int, isPresent: Bool) -> Int {
    if table[byte] == Self.unknown { table[byte] = newSlot(of: key, byte: byte) }
    let slot = Int(table[byte] & ~Self.absent)
    if isPresent {
      table[byte] = UInt16(slot)
      if hasAliases { table[Int(keys[slot])] = UInt16(slot) }
    }
    return slot
  }

  private func newSlot<Key: CodingKey>(of key: Key, byte: Int) -> UInt16 {
    let first = Int(info(of: key, byte: byte).first)
    if first != byte, table[first] != Self.unknown { return table[first] }
    let slot = UInt16(keys.count) | Self.absent
    keys.append(UInt8(first))
    table[first] = slot
    return slot
  }

  private func info<Key: CodingKey>(of key: Key, byte: Int) -> KeyInfo {
    if let info = infos[byte] { return info }
    let string = key.stringValue
    let bytes = KeyText.bytes(of: string)
    let text = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    text.copyBytes(from: bytes)
    let first = infos.firstIndex { $0?.string == string } ?? byte
    if first != byte { hasAliases = true }
    let info = KeyInfo(string: string, text: UnsafeRawBufferPointer(text), first: UInt8(first), make: key)
    infos[byte] = info
    return info
  }

  /// The key at a slot of this message.
  func info(atSlot slot: Int) -> KeyInfo {
    guard let info = infos[Int(keys[slot])] else { preconditionFailure("a slot without a key") }
    return info
  }

  @inline(__always)
  func text(atSlot slot: Int) -> UnsafeRawBufferPointer { info(atSlot: slot).text }

  /// Notes which slots have values, for a message whose recording is complete.
  func collectPresent() {
    presentSlots.removeAll(keepingCapacity: true)
    textSize = 0
    for slot in keys.indices where table[Int(keys[slot])] & Self.absent == 0 {
      presentSlots.append(slot)
      textSize += text(atSlot: slot).count
    }
  }

  /// Marks every slot as never having had a value, before values are counted anew.
  func clearPresent() {
    for slot in keys.indices { table[Int(keys[slot])] |= Self.absent }
  }

  /// Numbers the slots anew: those in `slots` have values and come first.
  func reorder(_ slots: [Int]) {
    let rest = keys.indices.filter { !slots.contains($0) }
    keys = (slots + rest).map { keys[$0] }
    for (slot, byte) in keys.enumerated() {
      table[Int(byte)] = UInt16(slot) | (slot < slots.count ? 0 : Self.absent)
    }
  }

  func markPresent(slot: Int) { table[Int(keys[slot])] &= ~Self.absent }
}
