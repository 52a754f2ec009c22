/// A step of a path: a few words, which become a `CodingKey` only when a path is asked for.
struct PathStep: BitwiseCopyable {
  enum Kind {
    case top
    /// A key of a trivial type: its byte, of `keyTable`.
    case byte
    /// Another key that was requested: its index among those kept.
    case key
    /// The key of a dictionary: where it is in the message, or in the definitions.
    case name, definedName
    case index
    case `super`
    /// A place that had been left, by its offset in the message.
    case found
  }

  let kind: Kind
  let parent: UInt32
  fileprivate(set) var serial: UInt32 = 0
  fileprivate(set) var value: Int
  let keyTable: Unmanaged<DecodingKeyTable>?

  init(_ kind: Kind, parent: PathNode, value: Int = 0, keyTable: Unmanaged<DecodingKeyTable>? = nil) {
    self.kind = kind
    self.parent = parent.index
    self.value = value
    self.keyTable = keyTable
  }
}

/// A place in the stack of steps, in one word. The serial number tells whether the step there is still the same.
struct PathNode {
  private let bits: UInt64

  init(index: UInt32, serial: UInt32) { bits = UInt64(index) | UInt64(serial) << 32 }

  var index: UInt32 { UInt32(truncatingIfNeeded: bits) }
  var serial: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  static let top = PathNode(index: 0, serial: 0)
}

/// The steps from the top of a message to where decoding is, as a stack.
///
/// Steps refer to their parents, so that a container's path stays known while others push steps of their own.
/// Serial numbers recur only after 2³² steps of one message.
struct DecodingPath: ~Copyable {
  private var steps = GrowableBuffer<PathStep>(capacity: 64)
  private var serial: UInt32 = 0
  /// The keys that were asked for, by the places of the steps to their values.
  private var keys: [any CodingKey] = []

  /// The last path that was requested. The paths of errors tend to differ by a key, so it is changed in place.
  private var lastPath: [any CodingKey] = []
  /// The serial numbers of the top and of the place after each of its keys.
  private var lastSerials: [UInt32] = [PathNode.top.serial]

  init() { reset() }

  var count: Int { steps.count }

  mutating func reset() {
    steps.removeAll()
    serial = 0
    if !lastPath.isEmpty { (lastPath, lastSerials) = ([], [PathNode.top.serial]) }
    if !keys.isEmpty { keys.removeAll(keepingCapacity: keys.count < 64) }
    _ = push(PathStep(.top, parent: .top))
  }

  // MARK: steps

  @inline(__always)
  mutating func push(_ step: PathStep) -> PathNode {
    var step = step
    step.serial = serial
    let node = PathNode(index: UInt32(truncatingIfNeeded: count), serial: serial)
    steps.append(step)
    serial &+= 1
    return node
  }

  /// Returns the step to the value for a key that is not a trivial byte, to be pushed next, and stores the key.
  mutating func step(to key: consuming any CodingKey, from parent: PathNode) -> PathStep {
    if keys.count > count { keys[count] = key } else { store(key) }
    return PathStep(.key, parent: parent, value: count)
  }

  @inline(never)
  private mutating func store(_ key: any CodingKey) { while keys.count <= count { keys.append(key) } }

  /// How many steps of containers that were taken from one container may stay in the path.
  static let mostTaken = 1024

  mutating func pop(to count: Int) { steps.truncate(to: min(count, self.count)) }

  /// Returns the node of a place that a container reads at `offset`; that of a new step if somebody kept the container.
  @inline(__always)
  mutating func renew(_ node: PathNode, at offset: Int) -> PathNode {
    holds(node) ? node : push(PathStep(.found, parent: .top, value: offset))
  }

  /// Moves an index step to the next element, which is another place, and leaves all places below.
  @inline(__always)
  mutating func setIndex(_ index: Int, at node: PathNode) -> PathNode {
    guard node.index < count else { return node }
    steps[Int(node.index)].value = index
    steps[Int(node.index)].serial = serial
    steps.truncate(to: Int(node.index) &+ 1)
    serial &+= 1
    return PathNode(index: node.index, serial: serial &- 1)
  }

  /// Pushes the steps of a path without `each`.
  mutating func push(_ path: StowPath) -> PathNode {
    var node = push(PathStep(.top, parent: .top))
    for step in path.steps { node = push(step, from: node) }
    return node
  }

  mutating func push(_ step: StowPath.Step, from node: PathNode) -> PathNode {
    switch step {
    case .key(let key): push(self.step(to: PathKey(name: key), from: node))
    case .index(let index): push(PathStep(.index, parent: node, value: index))
    case .each: preconditionFailure("a step to several places")
    }
  }

  // MARK: coding paths

  /// Returns the coding path of a container or decoder, which reads the value at `offset`.
  mutating func codingPath(to node: PathNode, at offset: Int? = nil, _ message: Message) -> [any CodingKey] {
    if let count = remember(node, message) { return count == lastPath.count ? lastPath : Array(lastPath[..<count]) }
    return offset.map { message.path(to: $0, from: message.body) } ?? []
  }

  /// Makes the last path lead to a place, and returns how many of its keys do; nil if the place has been left.
  private mutating func remember(_ node: PathNode, _ message: Message) -> Int? {
    if let known = lastSerials.lastIndex(of: node.serial) { return known }
    guard holds(node) else { return nil }
    // The places that the last path does not pass, innermost first.
    var unknown: [PathNode] = []
    var node = node
    var count = 0
    while node.index > 0, steps[Int(node.index)].kind != .top {
      if let known = lastSerials.lastIndex(of: node.serial) {
        count = known
        break
      }
      if steps[Int(node.index)].kind == .found {
        lastPath = message.path(to: steps[Int(node.index)].value, from: message.body)
        count = lastPath.count
        lastSerials = [PathNode.top.serial] + repeatElement(node.serial, count: count)
        break
      }
      unknown.append(node)
      node = parent(of: node)
    }
    lastSerials.removeLast(lastSerials.count - count - 1)
    lastPath.removeLast(lastPath.count - count)
    for node in unknown.reversed() {
      lastSerials.append(node.serial)
      lastPath.append(codingKey(steps[Int(node.index)], message))
    }
    return lastPath.count
  }

  func holds(_ node: PathNode) -> Bool { node.index < count && steps[Int(node.index)].serial == node.serial }

  private func parent(of node: PathNode) -> PathNode {
    let parent = steps[Int(node.index)].parent
    // A parent comes before its child, unless it has been left.
    guard parent < node.index else { return .top }
    return PathNode(index: parent, serial: steps[Int(parent)].serial)
  }

  private func codingKey(_ step: PathStep, _ message: Message) -> any CodingKey {
    switch step.kind {
    case .byte:
      step.keyTable?._withUnsafeGuaranteedRef { $0.keyOfByte(step.value) } ?? PathKey(stringValue: "")
    case .key: keys[step.value]
    case .name, .definedName:
      PathKey(
        stringValue: (try? message.keyString(at: TextLocation(step.value, isInMessage: step.kind == .name))) ?? "")
    case .index: PathKey.index(step.value)
    case .super: PathKey.super
    case .top, .found: PathKey(stringValue: "")
    }
  }
}

extension Message {
  /// Returns the path of the value that begins at `offset`, or of the innermost container around it, by walking down
  /// from the top: a container that outlived the `init(from:)` it was made for has lost its place in the stack.
  func path(to offset: Int, from body: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var value = body
    while value != offset, let (child, key) = try? child(of: value, holding: offset) {
      path.append(key)
      value = child
    }
    return path
  }

  private func child(of value: Int, holding offset: Int) throws(FormatError) -> (Int, any CodingKey)? {
    guard var children = try Children(of: value, self) else { return try row(of: value, holding: offset) }
    // This may be what could not be read: an element that goes beyond its container.
    while let child = try children.peek(self) {
      let end = try reader.end(of: child.value)
      if (child.value..<end).contains(offset) {
        guard let key = child.key else { return (child.value, PathKey.index(child.number)) }
        return (child.value, PathKey(stringValue: try keyString(at: key)))
      }
      try children.pass(child, to: end)
    }
    return nil
  }

  /// Returns the row of a table that holds `offset`, and `offset` itself: cells have no tags to walk over.
  private func row(of value: Int, holding offset: Int) throws(FormatError) -> (Int, any CodingKey)? {
    guard Columns.isColumns(try reader.byte(at: value)) else { return nil }
    let columns = try Columns(reader, tables: tables, at: value)
    guard columns.rows.contains(offset) else { return nil }
    return (offset, PathKey.index((offset - columns.rows.lowerBound) / columns.stride))
  }
}
