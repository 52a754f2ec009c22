import Stow
import Testing

@testable import StowRecords

/// What the frames of a block say: its records, and which of them share their definitions.
struct BlockTests {
  private func bytes(_ frames: [MadeUpFile.Content]) -> [UInt8] { MadeUpFile((10, frames)).bytes }

  private func block(_ bytes: [UInt8]) throws -> Block { try #require(Block(0, bytes, identity: MadeUpFile.identity)) }

  /// The runs of records of a block: the number of the first, and how many they are.
  private func runs(_ block: Block) -> [[Int]] {
    block.pieces.compactMap { if case .records(let run) = $0 { [run.numbers.first, run.records.count] } else { nil } }
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

  @Test func aFrameOfANewScopeBeginsOne() throws {
    let two: [UInt8] = [1, 0x91, 1, 0x92]
    let block = try block(
      bytes([(.records, 10, two), (.freshRecords, 12, two), (.records, 14, two), (.freshRecords, 16, two)]))
    #expect(block.nextRecord == 18 && block.damage.isEmpty && runs(block) == [[10, 8]])
    guard case .records(let run) = block.pieces.first else { return }
    #expect(run.scopes == [0, 2, 6])
    #expect((0..<8).map { run.scope(of: $0) } == [0, 0, 1, 1, 1, 1, 2, 2])
  }

  @Test func afterADamagedFrameReadingGoesOnWithTheNextScope() throws {
    let frames: [MadeUpFile.Content] = [
      (.records, 10, [1, 0x91]), (.records, 11, [1, 0x92]), (.records, 12, [1, 0x93]),
      (.freshRecords, 13, [1, 0x94]), (.records, 14, [1, 0x95]),
    ]
    let whole = bytes(frames)
    let size = Frame.headSize + 3
    for place in 0..<size {
      var changed = whole
      changed[BlockHead.size + size + place] ^= 1
      let block = try block(changed)
      #expect(block.nextRecord == 15 && block.end == whole.count)
      #expect(runs(block) == [[10, 1], [13, 2]], "byte \(place)")
      #expect(block.damage == [(BlockHead.size + size)..<(BlockHead.size + 3 * size)])
    }
  }

  @Test func aBlockWithoutAHeadHasTheRecordsOfItsFrames() throws {
    var changed = bytes([(.records, 10, [1, 0x91]), (.records, 11, [1, 0x92])])
    changed[5] ^= 1
    let block = try block(changed)
    #expect(block.head == nil && runs(block) == [[10, 2]] && block.nextRecord == 12)
    #expect(Block(0, Array(changed.prefix(BlockHead.size + 4)), identity: MadeUpFile.identity) == nil)
  }

  @Test func zerosAfterTheFramesAreNoDamage() throws {
    let whole = bytes([(.records, 10, [1, 0x91])])
    for count in [0, 1, 6, 7, 8, 100] {
      let bytes = whole + [UInt8](repeating: 0, count: count)
      #expect(try block(bytes).damage.isEmpty)
      if count > 0 { #expect(try !block(bytes.dropLast() + [1]).damage.isEmpty) }
    }
  }

  /// Every offset of these bytes is the beginning of a frame that claims to reach far: each checksum by itself would
  /// take time with the square of their number.
  @Test func aFrameIsFoundBehindClaimsOfManyOthers() {
    let blockStart = 3 * BlockHead.blockSize
    var block = [UInt8](repeating: 1, count: 40_000)
    let offset = block.count
    block += [UInt8](repeating: 0, count: Frame.headSize) + [10, 1, 0x91]
    Frame.seal(&block, from: offset, .records, at: blockStart + offset, identity: 9)
    block += [UInt8](repeating: 1, count: 10_000)
    let search = FrameSearch(block, blockStart: blockStart, identity: 9)
    #expect(search.firstFrame(from: 0) == offset)
    #expect(search.firstFrame(from: offset) == offset)
    #expect(search.firstFrame(from: offset + 1) == nil)
    #expect(FrameSearch(block, blockStart: 0, identity: 9).firstFrame(from: 0) == nil)
  }
}
