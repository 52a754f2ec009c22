/// The steps from the top of a message to where decoding is, as a stack.
///
/// A step is a few words; it becomes a `CodingKey` only when a path is asked for.
struct DecodingPath: ~Copyable {
  struct Step {
    enum Kind: UInt8 {
      case top
      /// A key of a trivial type: its byte, of `schema`.
      case byte
      /// Another key: where it stands in the message.
      case name
      case index
      case `super`
    }

    let kind: Kind
    let parent: UInt32
    var serial: UInt32 = 0
    var value: Int
    let schema: Unmanaged<DecodingSchema>?

    @inline(__always)
    init(_ kind: Kind, parent: Node, value: Int = 0, schema: Unmanaged<DecodingSchema>? = nil) {
      self.kind = kind
      self.parent = parent.index
      self.value = value
      self.schema = schema
    }
  }

  /// A place in the stack. The serial number tells whether the step there is still the same.
  struct Node {
    let index: UInt32
    let serial: UInt32

    static let top = Node(index: 0, serial: 0)
  }

  private var steps: UnsafeMutablePointer<Step>
  private var capacity = 64
  private(set) var count = 0
  private var serial: UInt32 = 0

  init() {
    steps = .allocate(capacity: capacity)
    reset()
  }

  deinit { steps.deallocate() }

  mutating func reset() {
    count = 0
    serial = 0
    _ = push(Step(.top, parent: .top))
  }

  @inline(__always)
  mutating func push(_ step: Step) -> Node {
    if count == capacity { grow() }
    var step = step
    step.serial = serial
    (steps + count).initialize(to: step)
    let node = Node(index: UInt32(truncatingIfNeeded: count), serial: serial)
    count &+= 1
    serial &+= 1
    return node
  }

  /// The place of the step at `index`, as it is now.
  func node(at index: UInt32) -> Node {
    index < count ? Node(index: index, serial: steps[Int(index)].serial) : .top
  }

  /// Leaves the steps from `count` on.
  @inline(__always)
  mutating func pop(to count: Int) { self.count = min(count, self.count) }

  /// Moves an index step to the next element, which is another place.
  @inline(__always)
  mutating func setIndex(_ index: Int, at node: Node) -> Node {
    guard node.index < count else { return node }
    steps[Int(node.index)].value = index
    steps[Int(node.index)].serial = serial
    serial &+= 1
    return Node(index: node.index, serial: serial &- 1)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Step>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: steps, count: count)
    steps.deallocate()
    steps = larger
    capacity *= 2
  }

  /// The step at `node`; nil if the node has been left.
  func step(at node: Node) -> Step? {
    guard node.index < count, steps[Int(node.index)].serial == node.serial else { return nil }
    return steps[Int(node.index)]
  }

  /// The steps down to `node`, outermost first; none if the node has been left.
  func steps(to node: Node) -> [Step] {
    guard step(at: node) != nil else { return [] }
    var result: [Step] = []
    var index = Int(node.index)
    while steps[index].kind != .top {
      result.append(steps[index])
      // A parent stands before its child, so this ends.
      guard Int(steps[index].parent) < index else { break }
      index = Int(steps[index].parent)
    }
    return result.reversed()
  }
}

extension DecodingSession {
  /// The coding path of a container or decoder, which reads what stands at `offset`.
  func codingPath(_ node: DecodingPath.Node, at offset: Int? = nil) -> [any CodingKey] {
    if let memo = pathMemo, memo.serial == node.serial { return memo.path }
    if let step = path.step(at: node) {
      let path = step.kind == .top ? [] : parentPath(step) + [codingKey(step)]
      pathMemo = (node.serial, path)
      return path
    }
    guard let offset else { return [] }
    return PathFinder(session: self).path(to: offset, from: body)
  }

  /// The path of what a step starts from: the values of one container share it.
  private func parentPath(_ step: DecodingPath.Step) -> [any CodingKey] {
    let parent = path.node(at: step.parent)
    if let memo = parentPathMemo, memo.serial == parent.serial { return memo.path }
    let path = path.steps(to: parent).map(codingKey)
    parentPathMemo = (parent.serial, path)
    return path
  }

  /// The coding path of a value that has no step of its own.
  func codingPath(_ step: DecodingPath.Step, of node: DecodingPath.Node) -> [any CodingKey] {
    codingPath(node) + (step.kind == .top ? [] : [codingKey(step)])
  }

  private func codingKey(_ step: DecodingPath.Step) -> any CodingKey {
    switch step.kind {
    case .byte:
      return step.schema?._withUnsafeGuaranteedRef { $0.key(ofByte: step.value) } ?? PathKey(stringValue: "")
    case .name:
      let name = (try? keyName(at: step.value)) ?? ""
      if let integer = integerKeys[step.value] { return PathKey(name: name, integer: integer) }
      // What was not noted has the integer that its string says.
      let integer = PathKey.startsInteger(name) ? Int(name) : nil
      let key = step.schema?._withUnsafeGuaranteedRef { $0.key(named: name) }
      if let key, key.intValue == integer { return key }
      return PathKey(name: name, integer: integer)
    case .index: return PathKey.index(step.value)
    case .super: return PathKey.super
    case .top: return PathKey(stringValue: "")
    }
  }

  /// Remembers the integer of a key, where that is not what its string says.
  func noteInteger(of key: some CodingKey, at place: Int) {
    let name = key.stringValue
    let integer = key.intValue
    if integer != nil || PathKey.startsInteger(name), integer != Int(name) {
      integerKeys[place] = integer
    } else if !integerKeys.isEmpty {
      // Another key of the same string may have been noted.
      integerKeys.removeValue(forKey: place)
    }
  }
}
