/// A sequence of calls of an encoder and its containers, made beside the same changes to a tree of nodes.
final class WritingScript {
  let choices: Choices
  /// Containers and encoders that are written to later, by whoever has its turn.
  private var kept: [(number: Int, write: () throws -> Void)] = []
  private var keptCount = 0
  /// Whether something was asked for its container twice, or written to late. Where the parts of a value are
  /// not yet one, counts and paths know only their own.
  private var isPatchwork = false
  private static let deepest = 6
  private static let mostKept = 16

  /// How many calls of containers there are from one that refuses to the next; none refuses if this is 0.
  private let callsPerRefusal: Int
  private var calls = 0
  private let writesHierarchies: Bool
  /// Whether each value is written once, at its time, and none refuses.
  private let isOrderly: Bool

  init(_ choices: Choices, callsPerRefusal: Int = 0, writesHierarchies: Bool = false, isOrderly: Bool = false) {
    self.choices = choices
    self.callsPerRefusal = callsPerRefusal
    self.writesHierarchies = writesHierarchies
    self.isOrderly = isOrderly
  }

  // MARK: encoders

  /// Writes to an encoder in one way or another, or not at all.
  func fill(_ encoder: any Encoder, _ node: Node, path: [Step], depth: Int) throws {
    try check(encoder.codingPath, is: path)
    let choice = choices.below(8)
    choices.trace("\(path) encoder: \(choice)")
    switch choice {
    case 0, 1, 2: try fillObject(encoder, FieldKey.self, node, path, depth)
    case 3: try fillObject(encoder, NameKey.self, node, path, depth)
    case 4, 5: try fillArray(encoder, node, path, depth)
    case 6: try fillSingle(encoder, node, path, depth)
    case 7 where writesHierarchies && node.fields != nil: try fillHierarchy(encoder, node)
    default: break
    }
    guard depth < Self.deepest, !isOrderly else { return }
    switch choices.below(16) {
    case 0:
      choices.trace("\(path) refuses")
      throw Refusal()
    case 1:
      isPatchwork = true
      try fill(encoder, node, path: path, depth: depth + 1)
    case 2: keep { [self] in try fill(encoder, node, path: path, depth: depth + 1) }
    default: break
    }
  }

  private func fillObject<Key: ScriptKey>(
    _ encoder: any Encoder, _: Key.Type, _ node: Node, _ path: [Step], _ depth: Int
  ) throws {
    guard node.fields != nil else { return }
    var container = encoder.container(keyedBy: Key.self)
    if case .nothing = node.content { node.content = .object([:]) }
    try fill(&container, node, path, depth)
  }

  private func fillArray(_ encoder: any Encoder, _ node: Node, _ path: [Step], _ depth: Int) throws {
    if case .nothing = node.content { node.content = .array([]) }
    guard node.elements != nil else { return }
    var container = encoder.unkeyedContainer()
    try fill(&container, node, path, depth)
  }

  private func fillSingle(_ encoder: any Encoder, _ node: Node, _ path: [Step], _ depth: Int) throws {
    guard case .nothing = node.content else { return }
    var container = encoder.singleValueContainer()
    if choices.below(3) == 0, depth < Self.deepest {
      let inner = Node()
      // What is kept of the inner value stands for this place still.
      let keptBefore = keptCount
      let isWritten = try attempt {
        try container.encode(Written { try self.fill($0, inner, path: path, depth: depth + 1) })
      }
      guard isWritten else {
        kept.removeAll { $0.number >= keptBefore }
        return
      }
      if case .nothing = inner.content { inner.content = .object([:]) }
      node.become(inner)
      return
    }
    let sample = Sample.choose(choices)
    try sample.encode(into: &container)
    node.content = sample.node.content
  }

  private func fillHierarchy(_ encoder: any Encoder, _ node: Node) throws {
    let number = choices.next()
    try Hierarchy.Fourth(number).encode(to: encoder)
    for (key, inner) in Hierarchy.node(number).fields ?? [:] { node.set(inner, for: key) }
  }

  // MARK: containers

  /// Refuses if it is the turn of this call.
  private func count() throws {
    calls += 1
    if callsPerRefusal > 0, calls % callsPerRefusal == 0 { throw Refusal() }
  }

  private func fill<Key: ScriptKey>(
    _ container: inout KeyedEncodingContainer<Key>, _ node: Node, _ path: [Step], _ depth: Int
  ) throws {
    let copy = container
    if choices.below(4) == 0 {
      keep { [self] in
        var container = copy
        try step(&container, node, path, depth)
      }
    }
    for _ in 0..<choices.below(8) { try step(&container, node, path, depth) }
  }

  private func fill(
    _ container: inout any UnkeyedEncodingContainer, _ node: Node, _ path: [Step], _ depth: Int
  ) throws {
    for _ in 0..<choices.below(8) { try step(&container, node, path, depth) }
    // A copy counts for itself, so the container goes on in one place only.
    if choices.below(4) == 0 {
      let last = container
      keep { [self] in
        var container = last
        try step(&container, node, path, depth)
      }
    }
  }

  private func step<Key: ScriptKey>(
    _ container: inout KeyedEncodingContainer<Key>, _ node: Node, _ path: [Step], _ depth: Int
  ) throws {
    try count()
    try check(container.codingPath, is: path)
    let key = Key.choose(choices)
    let inner = path + [Step(key)]
    let old = node.fields?[key.stringValue]
    let choice = choices.below(depth < Self.deepest ? 16 : 8)
    choices.trace("\(path) object: \(choice) for \(key.stringValue)")
    // What a super encoder writes once there is a container for its key may go to either.
    let isAwaited = if case .nothing = old?.content { true } else { false }
    switch choice {
    case 0:
      try container.encodeNil(forKey: key)
      node.set(Node(.null), for: key.stringValue)
    case 1:
      try container.encodeIfPresent(Int?.none, forKey: key)
    case 2...7:
      let sample = Sample.choose(choices)
      try sample.encode(into: &container, forKey: key)
      node.set(sample.node, for: key.stringValue)
    case 8, 9:
      let fresh = Node()
      let isWritten = try attempt {
        try container.encode(Written { try self.fill($0, fresh, path: inner, depth: depth + 1) }, forKey: key)
      }
      if isWritten { node.set(fresh, for: key.stringValue) }
    case 10 where old?.fields != nil && !isAwaited && !isOrderly || old == nil:
      var nested = container.nestedContainer(keyedBy: NameKey.self, forKey: key)
      try fill(&nested, child(.object([:]), of: node, key), inner, depth + 1)
    case 11 where old?.fields != nil && !isAwaited && !isOrderly || old == nil:
      var nested = container.nestedContainer(keyedBy: FieldKey.self, forKey: key)
      try fill(&nested, child(.object([:]), of: node, key), inner, depth + 1)
    case 12 where old?.elements != nil && !isOrderly || old == nil:
      var nested = container.nestedUnkeyedContainer(forKey: key)
      try fill(&nested, child(.array([]), of: node, key), inner, depth + 1)
    case 13:
      let encoder = container.superEncoder(forKey: key)
      let fresh = Node()
      node.set(fresh, for: key.stringValue)
      try fillOrKeep(encoder, fresh, inner, depth + 1)
    case 14:
      let encoder = container.superEncoder()
      let fresh = Node()
      node.set(fresh, for: "super")
      try fillOrKeep(encoder, fresh, path + [.parent], depth + 1)
    default: try writeKept()
    }
  }

  private func step(
    _ container: inout any UnkeyedEncodingContainer, _ node: Node, _ path: [Step], _ depth: Int
  ) throws {
    // Of two elements at once, each may come first.
    if node.isBusy { return }
    try self.count()
    try check(container.codingPath, is: path)
    let count = node.elements?.count ?? 0
    guard container.count == count || isPatchwork else { throw Finding("\(container.count) elements, not \(count)") }
    let inner = path + [Step(index: count)]
    let choice = choices.below(depth < Self.deepest ? 16 : 7)
    choices.trace("\(path) array: \(choice)")
    switch choice {
    case 0:
      try container.encodeNil()
      node.append(Node(.null))
    case 1:
      let values = (0..<choices.below(6)).map { _ in Int64(choices.next()) << Int64(choices.below(50)) }
      try container.encode(contentsOf: values)
      for value in values { node.append(Node(.integer(value))) }
    case 2...6:
      let sample = Sample.choose(choices)
      try sample.encode(into: &container)
      node.append(sample.node)
    case 7, 8, 9:
      let fresh = Node()
      node.isBusy = true
      defer { node.isBusy = false }
      let isWritten = try attempt {
        try container.encode(Written { try self.fill($0, fresh, path: inner, depth: depth + 1) })
      }
      if isWritten { node.append(fresh) }
    case 10, 11:
      let fresh = Node(.object([:]))
      node.append(fresh)
      var nested = container.nestedContainer(keyedBy: FieldKey.self)
      try fill(&nested, fresh, inner, depth + 1)
    case 12:
      let fresh = Node(.array([]))
      node.append(fresh)
      var nested = container.nestedUnkeyedContainer()
      try fill(&nested, fresh, inner, depth + 1)
    case 13, 14:
      let fresh = Node()
      node.append(fresh)
      try fillOrKeep(container.superEncoder(), fresh, inner, depth + 1)
    default: try writeKept()
    }
  }

  // MARK: parts of steps

  private func check(_ path: [any CodingKey], is expected: [Step]) throws {
    if !isPatchwork, !isOrderly { try expect(path, is: expected) }
  }

  /// The node that a nested container for `key` writes to: what is there, or a new one.
  private func child(_ content: Node.Content, of node: Node, _ key: some CodingKey) -> Node {
    let old = node.fields?[key.stringValue]
    if old != nil { isPatchwork = true }
    let child = old ?? Node(content)
    if case .nothing = child.content { child.content = content }
    node.set(child, for: key.stringValue)
    return child
  }

  private func fillOrKeep(_ encoder: any Encoder, _ node: Node, _ path: [Step], _ depth: Int) throws {
    if choices.below(2) == 0 || isOrderly {
      try fill(encoder, node, path: path, depth: depth)
    } else {
      keep { [self] in try fill(encoder, node, path: path, depth: depth) }
    }
  }

  private func keep(_ write: @escaping () throws -> Void) {
    guard kept.count < Self.mostKept, !isOrderly else { return }
    kept.append((keptCount, write))
    keptCount += 1
  }

  /// Lets go of what was kept, which refers to this script.
  func forget() { kept = [] }

  private func writeKept() throws {
    guard !kept.isEmpty else { return }
    isPatchwork = true
    try kept.remove(at: choices.below(kept.count)).write()
  }

  /// Whether `body` succeeds. Its `Refusal` is swallowed or thrown on.
  ///
  /// What is written later to the containers of a value that failed is discarded.
  private func attempt(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return true
    } catch let refusal as Refusal {
      if choices.below(4) == 0 { throw refusal }
      return false
    }
  }
}

/// Four classes, each of which encodes what it inherits in another way.
enum Hierarchy {
  class First: Encodable {
    let number: UInt8

    private enum CodingKeys: CodingKey { case first, number }

    init(_ number: UInt8) { self.number = number }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("first", forKey: .first)
      try container.encode(number, forKey: .number)
    }
  }

  class Second: First {
    private enum CodingKeys: CodingKey { case second }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode("second", forKey: .second)
    }
  }

  class Third: Second {
    private enum CodingKeys: CodingKey { case third, number }

    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("third", forKey: .third)
      try container.encode(number, forKey: .number)
    }
  }

  final class Fourth: Third {
    private enum CodingKeys: CodingKey { case fourth, parent }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let parent = container.superEncoder(forKey: .parent)
      try container.encode("fourth", forKey: .fourth)
      try super.encode(to: parent)
    }
  }

  /// What an object of the fourth class is written as.
  static func node(_ number: UInt8) -> Node {
    func text(_ name: String) -> Node { Node(.string(name)) }
    let number = Node(.integer(Int64(number)))
    let first = Node(.object(["first": text("first"), "number": number]))
    let third = Node(.object(["super": first, "second": text("second"), "third": text("third"), "number": number]))
    return Node(.object(["parent": third, "fourth": text("fourth")]))
  }
}
