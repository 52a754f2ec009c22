/// The steps from the top of a message to where decoding is, as a stack.
///
/// A step is a few words; it becomes a `CodingKey` only when a path is asked for.
struct DecodingPath: ~Copyable {
  private var steps: UnsafeMutablePointer<PathStep>
  private var capacity = 64
  private(set) var count = 0
  private var serial: UInt32 = 0
  /// Room for more steps than these, which take 512 KiB, is given back.
  private static let mostRetained = 1 << 14
  /// The keys that were asked for, by the places of the steps to their values.
  private var keys: [any CodingKey] = []
  private var memo = PathMemo()

  init() {
    steps = .allocate(capacity: capacity)
    reset()
  }

  deinit { steps.deallocate() }

  mutating func reset() {
    count = 0
    if capacity > Self.mostRetained {
      steps.deallocate()
      capacity = Self.mostRetained
      steps = .allocate(capacity: capacity)
    }
    serial = 0
    memo.reset()
    if !keys.isEmpty { keys.removeAll(keepingCapacity: keys.count < 64) }
    _ = push(PathStep(.top, parent: .top))
  }

  @inline(__always)
  mutating func push(_ step: PathStep) -> PathNode {
    if count == capacity { grow() }
    var step = step
    step.serial = serial
    (steps + count).initialize(to: step)
    let node = PathNode(index: UInt32(truncatingIfNeeded: count), serial: serial)
    count &+= 1
    serial &+= 1
    return node
  }

  /// Returns the step to the value for a key that is not a trivial byte, to be pushed next, and stores the key.
  mutating func step(to key: consuming any CodingKey, from parent: PathNode) -> PathStep {
    if keys.count > count { keys[count] = key } else { grow(key) }
    return PathStep(.key, parent: parent, value: count)
  }

  @inline(never)
  private mutating func grow(_ key: any CodingKey) {
    while keys.count <= count { keys.append(key) }
  }

  /// Leaves the steps from `count` on.
  @inline(__always)
  mutating func pop(to count: Int) { self.count = min(count, self.count) }

  /// Moves an index step to the next element, which is another place.
  @inline(__always)
  mutating func setIndex(_ index: Int, at node: PathNode) -> PathNode {
    guard node.index < count else { return node }
    steps[Int(node.index)].value = index
    steps[Int(node.index)].serial = serial
    serial &+= 1
    return PathNode(index: node.index, serial: serial &- 1)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<PathStep>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: steps, count: count)
    steps.deallocate()
    steps = larger
    capacity *= 2
  }

  /// Returns the step at `node`, or nil if the node has been left.
  func step(at node: PathNode) -> PathStep? {
    guard node.index < count, steps[Int(node.index)].serial == node.serial else { return nil }
    return steps[Int(node.index)]
  }

  /// Returns the place that the step at `node` starts from.
  func parent(of node: PathNode) -> PathNode {
    let parent = steps[Int(node.index)].parent
    // A parent stands before its child, unless it has been left.
    guard parent < node.index, steps[Int(parent)].kind != .top else { return .top }
    return PathNode(index: parent, serial: steps[Int(parent)].serial)
  }

  /// Returns the places down to `node`, outermost first, without the top.
  func nodes(to node: PathNode) -> [PathNode] {
    var result: [PathNode] = []
    var node = node
    while node.index > 0 {
      result.append(node)
      node = parent(of: node)
    }
    return result.reversed()
  }

  // MARK: coding paths

  /// Returns the coding path of a container or decoder, which reads what stands at `offset`.
  mutating func codingPath(
    to node: PathNode, at offset: Int? = nil, _ message: Message
  ) -> [any CodingKey] {
    if memo.ends(at: node) || remember(node, message) { return memo.keys }
    if let count = memo.count(to: node) { return Array(memo.keys[..<count]) }
    guard let offset, step(at: node) == nil else { return [] }
    return PathFinder(message: message).path(to: offset, from: message.body)
  }

  /// Returns the coding path of a value that has no step of its own, one step below `node`.
  mutating func codingPath(to step: PathStep, of node: PathNode, _ message: Message) -> [any CodingKey] {
    codingPath(to: node, message) + (step.kind == .top ? [] : [codingKey(step, message)])
  }

  /// Makes the memo end at a place. False if that is the top or has been left, or the memo goes on beyond it.
  private mutating func remember(_ node: PathNode, _ message: Message) -> Bool {
    guard let step = step(at: node), step.kind != .top, memo.count(to: node) == nil else {
      return false
    }
    let parent = parent(of: node)
    if memo.count(to: parent) == nil {
      for (depth, node) in nodes(to: parent).enumerated() where !memo.passes(node, behind: depth + 1) {
        extendMemo(to: node, message)
      }
    }
    extendMemo(to: node, message)
    return true
  }

  private mutating func extendMemo(to node: PathNode, _ message: Message) {
    guard let step = step(at: node) else { return }
    memo.append(codingKey(step, message), to: node, from: parent(of: node))
  }

  private func codingKey(_ step: PathStep, _ message: Message) -> any CodingKey {
    switch step.kind {
    case .byte:
      return step.keyTable?._withUnsafeGuaranteedRef { $0.key(ofByte: step.value) }
        ?? PathKey(stringValue: "")
    case .key: return keys[step.value]
    case .name:
      return PathKey(stringValue: (try? message.keyString(at: TextLocation(bits: step.value))) ?? "")
    case .index: return PathKey.index(step.value)
    case .super: return PathKey.super
    case .top: return PathKey(stringValue: "")
    }
  }
}
