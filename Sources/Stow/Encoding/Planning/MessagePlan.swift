/// What stands in the prelude of a message, as the planner decided. The symbols of strings are noted in the string pool,
/// the shapes of objects in their key tables.
struct MessagePlan: ~Copyable {
  /// The shapes of the message, in the order of their numbers.
  var shapes: [Shape] = []
  /// The strings that are symbols, in the order of their numbers.
  var symbols: [Int] = []
  var lists = KeyLists()
  /// Whether maps on the tape name their list.
  var hasLists = false
  /// The number of the first shape and the first symbol of the message: those before are of its definitions.
  var firstShape = 0
  var firstSymbol = 0
  /// The id of the context that the message names.
  var context: UInt32?
  /// Whether the message is one object of scalars, of which nothing is shared.
  var isFlatObject = false

  struct Shape {
    enum Source {
      case keyTable(Int)
      case list(Int)
    }

    let source: Source
    let uses: Int
    let firstUse: Int
    /// How many bytes it saves.
    let gain: Int64
  }

  /// Whether the message has a prelude.
  var hasPrelude: Bool { !symbols.isEmpty || !shapes.isEmpty }

  /// Whether nothing is shared, and no context named.
  @inline(__always)
  var isEmpty: Bool { !hasPrelude && !hasLists && context == nil }

  /// No less than the bytes of the prelude.
  func preludeBound(_ recording: borrowing Recording) -> Int {
    guard hasPrelude else { return 0 }
    // The tag and two counts; the text of each symbol; of each shape the count, and of each key the text or a reference.
    let longestUint = 9
    func bound(_ text: UnsafeRawBufferPointer) -> Int { KeyText.measure(text).size }
    var size = 1 + 2 * longestUint
    for symbol in symbols { size += bound(recording.strings.utf8(symbol)) }
    for shape in shapes {
      size += longestUint
      switch shape.source {
      case .keyTable(let index):
        for name in recording.keyTables[index].pointee.presentNames {
          size += max(bound(name), 1 + longestUint)
        }
      case .list(let index):
        for key in lists.keys(of: index) {
          size += max(bound(recording.strings.utf8(Int(key))), 1 + longestUint)
        }
      }
    }
    return size
  }

  mutating func removeAll() {
    if !shapes.isEmpty { shapes.removeAll(keepingCapacity: true) }
    if !symbols.isEmpty { symbols.removeAll(keepingCapacity: true) }
    lists.removeAll()
    hasLists = false
  }
}
