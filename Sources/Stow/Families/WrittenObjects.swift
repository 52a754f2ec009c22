/// The objects of a graph that is being encoded.
///
/// References only number objects, and the graph writes them afterwards: so an object is in the message whatever becomes
/// of the values that refer to it, and writing takes no room on the stack for objects that lead to others.
///
/// Used by one thread, as the encoder is.
final class WrittenObjects: @unchecked Sendable {
  /// The graph that is being encoded, also for tasks that are started meanwhile.
  @TaskLocal static var inherited: WrittenObjects?

  private let thread = ThreadMark()

  /// The graph that this thread is encoding.
  static var current: WrittenObjects? { inherited.flatMap { $0.thread.isCurrent ? $0 : nil } }

  private struct Entry {
    /// Kept, so that no other object gets its identity meanwhile.
    let object: any Encodable & AnyObject
    var isWritten = false
    /// The numbers of the objects that it refers to.
    var references: [Int] = []
  }

  private var entries: [Entry] = []
  private var numbers: [ObjectIdentifier: Int] = [:]
  /// Those that have to be written, in order, and how many have been.
  private var queue: [Int] = []
  private var writtenCount = 0

  /// Returns the number of an object, to which the object refers that is being written.
  func number(of object: any Encodable & AnyObject, isConditional: Bool) -> Int {
    let number = numbers[ObjectIdentifier(object)] ?? entries.count
    if number == entries.count {
      numbers[ObjectIdentifier(object)] = number
      entries.append(Entry(object: object))
    }
    if !isConditional, !entries[number].isWritten {
      entries[number].isWritten = true
      queue.append(number)
    }
    if writtenCount > 0 { entries[queue[writtenCount - 1]].references.append(number) }
    return number
  }

  /// Writes all objects that references want.
  func write(to graph: inout KeyedEncodingContainer<SharedGraphKey>, _ registry: TypeRegistry) throws {
    var tables: [SharedGraphKey: KeyedEncodingContainer<PathKey>] = [:]
    func table(of object: AnyObject) -> SharedGraphKey {
      registry.name(of: type(of: object)) == nil ? .objects : .named
    }
    while let (number, object) = next() {
      let table = table(of: object)
      let key = PathKey(intValue: number)
      if tables[table] == nil { tables[table] = graph.nestedContainer(keyedBy: PathKey.self, forKey: table) }
      if table == .named {
        try tables[table]?.encode(Elementwise<Any, NamedCoding>(object), forKey: key)
      } else {
        try tables[table]?.encode(object, forKey: key)
      }
    }
    if let (fault, object) = firstFault() {
      let path: [any CodingKey] = [table(of: object), PathKey(intValue: fault.number)]
      throw EncodingError.invalidValue(
        object, EncodingError.Context(codingPath: graph.codingPath + path, debugDescription: fault.reason))
    }
  }

  /// Takes the next object that has to be written.
  private func next() -> (Int, any Encodable & AnyObject)? {
    guard writtenCount < queue.count else { return nil }
    writtenCount += 1
    let number = queue[writtenCount - 1]
    return (number, entries[number].object)
  }

  private func firstFault() -> (ReferenceCheck.Fault, any Encodable & AnyObject)? {
    // References to what is not written lead nowhere.
    let references = entries.map { $0.references.filter { entries[$0].isWritten } }
    return ReferenceCheck(references).firstFault().map { ($0, entries[$0.number].object) }
  }
}
