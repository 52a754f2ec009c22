/// What stands open while a value records itself, outermost first: a container is the token that begins it, and a place
/// that awaits its value is the complement of the token that will be there.
struct OpenContainers: ~Copyable {
  private var entries = GrowableBuffer<Int>(capacity: 64)
  /// The innermost entry: what a write must find here to be in line.
  private(set) var current = OpenContainers.top
  /// The first entry that belongs to the running `encode(to:)`; what is below is not its own to close.
  var frame = 0

  private static let top = Int.min

  init() { entries.append(Self.top) }

  /// Whether nothing is open.
  @inline(__always)
  var isAtTop: Bool { current == Self.top }

  @inline(__always)
  var count: Int { entries.count }

  /// How many containers are open in the last one that was continued, which is not in those before it.
  var innermost: (count: Int, continued: Int?) {
    var containers = 0
    for index in (0..<count).reversed() where entries[index] >= 0 {
      if entries[index] >= Self.continued { return (containers, Self.identity(entries[index])) }
      containers += 1
    }
    return (containers, nil)
  }

  /// Marks an entry as a container that was left and is continued, or came late.
  private static let continued = 1 << (Int.bitWidth - 2)
  /// Stands for a container that is not open, around one that is continued.
  private static let padding = ~(1 << (Int.bitWidth - 3))

  @inline(__always)
  private static func identity(_ entry: Int) -> Int { entry >= 0 ? entry & ~continued : entry }

  @inline(__always)
  mutating func push(_ entry: Int) {
    entries.append(entry)
    current = entry
  }

  /// Lets the entries be no fewer than `depth`.
  mutating func pad(to depth: Int) {
    while count < depth { push(Self.padding) }
  }

  /// Opens a container that is not in the one before it: that was left, or comes late.
  mutating func pushContinued(_ entry: Int) {
    entries.append(entry | Self.continued)
    current = entry
  }

  /// Takes the last entry, of which there is at least one above the bottom.
  @inline(__always)
  mutating func pop() -> Int {
    precondition(count > 1)
    let last = Self.identity(entries.takeLast())
    current = Self.identity(entries[count &- 1])
    return last
  }

  @inline(__always)
  mutating func replaceLast(_ entry: Int) {
    entries[count &- 1] = entry
    current = entry
  }

  /// The index of the last `entry` that the running `encode(to:)` opened.
  func lastIndex(of entry: Int) -> Int? {
    var index = count - 1
    while index >= frame {
      if Self.identity(entries[index]) == entry { return index }
      index -= 1
    }
    return nil
  }

  /// The index of the container that the running `encode(to:)` continued, of which there is one at most.
  var continuedIndex: Int? {
    var index = count - 1
    while index >= frame {
      if entries[index] >= Self.continued { return index }
      index -= 1
    }
    return nil
  }

  mutating func truncate(to count: Int) {
    precondition(count > 0)
    entries.truncate(to: count)
    current = Self.identity(entries[count - 1])
  }

  @inline(__always)
  mutating func removeAll() {
    if !isAtTop { truncate(to: 1) }
    frame = 0
  }
}
