/// The bytes of a log as a script says: right checksums around whatever it wants, which no fuzzer would guess.
///
/// A script whose first byte is even is the file itself, after that byte.
struct MadeUpLog {
  private(set) var bytes: [UInt8] = []
  private var script: [UInt8]
  private var next = 1
  /// The number of the next record, if all records so far are whole.
  private var number = 0

  private static let blockSize = 65_536
  private static let identity: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
  private static let longest = 6 * blockSize

  init(script: UnsafeRawBufferPointer) {
    self.script = Array(script)
    guard let first = self.script.first else { return }
    if first % 2 == 0 {
      bytes = Array(self.script[1...])
    } else {
      appendHead(first: 0)
      while next < self.script.count, bytes.count < Self.longest { step() }
    }
  }

  private mutating func byte() -> UInt8 {
    guard next < script.count else { return 0 }
    next += 1
    return script[next - 1]
  }

  /// The next bytes of the script, as many as its next byte says.
  private mutating func part() -> [UInt8] {
    let count = Int(byte())
    let start = min(next, script.count)
    let end = min(script.count, start + count)
    next = end
    return Array(script[start..<end])
  }

  private mutating func step() {
    let operation = byte()
    switch operation % 18 {
    case 0...7: appendFrame(kind: operation % 8 + 1, part())
    case 8: appendFrame(kind: byte() % 12, [UInt8](repeating: byte(), count: Int(byte()) * 257 % 65_490))
    case 9: fillFrame(kind: byte() % 12)
    case 10, 11:
      fillBlock()
      appendHead(first: number)
    case 12:
      fillBlock()
      let first = Int(byte())
      number = first < 128 ? first : Int.max / 2 - first
      appendHead(first: number)
    case 13: bytes += part()
    case 14: appendGroup()
    case 15: appendLeftOut()
    case 16: bytes.removeLast(min(bytes.count, Int(byte())))
    default: changeByte()
    }
  }

  private mutating func changeByte() {
    let place = Int(byte()) << 8 | Int(byte())
    if place < bytes.count { bytes[bytes.count - 1 - place] ^= byte() }
  }

  // MARK: - Blocks and frames

  private mutating func fillBlock() {
    let rest = bytes.count % Self.blockSize
    if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.blockSize - rest) }
  }

  private mutating func appendHead(first: Int) {
    let index = UInt32(bytes.count / Self.blockSize)
    let start: [UInt8] = [0x7F, 2, 1, 0]
    let rest = Self.identity + Self.bytes(of: UInt64(first)) + Self.bytes(of: index) + [0, 0, 0, 0]
    bytes += start + Self.bytes(of: PlainChecksum.of(start + rest)) + rest
  }

  /// A frame with the number that it should have, or in a few cases with the one that the script says.
  private mutating func appendFrame(kind: UInt8, _ content: [UInt8]) {
    let change = content.count % 8 == 7 ? Int(byte()) - 128 : 0
    let isOfEarlierBlock = [3, 4, 10].contains(kind)
    let before = kind == 10 ? Int(content.first ?? 1) : isOfEarlierBlock ? 1 : 0
    let stated = max(0, number - before + change)
    let payload = (kind == 6 ? [] : [0xFD] + Self.bytes(of: UInt64(stated))) + content
    if kind != 6, !isOfEarlierBlock, stated < Int.max / 2 - 65_536 {
      number =
        stated
        + (kind == 2
          ? Int(content.first ?? 1) : [1, 5, 7, 8].contains(kind) ? Self.records(in: content, kind >= 7) : 0)
    }
    let rest = Self.bytes(of: UInt16(truncatingIfNeeded: payload.count)) + [kind] + payload
    let covered = Self.identity + Self.bytes(of: UInt64(bytes.count)) + rest
    bytes += Self.bytes(of: PlainChecksum.of(covered)) + rest
  }

  /// A group of a few records in parts, which may be given up.
  private mutating func appendGroup() {
    let content = part()
    let count = min(0xDF, Self.records(in: content, false))
    let size = max(1, content.count / (2 + Int(byte() % 3)))
    let head = [UInt8(count), 0xFD] + Self.bytes(of: UInt64(content.count))
    appendFrame(kind: 2, head + content.prefix(size))
    var rest = content.dropFirst(size)
    while !rest.isEmpty {
      fillBlock()
      appendHead(first: number)
      if byte() % 8 == 7 { return appendFrame(kind: 10, [UInt8(count)]) }
      let part = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      appendFrame(kind: rest.isEmpty ? 4 : 3, part)
    }
  }

  /// Records after some that were left out.
  private mutating func appendLeftOut() {
    appendFrame(kind: [1, 5, 7, 8][Int(byte() % 4)], [0, byte() % 0xE0] + part())
  }

  /// How many numbers the records have, with those that are left out, if their lengths take a byte each.
  private static func records(in content: [UInt8], _ arePackable: Bool) -> Int {
    var (offset, count) = (0, 0)
    while offset < content.count {
      if content[offset] == 0 {
        count += offset + 1 < content.count ? Int(content[offset + 1]) : 0
        offset += 2
        continue
      }
      offset += 1 + Int(arePackable ? content[offset] >> 1 : content[offset])
      count += 1
    }
    return count
  }

  /// A frame up to the end of the block.
  private mutating func fillFrame(kind: UInt8) {
    let room = Self.blockSize - bytes.count % Self.blockSize - 16
    if room > 0, room < Self.blockSize - 16 { appendFrame(kind: kind, [UInt8](repeating: byte(), count: room)) }
  }

  private static func bytes<Value: FixedWidthInteger>(of value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}

/// CRC-32C, bit by bit, from FORMAT.md alone.
enum PlainChecksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { state, _ in state >> 1 ^ (state & 1 == 0 ? 0 : 0x82F6_3B78) }
  }

  static func of(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
