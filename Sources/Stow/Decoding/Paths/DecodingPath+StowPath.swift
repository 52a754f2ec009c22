// A path that was asked for, as the beginning of a coding path.

extension DecodingPath {
  /// Goes on from a place by one step.
  mutating func push(_ step: StowPath.Step, from node: PathNode) -> PathNode {
    switch step {
    case .key(let key): push(self.step(to: PathKey(name: key), from: node))
    case .index(let index): push(PathStep(.index, parent: node, value: index))
    case .each: preconditionFailure("a step to several places")
    }
  }

  /// Goes along a path, which has no `each`, from the top.
  mutating func push(_ path: StowPath) -> PathNode {
    var node = push(PathStep(.top, parent: .top))
    for step in path.steps { node = push(step, from: node) }
    return node
  }
}
