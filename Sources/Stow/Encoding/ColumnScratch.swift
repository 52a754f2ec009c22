/// Room for the cells of the columns that are being written, column after column.
struct ColumnScratch: ~Copyable {
  /// What is lent.
  struct Room {
    let cells: UnsafeMutableBufferPointer<UInt64>
    /// Which cells of a column are integers among floating-point numbers.
    let marks: UnsafeMutableBufferPointer<Bool>
    /// What the floating-point numbers of a column are as decimal fractions.
    let decimals: UnsafeMutableBufferPointer<DecimalCell>

    init(_ count: Int) {
      cells = .allocate(capacity: count)
      marks = .allocate(capacity: count)
      decimals = .allocate(capacity: count)
    }

    func deallocate() {
      cells.deallocate()
      marks.deallocate()
      decimals.deallocate()
    }
  }

  private var room: Room?
  private static let retained = 1 << 14

  /// Room for nothing, which takes no memory.
  init() {}

  deinit { room?.deallocate() }

  /// Lends room for `count` cells. A large room is not kept.
  mutating func withRoom<Result>(_ count: Int, _ body: (Room) -> Result) -> Result {
    let room = grow(to: count)
    defer {
      if room.cells.count > Self.retained {
        room.deallocate()
        self.room = nil
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
