import Synchronization

/// The symbols and shapes that a reader has before it begins to read a message, as an encoder looks them up
/// (FORMAT.md, "Contexts").
///
/// The definitions of a context never change, and are shared by threads. Those of a log or a stream grow from
/// record to record, and belong to its writer.
package final class EncodingDefinitions: @unchecked Sendable {
  /// A number that identifies these definitions, and changes when they grow.
  private(set) var version = EncodingDefinitions.newVersion()
  /// How many bytes all preludes together may still take.
  private(set) var room: Int
  /// The numbers of symbols and shapes.
  private(set) var counts = (symbols: 0, shapes: 0)
  /// Symbols and keys, each once; in definitions that grow, also other strings that were written. The
  /// `symbol` of an entry is its number, counted from one; 0 if it only was written.
  // Unchecked because it is accessed often, and accesses call nothing that comes back here.
  @exclusivity(unchecked) private var strings = StringPool()
  /// The shapes that have a string as a key, by string, those with the fewest keys first.
  private var shapesByKey: [[Int]] = []
  /// Whether every message adds what it defines.
  let grows: Bool
  /// The most bytes that all preludes together may have. Readers refuse more.
  private let limit: Int
  /// The keys of each shape: strings of the pool.
  private var shapes: [[UInt32]] = []
  private var keyCount = 0
  private var shapesByList = [[UInt32]: Int]()

  private static let versions = Atomic<UInt64>(0)
  private static func newVersion() -> UInt64 { versions.add(1, ordering: .relaxed).newValue }

  /// The most keys of a shape that an object of fixed keys may use.
  private static let mostKeys = 256
  /// The most bytes of strings, and keys of shapes, after which messages add nothing more, whatever room is left.
  private static let most = (bytes: 1 << 16, keys: 1 << 13)

  init(_ content: ContextMessage) {
    grows = false
    limit = .max
    room = .max
    for symbol in content.symbols { noteSymbol(strings.intern(symbol)) }
    // Keys that are symbols are not looked up, because symbols may be long and keys many: they come first in the pool.
    for (shape, numbers) in zip(content.shapes, content.keyNumbers) {
      addShape(zip(shape, numbers).map { UInt32($1 < counts.symbols ? $1 : strings.intern($0)) })
    }
    for key in shapesByKey.indices { sortShapes(ofKey: key) }
  }

  /// Makes empty definitions, to which every message adds its own.
  ///
  /// - Parameter limit: The most bytes of preludes that are allowed. A message that would need more defines
  ///   nothing.
  package init(limit: Int = .max) {
    grows = true
    self.limit = limit
    room = limit
  }

  private func noteSymbol(_ index: Int) {
    let size = counts.symbols < Symbols.shortLimit ? 1 : 1 + Varint.size(counts.symbols)
    counts.symbols += 1
    strings[index].symbol = UInt32(counts.symbols)
    strings[index].mark = size < KeyText.measure(strings.utf8(index)).size ? 1 : 0
  }

  private func addShape(_ indices: [UInt32]) {
    while shapesByKey.count < strings.count { shapesByKey.append([]) }
    shapesByList[indices] = shapes.count
    for key in indices { shapesByKey[Int(key)].append(shapes.count) }
    shapes.append(indices)
    counts.shapes = shapes.count
    keyCount += indices.count
  }

  /// Puts the shapes that have a key in the order in which they are tried.
  private func sortShapes(ofKey key: Int) {
    let numbers = shapesByKey[key]
    let order = sortedIndices(numbers.count) {
      (shapes[numbers[$0]].count, numbers[$0]) < (shapes[numbers[$1]].count, numbers[$1])
    }
    shapesByKey[key] = order.map { numbers[$0] }
  }

  /// Whether messages add nothing more, because too much was added already.
  package var isFull: Bool { strings.byteCount > Self.most.bytes || keyCount > Self.most.keys }

  /// Whether messages add what they define.
  var takesMore: Bool { grows && !isFull }

  /// Forgets all definitions, when the reader does, too.
  package func removeAll() {
    version = Self.newVersion()
    room = limit
    counts = (0, 0)
    strings.removeAll()
    shapes.removeAll(keepingCapacity: true)
    keyCount = 0
    shapesByKey.removeAll(keepingCapacity: true)
    shapesByList.removeAll(keepingCapacity: true)
  }

  /// Adds what a message defines, and remembers its other strings.
  func add(_ message: borrowing RecordedMessage, _ plan: borrowing MessagePlan) {
    for string in plan.symbols { noteSymbol(strings.add(message.strings.utf8(string))) }
    for shape in plan.shapes {
      let indices = plan.keys(of: shape, message).map { UInt32(strings.add(message.strings.utf8($0))) }
      addShape(indices)
      for key in indices { sortShapes(ofKey: Int(key)) }
      version = Self.newVersion()
    }
    for index in 0..<message.strings.count where message.strings[index].symbol == 0 && !isFull {
      _ = strings.add(message.strings.utf8(index))
    }
    if room < .max { room -= plan.preludeBound(message) }
  }

  func key(_ place: Int, ofShape shape: Int) -> UnsafeRawBufferPointer {
    strings.utf8(Int(shapes[shape][place]))
  }

  /// Returns what is known of a string; nil if it is not here.
  @inline(__always)
  func entry(of utf8: UnsafeRawBufferPointer) -> StringEntry? {
    let index = strings.find(utf8)
    return index < 0 ? nil : strings[index]
  }

  /// A shape that has all keys of an object, in order.
  struct Match {
    let number: Int
    /// For each key of the shape, its index among those of the object; −1 if the object has no such key.
    let positions: [Int]
    /// How many bytes an object takes as a record of this shape, besides its length and values.
    var cost: Int {
      let presence = positions.contains(-1) ? Records.presenceSize(positions.count) : 0
      return 1 + (number < Records.shortLimit ? 0 : Varint.size(number)) + presence
    }
  }

  /// Returns the shape with the fewest keys that has all of `names`, in that order; of several the first.
  ///
  /// - Parameters:
  ///   - names: The UTF-8 of the keys; without any, no shape is found.
  ///   - isExact: Whether the shape must have no other keys.
  func match(_ names: [UnsafeRawBufferPointer], isExact: Bool) -> Match? {
    var wanted: [UInt32] = []
    for name in names {
      let index = strings.find(name)
      guard index >= 0, index < shapesByKey.count else { return nil }
      wanted.append(UInt32(index))
    }
    if isExact { return shapesByList[wanted].map { Match(number: $0, positions: Array(wanted.indices)) } }
    // The shortest of the lists of shapes.
    guard let rarest = wanted.min(by: { shapesByKey[Int($0)].count < shapesByKey[Int($1)].count })
    else { return nil }
    for shape in shapesByKey[Int(rarest)] {
      let count = shapes[shape].count
      guard count <= Self.mostKeys else { return nil }
      if count >= wanted.count, let positions = positions(of: wanted, inShape: shape) {
        return Match(number: shape, positions: positions)
      }
    }
    return nil
  }

  /// Returns, for each key of a shape, its index in `wanted`; nil if the shape does not have all of them, in that
  /// order.
  private func positions(of wanted: [UInt32], inShape shape: Int) -> [Int]? {
    var next = 0
    let positions = shapes[shape].map { key in
      guard next < wanted.count, key == wanted[next] else { return -1 }
      next += 1
      return next - 1
    }
    return next == wanted.count ? positions : nil
  }
}

extension KeyTable {
  /// Looks up the keys of the message in definitions, and returns the index of the match.
  ///
  /// Most messages of a program have objects of the same types with the same keys, so that a few matches are enough.
  @inline(never)
  mutating func findMatch(_ definitions: EncodingDefinitions) -> Int {
    collectPresent()
    let found = definitions.match(present.map { utf8(atSlot: $0) }, isExact: false)
    let slots = found.map { shape in
      shape.positions.enumerated().map { place, position in
        if position >= 0 { return present[position] }
        let name = definitions.key(place, ofShape: shape.number)
        return (0..<slotCount).first { utf8(atSlot: $0).elementsEqual(name) } ?? -1
      }
    }
    return add(
      Match(
        version: definitions.version, states: (0..<slotCount).map { state(ofSlot: $0) },
        shape: found?.number ?? -1, cost: found?.cost ?? 0, textSize: textSize), slots: slots ?? [])
  }
}
