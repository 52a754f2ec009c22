/// An array on the tape whose elements are rows: objects of one shape, or arrays of one length, of scalars
/// that all have a fixed width.
struct RowLayout {
  /// The shape of the rows; nil if they are arrays.
  let shape: Int?
  let count: Int
  let columnCount: Int
  /// What a row takes at least besides its cells, if it is written by itself.
  let headerSize: Int
  private let first: Int
  private let tokensPerRow: Int
  /// From the beginning of a row to its first cell, and from cell to cell.
  private let firstCell: Int
  private let cellStep: Int
  /// The slots of the cells of an object.
  private let slots: [Int]

  /// Rows of arrays have at most this many columns; longer ones do as well by themselves.
  static let widestMatrix = 16

  /// One column: how its cells are laid out, and what they would take with their tags.
  struct Column {
    var type: UInt8 = 0
    var width = 0
    var taggedSize = 0
  }

  /// The rows in `range` of `tokens`; nil if the elements are not alike, by the look of the first.
  init?(
    _ tokens: UnsafeMutableBufferPointer<Token>, _ range: Range<Int>, _ session: EncodingSession,
    _ planner: borrowing Planner
  ) {
    let head = tokens[range.lowerBound]
    first = range.lowerBound
    switch head.kind {
    case .object:
      let schema = session.schemas[head.index]
      guard schema.shape >= 0 else { return nil }
      shape = schema.shape
      slots = schema.presentSlots
      columnCount = slots.count
      (firstCell, cellStep) = (1, 1)
    case .map:
      guard planner.hasLists, head.index != KeyLists.none else { return nil }
      let list = planner.lists[head.index]
      guard list.shape >= 0 else { return nil }
      shape = list.shape
      columnCount = list.count
      slots = []
      (firstCell, cellStep) = (2, 2)
    default:
      var end = range.lowerBound + 1
      while end < range.upperBound, end - range.lowerBound <= Self.widestMatrix + 1, Self.isCell(tokens[end]) {
        end += 1
      }
      shape = nil
      columnCount = end - range.lowerBound - 1
      slots = []
      (firstCell, cellStep) = (1, 1)
      guard columnCount > 0, columnCount <= Self.widestMatrix else { return nil }
    }
    headerSize = shape == nil ? 1 : 2
    tokensPerRow = columnCount * cellStep + 2
    guard range.count % tokensPerRow == 0, range.count > tokensPerRow else { return nil }
    count = range.count / tokensPerRow
    for column in 0..<columnCount where !Self.isCell(tokens[first + firstCell + column * cellStep]) { return nil }
  }

  private static func isCell(_ token: Token) -> Bool {
    switch token.kind {
    case .integer, .double, .true, .false, .date: true
    default: false
    }
  }

  /// Fills `cells` column by column and decides their types; nil if the elements are not alike after all.
  func gather(
    _ tokens: UnsafeMutableBufferPointer<Token>, _ cells: UnsafeMutableBufferPointer<UInt64>,
    _ marks: UnsafeMutableBufferPointer<Bool>
  ) -> [Column]? {
    let head = tokens[first]
    var base = first
    for _ in 0..<count {
      let token = tokens[base]
      let end = tokens[base + tokensPerRow - 1]
      guard token.kind == head.kind, token.index == head.index || shape == nil, end.kind == .end, end.target == base
      else { return nil }
      base += tokensPerRow
    }
    var columns: [Column] = []
    columns.reserveCapacity(columnCount)
    for column in 0..<columnCount {
      let part = UnsafeMutableBufferPointer(rebasing: cells[column * count..<(column + 1) * count])
      guard let column = gather(column, tokens, part, marks) else { return nil }
      columns.append(column)
    }
    return columns
  }

  private func gather(
    _ column: Int, _ tokens: UnsafeMutableBufferPointer<Token>, _ cells: UnsafeMutableBufferPointer<UInt64>,
    _ marks: UnsafeMutableBufferPointer<Bool>
  ) -> Column? {
    var kinds: UInt32 = 0
    var position = first + firstCell + column * cellStep
    let slot = slots.isEmpty ? nil : slots[column]
    for row in 0..<count {
      let token = tokens[position]
      if let slot, token.slot != slot { return nil }
      kinds |= 1 << UInt32(token.kind.rawValue)
      cells[row] = token.payload
      marks[row] = token.kind == .integer || token.kind == .true
      position &+= tokensPerRow
    }
    let readOnly = UnsafeBufferPointer(cells)
    switch kinds {
    case Self.bit(.integer): return integers(readOnly)
    case Self.bit(.double): return doubles(cells, integers: nil)
    case Self.bit(.double) | Self.bit(.integer):
      return doubles(cells, integers: UnsafeBufferPointer(rebasing: marks[..<count]))
    case Self.bit(.true), Self.bit(.false), Self.bit(.true) | Self.bit(.false):
      for row in 0..<count { cells[row] = marks[row] ? 1 : 0 }
      return Column(type: ElementType.bool, width: 1, taggedSize: count)
    case Self.bit(.date): return Column(type: ElementType.date, width: 8, taggedSize: count * 8)
    default: return nil
    }
  }

  private static func bit(_ kind: Token.Kind) -> UInt32 { 1 << UInt32(kind.rawValue) }

  private func integers(_ cells: UnsafeBufferPointer<UInt64>) -> Column {
    cells.withMemoryRebound(to: Int64.self) { values in
      let fixed = IntegerRange(values).fixedType
      let tagged = values.reduce(0) { $0 &+ BackwardWriter.size(ofInteger: $1) }
      return Column(type: fixed.type, width: fixed.width, taggedSize: tagged)
    }
  }

  private func doubles(
    _ cells: UnsafeMutableBufferPointer<UInt64>, integers: UnsafeBufferPointer<Bool>?
  ) -> Column? {
    guard let best = PackedDoubles.best(for: UnsafeBufferPointer(cells), integers: integers) else { return nil }
    let tagged = Emitter.taggedSize(ofDoubles: UnsafeBufferPointer(cells), integers: integers)
    if best.type != ElementType.double {
      for row in 0..<count { cells[row] = best.element(cells[row], isInteger: integers?[row] ?? false) }
    }
    return Column(type: best.type, width: best.stride, taggedSize: tagged)
  }
}
