import Testing

@testable import StowRecords

/// The parts of a packed record: what they stand for, and what is none.
struct PackedRecordTests {
  private func window(_ records: String...) -> PackingWindow {
    var window = PackingWindow()
    for record in records { Array(record.utf8).withUnsafeBytes { _ = window.add($0) } }
    return window
  }

  private func unpacked(_ packed: [UInt8], _ window: PackingWindow) -> [UInt8]? {
    packed.withUnsafeBytes { packed in
      window.unpackedSize(of: packed).map { window.withUnpacked(packed, size: $0) { Array($0) } }
    }
  }

  @Test func partsAreBytesAndCopies() {
    let window = window("one two", " three four five")
    #expect(unpacked([2, 1, 2, 3], window) == [1, 2, 3])
    #expect(unpacked([0x80, 1], window) == Array("ne t".utf8))
    #expect(unpacked([0xE0, 0, 0, 33, 0x90, 18], window) == Array("one two th!".utf8) + Array(" five".utf8))
    #expect(unpacked([0xF0, 0, 12], window) == Array("one two three four five".utf8))
  }

  @Test func whatLeavesTheRecordOrTheWindowIsNone() {
    let window = window("one two three four five")
    #expect(window.bytes.count == 23)
    for packed in [
      [], [1, 65], [0x7F], [0x80], [0xF0, 0], [0x80, 20], [0x8F, 0xFF], [0xF0, 0, 13], [0xF0, 23, 0],
      [0, 65, 0x80], [0, 65, 0x80, 20],
    ] as [[UInt8]] {
      #expect(unpacked(packed, window) == nil, "\(packed)")
      #expect(unpacked(packed, PackingWindow()) == nil, "\(packed)")
    }
    #expect(unpacked([0x80, 19], window) == Array("five".utf8))
  }

  @Test func noPackedRecordHasAPrelude() {
    let window = window("\u{1F}abcd")
    #expect(unpacked([1, 0x1F, 0], window) == nil)
    #expect(unpacked([0x80, 0], window) == nil)
    #expect(unpacked([0x80, 1], window) == Array("abcd".utf8))
    #expect(unpacked([0, 65, 0x80, 0], window) == Array("A\u{1F}abc".utf8))
  }

  @Test func theSizeHasALimit() {
    let window = window(String(repeating: "a", count: 300))
    let most = Array(repeating: [0xF0, 0, 255] as [UInt8], count: 246).flatMap { $0 }
    #expect(unpacked(most, window)?.count == 65_436)
    #expect(unpacked(most + [60] + Array(repeating: 65, count: 61), window)?.count == 65_497)
    #expect(unpacked(most + [61] + Array(repeating: 65, count: 62), window) == nil)
    #expect(unpacked(most + [0xF0, 0, 255], window) == nil)
  }

  @Test func theWindowEndsWithTheFirstRecordThatHasNoRoom() {
    var window = PackingWindow()
    #expect(add(4_000, to: &window) && add(96, to: &window))
    #expect(window.bytes.count == 4_096 && !window.isClosed)
    #expect(!add(1, to: &window) && window.isClosed)
    window.removeAll()
    #expect(add(4_000, to: &window) && !add(97, to: &window) && !add(1, to: &window))
    #expect(window.bytes.count == 4_000)
  }

  private func add(_ count: Int, to window: inout PackingWindow) -> Bool {
    [UInt8](repeating: 65, count: count).withUnsafeBytes { window.add($0) }
  }

  /// Records of words and of anything else, of every length around those at which something changes.
  @Test func whatIsPackedIsUnpacked() { for seed in 0..<20 as Range<UInt64> { checkPacking(seed: seed) } }

  private func checkPacking(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let words = (0..<40).map { _ in
      (0..<Int.random(in: 1...14, using: &random)).map { _ in UInt8.random(in: 97...122, using: &random) }
    }
    func record() -> [UInt8] {
      var record: [UInt8] = []
      let size = [3, 7, 8, 9, 60, 127, 128, 129, 130, 700].randomElement(using: &random) ?? 0
      while record.count < size {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: record.append(.random(in: 0...255, using: &random))
        case 1: record += Array(repeating: 97, count: Int.random(in: 1...600, using: &random))
        default: record += (words.randomElement(using: &random) ?? []) + [32]
        }
      }
      return record
    }
    var packer = RecordPacker()
    var window = PackingWindow()
    packer.removeAll()
    var packedCount = 0
    for _ in 0..<400 {
      let record = record()
      guard let packed = record.withUnsafeBytes({ packer.withPacked($0) { Array($0) } }) else {
        record.withUnsafeBytes {
          packer.add($0)
          _ = window.add($0)
        }
        continue
      }
      packedCount += 1
      #expect(packed.count < record.count && unpacked(packed, window) == record, "seed \(seed)")
    }
    #expect(packedCount > 200, "seed \(seed)")
  }
}
