/// Room for the cells of the columns that are being written, column after column.
struct ColumnScratch: ~Copyable {
  private var cells = UnsafeMutableBufferPointer<UInt64>(start: nil, count: 0)
  private var marks = UnsafeMutableBufferPointer<Bool>(start: nil, count: 0)
  private static let retained = 1 << 14

  /// Room for nothing, which takes no memory.
  init() {}

  deinit {
    cells.deallocate()
    marks.deallocate()
  }

  /// Lends room for `count` cells, and for as many marks of those that are integers among floating-point
  /// numbers. A large room is not kept.
  mutating func withRoom<Result>(
    _ count: Int,
    _ body: (UnsafeMutableBufferPointer<UInt64>, UnsafeMutableBufferPointer<Bool>) -> Result
  ) -> Result {
    if cells.count < count {
      cells.deallocate()
      marks.deallocate()
      cells = .allocate(capacity: count)
      marks = .allocate(capacity: count)
    }
    defer {
      if cells.count > Self.retained {
        cells.deallocate()
        marks.deallocate()
        cells = UnsafeMutableBufferPointer(start: nil, count: 0)
        marks = UnsafeMutableBufferPointer(start: nil, count: 0)
      }
    }
    return body(cells, marks)
  }
}
