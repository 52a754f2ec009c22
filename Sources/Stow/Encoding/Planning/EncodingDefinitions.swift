import Synchronization

/// The symbols and shapes that the reader of a message has before it begins to read, as an encoder looks them up
/// (FORMAT.md, "Contexts").
///
/// Those of a context never change, and are shared by threads. Those of a log or a stream grow from record to record,
/// and belong to whoever writes it.
package final class EncodingDefinitions: @unchecked Sendable {
  // Used for every string, whose access calls nothing of the user's.
  @exclusivity(unchecked) private var table: DefinitionTable
  /// What tells these definitions from all others, and from what they were before they grew.
  private(set) var version = EncodingDefinitions.newVersion()
  /// Whether every message adds what it defines.
  let grows: Bool
  /// How many bytes the preludes of messages may still have, which is no more than the limit leaves.
  private(set) var room: Int
  private let limit: Int

  private static let versions = Atomic<UInt64>(0)
  private static func newVersion() -> UInt64 { versions.add(1, ordering: .relaxed).newValue }

  init(_ content: ContextMessage) {
    table = DefinitionTable(content)
    grows = false
    (limit, room) = (.max, .max)
  }

  /// No definitions yet, to which every message adds its own.
  ///
  /// - Parameter limit: The most bytes of preludes that there may be. A message that would need more defines nothing.
  package init(limit: Int = .max) {
    table = DefinitionTable()
    grows = true
    (self.limit, room) = (limit, limit)
  }

  // MARK: growing

  /// Whether messages add nothing more, because too much was added before.
  package var isFull: Bool { table.isFull }

  /// Forgets all of them, where the reader does too.
  package func removeAll() {
    version = Self.newVersion()
    table.removeAll()
    room = limit
  }

  /// Adds what a message defines, and remembers its other strings.
  func add(_ recording: borrowing Recording, _ plan: borrowing MessagePlan) {
    table.add(recording, plan)
    if limit < .max { room -= plan.preludeBound(recording) }
    if !plan.shapes.isEmpty { version = Self.newVersion() }
  }

  // MARK: looking up

  /// How many there are.
  var counts: (symbols: Int, shapes: Int) { (table.symbolCount, table.shapeCount) }

  /// What is known of a string of `pool`.
  @inline(__always)
  func find(_ entry: StringEntry, in pool: borrowing StringPool) -> DefinitionTable.Known {
    table.find(entry, in: pool)
  }

  /// Whether a string is a key of a shape.
  func hasShape(withKey name: UnsafeRawBufferPointer) -> Bool { table.hasShape(withKey: name) }

  /// The UTF-8 of a key of a shape, until a string is added.
  func key(_ place: Int, ofShape shape: Int) -> UnsafeRawBufferPointer { table.key(place, ofShape: shape) }

  /// The shape with the fewest keys that has all of `names`, in that order; of several the first.
  ///
  /// - Parameters:
  ///   - names: The UTF-8 of the keys, of which there is at least one.
  ///   - isExact: Whether the shape must have no other keys.
  func match(_ names: [UnsafeRawBufferPointer], isExact: Bool) -> DefinitionTable.Match? {
    table.match(names, isExact: isExact)
  }
}
