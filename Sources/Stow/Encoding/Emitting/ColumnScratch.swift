/// Room for the cells of the columns that are being written, column after column.
struct ColumnScratch: ~Copyable {
  /// What is lent: three buffers in one piece of memory.
  struct Room {
    let cells: UnsafeMutableBufferPointer<UInt64>
    /// What the floating-point numbers of a column are as decimal fractions.
    let decimals: UnsafeMutableBufferPointer<DecimalCell>
    /// Which cells of a column are integers among floating-point numbers.
    let marks: UnsafeMutableBufferPointer<Bool>

    private let memory: UnsafeMutableRawPointer
    fileprivate static let bytesPerCell =
      MemoryLayout<UInt64>.stride + MemoryLayout<DecimalCell>.stride + MemoryLayout<Bool>.stride

    fileprivate init(_ count: Int) {
      memory = PageMemory.allocate(count * Self.bytesPerCell)
      let behindCells = memory + count * MemoryLayout<UInt64>.stride
      let behindDecimals = behindCells + count * MemoryLayout<DecimalCell>.stride
      cells = .init(start: memory.bindMemory(to: UInt64.self, capacity: count), count: count)
      decimals = .init(start: behindCells.bindMemory(to: DecimalCell.self, capacity: count), count: count)
      marks = .init(start: behindDecimals.bindMemory(to: Bool.self, capacity: count), count: count)
    }

    fileprivate func deallocate() {
      PageMemory.deallocate(memory, byteCount: cells.count * Self.bytesPerCell)
    }
  }

  private var room: Room?
  private var retention = Retention()

  /// A room of so many cells is always kept for the next columns.
  private static let small = 1 << 14
  /// One in which more was used, 4 MiB, is never kept.
  private static let mostRetained = (1 << 22) / Room.bytesPerCell

  /// Room for nothing, which takes no memory.
  init() {}

  deinit { room?.deallocate() }

  /// Lends room for `count` cells, at least one. It is kept if it is not large, or is likely to be needed again.
  mutating func withRoom<Result>(_ count: Int, _ body: (Room) -> Result) -> Result {
    let room = grow(to: count)
    defer {
      if room.cells.count > Self.small, !retention.keepsMemory(used: count, limit: Self.mostRetained) {
        self = ColumnScratch()
      }
    }
    return body(room)
  }

  private mutating func grow(to count: Int) -> Room {
    if let room, room.cells.count >= count { return room }
    room?.deallocate()
    let larger = Room(count)
    room = larger
    return larger
  }
}
