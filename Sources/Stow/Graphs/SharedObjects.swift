/// What both sides of a graph have.
///
/// Used by one thread, as the coder is. Tasks started meanwhile inherit it.
class SharedObjects: @unchecked Sendable {
  /// The stack of the thread; nil if the system does not tell.
  private let stack = StackBounds.current
  fileprivate(set) var isOver = false

  /// Whether this thread is coding the graph.
  var isCurrent: Bool { (stack.map { $0.remaining(at: StackBounds.address) != nil } ?? true) && !isOver }
}

/// The objects of a graph that is being encoded.
///
/// References only number objects; the graph writes them afterwards. So an object is in the message whatever happens to
/// the values that refer to it, and chains of objects take no room on the stack while they are written.
final class WrittenObjects: SharedObjects, @unchecked Sendable {
  @TaskLocal private static var inherited: WrittenObjects?

  /// The graph that this thread is encoding.
  static var current: WrittenObjects? { inherited.flatMap { $0.isCurrent ? $0 : nil } }

  func run(_ body: () throws -> Void) rethrows {
    defer { isOver = true }
    try Self.$inherited.withValue(self, operation: body)
  }

  private struct Entry {
    /// Kept alive, so that no other object gets its identity meanwhile.
    let object: any Encodable & AnyObject
    var isWritten = false
    var references: [Int] = []
    /// The length of the chain of objects that begins with it, if that is known; 0 while it is being found out.
    var chain: Int?
  }

  private var entries: [Entry] = []
  private var numbers = [ObjectIdentifier: Int]()
  /// The objects to write, in order, and how many of them are written.
  private var queue: [Int] = []
  private var writtenCount = 0

  /// Whether nothing refers to an object.
  var isEmpty: Bool { entries.isEmpty }

  /// Returns the number of an object that the object being written refers to.
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

  func write(to graph: inout KeyedEncodingContainer<SharedGraphKey>, _ registry: TypeRegistry) throws {
    var (objects, named): (KeyedEncodingContainer<PathKey>?, KeyedEncodingContainer<PathKey>?)
    func table(of object: AnyObject) -> SharedGraphKey {
      registry.name(of: type(of: object)) == nil ? .objects : .named
    }
    while writtenCount < queue.count {
      let number = queue[writtenCount]
      let object = entries[number].object
      writtenCount += 1
      let key = PathKey(intValue: number)
      if table(of: object) == .named {
        named = named ?? graph.nestedContainer(keyedBy: PathKey.self, forKey: .named)
        try named?.encode(Elementwise<Any, NamedCoding>(object), forKey: key)
      } else {
        objects = objects ?? graph.nestedContainer(keyedBy: PathKey.self, forKey: .objects)
        try objects?.encode(object, forKey: key)
      }
    }
    // An object can be decoded only when all that it refers to are.
    for number in entries.indices {
      try checkChain(from: number) { number, reason in
        let object = entries[number].object
        return .invalid(object, path: graph.codingPath + [table(of: object), PathKey(intValue: number)], reason)
      }
    }
  }

  /// The longest chain of objects that lead to each other: decoding one calls decoding the next, and each
  /// takes some of the calls that `maximumDepth` allows, and room on the stack.
  static let longestChain = 128

  /// Checks that the chain of objects from one on ends, and is not too long. Objects that are not written do not count.
  ///
  /// All together take time in proportion to the references. Uses no stack, because encoding a chain needs none.
  ///
  /// - Parameter fault: Makes the error for an object that cannot be decoded, from its number and the reason.
  private func checkChain(from start: Int, _ fault: (Int, String) -> EncodingError) throws {
    /// The objects on the way, each with the number of its references that were followed.
    var way: [(number: Int, followed: Int)] = []
    func enter(_ number: Int) throws {
      if entries[number].chain == 0 { throw fault(number, "The object leads to itself.") }
      if entries[number].chain != nil { return }
      entries[number].chain = 0
      way.append((number, 0))
      try check(way.count, number)
    }
    func check(_ chain: Int, _ number: Int) throws {
      guard chain <= Self.longestChain else {
        throw fault(number, "More than \(Self.longestChain) objects lead to each other in a row.")
      }
    }
    try enter(start)
    while let (number, followed) = way.last {
      let references = entries[number].references
      if followed < references.count {
        way[way.count - 1].followed += 1
        if entries[references[followed]].isWritten { try enter(references[followed]) }
      } else {
        let chain = 1 + (references.map { entries[$0].isWritten ? entries[$0].chain ?? 0 : 0 }.max() ?? 0)
        try check(chain, number)
        entries[number].chain = chain
        way.removeLast()
      }
    }
  }
}

/// The objects of a graph being decoded. Each is made at the first reference to it.
final class ReadObjects: SharedObjects, @unchecked Sendable {
  @TaskLocal static var inherited: ReadObjects?

  /// The graph that this thread is decoding.
  static var current: ReadObjects? { inherited.flatMap { $0.isCurrent ? $0 : nil } }

  private typealias Table = KeyedDecodingContainer<PathKey>

  private final class Entry {
    var object: AnyObject?
    /// Whether it is being made.
    var isOpen = false
    /// The errors of earlier attempts to make it: further references get them again, and do not read all of
    /// it again. If fewer objects lead to it, another attempt may succeed.
    var failures: [(type: Any.Type, error: any Error, leadingObjects: Int)] = []
  }

  private var objects: Table?
  private var named: Table?
  /// The objects that were referred to, by their numbers.
  private var entries = [Int: Entry]()
  /// How many objects are being made.
  private var openCount = 0
  private var stack = StackGuard()

  init(_ graph: KeyedDecodingContainer<SharedGraphKey>) throws {
    func table(_ key: SharedGraphKey) throws -> Table? {
      try graph.contains(key) ? graph.nestedContainer(keyedBy: PathKey.self, forKey: key) : nil
    }
    objects = try table(.objects)
    named = try table(.named)
  }

  /// Forgets the graph: a decoder that is kept longer finds no objects.
  func end() {
    isOver = true
    (objects, named) = (nil, nil)
    entries = .init()
  }

  /// Returns the object of a number; nil if the graph has none.
  ///
  /// - Parameter decoder: The decoder of the reference.
  func object<Value>(_ number: Int, _ type: Value.Type, _ decoder: any Decoder) throws -> Value? {
    let entry = entries[number] ?? Entry()
    entries[number] = entry
    if let object = entry.object {
      guard let value = object as? Value else {
        throw DecodingError.mismatch(
          type, path: decoder.codingPath,
          "Expected an object of type \(type), but found one of type \(Swift.type(of: object)).")
      }
      return value
    }
    for failure in entry.failures where failure.type == type && failure.leadingObjects <= openCount {
      throw failure.error
    }
    do {
      try enter(entry, decoder)
      defer {
        entry.isOpen = false
        openCount -= 1
      }
      guard let value = try make(number, type, decoder) else { return nil }
      entry.object = value as AnyObject
      return value
    } catch {
      entry.failures.append((type, error, openCount))
      throw error
    }
  }

  /// Notes that an object is being made. Throws if that would be too deep.
  private func enter(_ entry: Entry, _ decoder: any Decoder) throws {
    guard openCount < WrittenObjects.longestChain else {
      throw DecodingError.unreadable(
        "More than \(WrittenObjects.longestChain) objects lead to each other in a row.",
        path: decoder.codingPath)
    }
    if stack.isLow(at: StackBounds.address, isElsewhere: false) {
      throw DecodingError.unreadable(
        "\(openCount) objects lead to each other, and no more fit on the stack of this thread.",
        path: decoder.codingPath)
    }
    guard !entry.isOpen else {
      throw DecodingError.corrupted("The object leads to itself.", path: decoder.codingPath)
    }
    entry.isOpen = true
    openCount += 1
  }

  private func make<Value>(_ number: Int, _ type: Value.Type, _ decoder: any Decoder) throws -> Value? {
    let key = PathKey(intValue: number)
    let (isPlain, isNamed) = (objects?.contains(key) == true, named?.contains(key) == true)
    guard !isPlain || !isNamed else {
      throw DecodingError.corrupted("The graph has two objects of this number.", path: decoder.codingPath)
    }
    let value: Value
    if isNamed, let named {
      value = try named.decode(Elementwise<Value, NamedCoding>.self, forKey: key).value
    } else if isPlain, let objects {
      value = try plain(type, objects, key)
    } else {
      return nil
    }
    guard Swift.type(of: value as Any) is AnyObject.Type else {
      throw DecodingError.corrupted(
        "Expected an object of a class, but found a \(Swift.type(of: value as Any)).",
        path: decoder.codingPath)
    }
    return value
  }

  private func plain<Value>(_ type: Value.Type, _ objects: Table, _ key: PathKey) throws -> Value {
    guard let decodable = type as? any Decodable.Type,
      let value = try objects.decode(decodable, forKey: key) as? Value
    else {
      throw DecodingError.mismatch(
        type, path: objects.codingPath + [key], "Expected a \(type), which has no name here.")
    }
    return value
  }
}
