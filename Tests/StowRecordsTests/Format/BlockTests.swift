import Testing

@testable import StowRecords

/// What the frames of a block say: its records, and which of them share their definitions.
struct BlockTests {
  private func block(_ frames: [(Frame.Kind, [UInt8])]) -> Block {
    let head = BlockHead(identity: 5, firstRecord: 10, index: 0)
    var bytes = head.bytes
    for (kind, payload) in frames {
      let start = bytes.count
      bytes += [UInt8](repeating: 0, count: Frame.headSize) + payload
      Frame.seal(&bytes, from: start, kind, at: start, identity: 5)
    }
    return Block(head, bytes)
  }

  @Test func aHeadIsWhatWasWritten() {
    let head = BlockHead(identity: .max - 5, firstRecord: 123_456_789_012, index: 70_000)
    #expect(head.bytes.count == BlockHead.size)
    #expect(BlockHead(head.bytes) == head)
    for place in 0..<BlockHead.size {
      var bytes = head.bytes
      bytes[place] ^= 1
      #expect(BlockHead(bytes) == nil)
    }
    #expect(BlockHead(Array(head.bytes.dropLast())) == nil)
  }

  @Test func aFrameOfANewScopeBeginsOne() {
    let two: [UInt8] = [1, 0x91, 1, 0x92]
    let block = block([(.records, two), (.freshRecords, two), (.records, two), (.freshRecords, two)])
    #expect(block.records.count == 8 && block.nextRecord == 18 && !block.isDamaged)
    #expect(block.scopes == [0, 2, 6])
    let store = RecordStore(block)
    #expect((0..<8).map { store.scope(of: $0) } == [0, 0, 1, 1, 1, 1, 2, 2])
    #expect((0..<3).map { store.firstIndex(ofScope: $0) } == [0, 2, 6])
    #expect(self.block([(.freshRecords, two)]).scopes == [0])
  }

  @Test func theRestBehindADamagedFrameIsNotRead() {
    var bytes = block([(.records, [1, 0x91]), (.records, [1, 0x92]), (.records, [1, 0x93])]).bytes
    bytes[BlockHead.size + 9 + 8] ^= 1
    let damaged = Block(BlockHead(identity: 5, firstRecord: 10, index: 0), bytes)
    #expect(damaged.isDamaged && damaged.records.count == 1)
    #expect(damaged.end == BlockHead.size + 9)
  }

  @Test func zerosBehindTheFramesAreNoDamage() {
    let head = BlockHead(identity: 5, firstRecord: 10, index: 0)
    for count in [0, 1, 6, 7, 8, 100] {
      let bytes = block([(.records, [1, 0x91])]).bytes + [UInt8](repeating: 0, count: count)
      #expect(!Block(head, bytes).isDamaged)
      if count > 0 { #expect(Block(head, bytes.dropLast() + [1]).isDamaged) }
    }
  }
}
