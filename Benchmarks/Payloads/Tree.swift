/// A node of a tree of objects: recursion through a class.
final class Node: Codable, Equatable, Sendable {
  let name: String
  let value: Int
  let children: [Node]

  /// A node with everything below it.
  init(name: String, value: Int, children: [Node]) {
    self.name = name
    self.value = value
    self.children = children
  }

  /// Two trees are equal when every node is.
  static func == (left: Node, right: Node) -> Bool {
    left.name == right.name && left.value == right.value && left.children == right.children
  }

  /// A random tree: each node but the first hangs on any earlier one.
  static func make(count: Int) -> Node {
    var random = RandomSource(seed: 11)
    var children: [[Node]] = Array(repeating: [], count: count)
    for index in stride(from: count - 1, through: 1, by: -1) {
      let node = make(children: children[index], &random)
      children[random.int(in: 0...index - 1)].append(node)
    }
    return make(children: children[0], &random)
  }

  /// One node.
  private static func make(children: [Node], _ random: inout RandomSource) -> Node {
    Node(
      name: "\(random.pick(Vocabulary.words)) \(random.int(in: 1...999))", value: random.int(in: 0...100_000),
      children: children)
  }
}
