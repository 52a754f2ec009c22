/// The containers and places that stand open while a value records itself, outermost first.
struct OpenStack: ~Copyable {
  private var entries = GrowableBuffer<Int>(capacity: 64)

  init(bottom: Int) { push(bottom) }

  @inline(__always)
  var count: Int { entries.count }

  /// How many of the entries are containers.
  var containerCount: Int {
    var containers = 0
    for index in 0..<count where entries[index] >= 0 { containers += 1 }
    return containers
  }

  /// Marks an entry as a container that was left and is continued.
  private static let continued = 1 << 62

  /// The innermost entry.
  @inline(__always)
  var last: Int { Self.identity(entries[count &- 1]) }

  @inline(__always)
  private static func identity(_ entry: Int) -> Int { entry >= 0 ? entry & ~continued : entry }

  mutating func pushContinued(_ entry: Int) { push(entry | Self.continued) }

  @inline(__always)
  mutating func push(_ entry: Int) { entries.append(entry) }

  /// Takes the last entry, of which there is at least one above the bottom.
  @inline(__always)
  mutating func pop() -> Int {
    precondition(count > 1)
    let last = self.last
    entries.truncate(to: count &- 1)
    return last
  }

  @inline(__always)
  mutating func replaceLast(_ entry: Int) { entries[count &- 1] = entry }

  /// The index of the last `entry` from `frame` on.
  func lastIndex(of entry: Int, from frame: Int) -> Int? {
    var index = count - 1
    while index >= frame {
      if Self.identity(entries[index]) == entry { return index }
      index -= 1
    }
    return nil
  }

  /// The index of the container from `frame` on that is continued, of which there is one at most.
  func continuedIndex(from frame: Int) -> Int? {
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
  }
}
