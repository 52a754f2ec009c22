/// A sequence of calls of a decoder and its containers, compared with the tree of nodes that was written.
final class ReadingScript: @unchecked Sendable {
  let choices: Choices
  /// What the decoder that is handed out next should find, and where.
  var pending: (node: Node, path: [Step])?
  var outcomes = Outcomes()
  /// Containers and decoders that are read later, some when the message is over.
  private var kept: [() throws -> Void] = []
  private var depth = 0
  private static let deepest = 12
  private static let mostKept = 16

  init(_ choices: Choices) { self.choices = choices }

  // MARK: decoders

  /// Reads the value that is `pending`.
  func read(_ decoder: any Decoder) throws {
    guard let (node, path) = pending else { return }
    pending = nil
    try read(decoder, node, path)
    if choices.below(16) == 0 { throw Refusal() }
  }

  private func read(_ decoder: any Decoder, _ node: Node, _ path: [Step]) throws {
    guard depth < Self.deepest else { return }
    depth += 1
    defer { depth -= 1 }
    try outcomes.check(decoder.codingPath, is: path)
    keep { [self] in try read(decoder, node, path) }
    for _ in 0...choices.below(3) {
      switch choices.below(6) {
      case 0, 1:
        let object = try outcomes.accept(Self.fields(of: node), at: path) {
          try decoder.container(keyedBy: FieldKey.self)
        }
        if let object { try read(object, node, path) }
      case 2:
        let object = try outcomes.accept(Self.fields(of: node), at: path) {
          try decoder.container(keyedBy: NameKey.self)
        }
        if let object { try read(object, node, path) }
      case 3, 4:
        let list = try outcomes.accept(Self.elements(of: node), at: path) { try decoder.unkeyedContainer() }
        if let list { try read(list, node, path) }
      default: try readSingle(decoder, node, path)
      }
    }
  }

  private static func fields(of node: Node) -> Expected<[String: Node]> {
    node.fields.map { .value($0) } ?? .wrongKind(node)
  }

  private static func elements(of node: Node) -> Expected<[Node]> {
    node.elements.map { .value($0) } ?? .wrongKind(node)
  }

  private func readSingle(_ decoder: any Decoder, _ node: Node, _ path: [Step]) throws {
    let container = try decoder.singleValueContainer()
    try outcomes.check(container.codingPath, is: path)
    guard container.decodeNil() == node.isNull else { throw Finding("nil is not nil at \(path)") }
    func decode<Value: Probe>(_ type: Value.Type) throws {
      try outcomes.check(Value.expected(from: node), at: path) { try container.decode(type) }
    }
    let type = choices.pick(probes)
    try decode(type)
    try drive(node, path) { _ = try container.decode(Driven.self) }
  }

  // MARK: objects

  private func read<Key: ScriptKey>(_ container: KeyedDecodingContainer<Key>, _ node: Node, _ path: [Step]) throws {
    try outcomes.check(container.codingPath, is: path)
    keep { [self] in try step(container, node, path) }
    for _ in 0..<choices.below(8) { try step(container, node, path) }
  }

  private func step<Key: ScriptKey>(_ container: KeyedDecodingContainer<Key>, _ node: Node, _ path: [Step]) throws {
    let key = Key.choose(choices)
    let inner = path + [Step(key)]
    let value = node.fields?[key.stringValue]
    let probe = choices.pick(probes)
    let choice = choices.below(12)
    choices.trace("\(path) object: \(choice) for \(key.stringValue) as \(probe)")
    switch choice {
    case 0:
      guard container.contains(key) == (value != nil) else { throw Finding("contains \(inner)") }
    case 1:
      let keys = Set(container.allKeys.map(\.stringValue))
      let expected = (node.fields ?? [:]).keys.filter { Key(stringValue: $0) != nil }
      guard keys == Set(expected) else { throw Finding("keys \(keys), not \(expected)") }
    case 2:
      try outcomes.check(
        value.map { .value($0.isNull) } ?? .failure(.keyNotFound), at: path
      ) { try container.decodeNil(forKey: key) }
    case 3, 4: try decode(probe, from: container, key, value, path)
    case 5, 6: try decodeIfPresent(probe, from: container, key, value, path)
    case 7:
      let nested = try outcomes.accept(
        value.map(Self.fields) ?? .failure(.keyNotFound), at: value == nil ? path : inner
      ) {
        try container.nestedContainer(keyedBy: NameKey.self, forKey: key)
      }
      if let nested, let value { try read(nested, value, inner) }
    case 8:
      let nested = try outcomes.accept(
        value.map(Self.elements) ?? .failure(.keyNotFound), at: value == nil ? path : inner
      ) {
        try container.nestedUnkeyedContainer(forKey: key)
      }
      if let nested, let value { try read(nested, value, inner) }
    case 9: try read(try container.superDecoder(forKey: key), value ?? Node(.null), inner)
    case 10:
      try read(try container.superDecoder(), node.fields?["super"] ?? Node(.null), path + [.parent])
    default:
      guard let value else { return try readKept() }
      try drive(value, inner) { _ = try container.decode(Driven.self, forKey: key) }
    }
  }

  private func decode<Key: CodingKey, Value: Probe>(
    _ type: Value.Type, from container: KeyedDecodingContainer<Key>, _ key: Key, _ node: Node?, _ path: [Step]
  ) throws {
    let expected = node.map { Value.expected(from: $0) } ?? .failure(.keyNotFound)
    try outcomes.check(expected, at: node == nil ? path : path + [Step(key)]) {
      try container.decode(type, forKey: key)
    }
  }

  private func decodeIfPresent<Key: CodingKey, Value: Probe>(
    _ type: Value.Type, from container: KeyedDecodingContainer<Key>, _ key: Key, _ node: Node?, _ path: [Step]
  ) throws {
    let expected = node.map { Value?.expected(from: $0) } ?? .value(nil)
    try outcomes.check(expected, at: path + [Step(key)]) { try container.decodeIfPresent(type, forKey: key) }
  }

  // MARK: arrays

  private func read(_ container: any UnkeyedDecodingContainer, _ node: Node, _ path: [Step]) throws {
    try outcomes.check(container.codingPath, is: path)
    keep { [self] in
      var container = container
      try step(&container, node.elements ?? [], path)
    }
    var container = container
    for _ in 0..<choices.below(10) { try step(&container, node.elements ?? [], path) }
  }

  private func step(_ container: inout any UnkeyedDecodingContainer, _ elements: [Node], _ path: [Step]) throws {
    let index = container.currentIndex
    guard container.count == elements.count, container.isAtEnd == (index >= elements.count) else {
      throw Finding("\(container.count ?? -1) elements, not \(elements.count), at \(path)")
    }
    let inner = path + [Step(index: index)]
    let node = index < elements.count ? elements[index] : nil
    let probe = choices.pick(probes)
    let didMove: Bool
    let choice = choices.below(8)
    choices.trace("\(inner) array: \(choice) as \(probe)")
    switch choice {
    case 0:
      try outcomes.check(node.map { .value($0.isNull) } ?? .failure(.valueNotFound), at: inner) {
        try container.decodeNil()
      }
      didMove = node?.isNull ?? false
    case 1, 2: didMove = try decode(probe, from: &container, node, inner)
    case 3: didMove = try decodeIfPresent(probe, from: &container, node, inner)
    case 4:
      let nested = try outcomes.accept(node.map(Self.fields) ?? .failure(.valueNotFound), at: inner) {
        try container.nestedContainer(keyedBy: FieldKey.self)
      }
      if let nested, let node { try read(nested, node, inner) }
      didMove = nested != nil
    case 5:
      let nested = try outcomes.accept(node.map(Self.elements) ?? .failure(.valueNotFound), at: inner) {
        try container.nestedUnkeyedContainer()
      }
      if let nested, let node { try read(nested, node, inner) }
      didMove = nested != nil
    case 6:
      let decoder = try outcomes.accept(node.map { .value($0) } ?? .failure(.valueNotFound), at: inner) {
        try container.superDecoder()
      }
      if let decoder, let node { try read(decoder, node, inner) }
      didMove = decoder != nil
    default:
      guard let node else { return try readKept() }
      didMove = try drive(node, inner) { _ = try container.decode(Driven.self) }
    }
    guard container.currentIndex == index + (didMove ? 1 : 0) else {
      throw Finding("from \(index) to \(container.currentIndex) at \(path)")
    }
  }

  private func decode<Value: Probe>(
    _ type: Value.Type, from container: inout any UnkeyedDecodingContainer, _ node: Node?, _ path: [Step]
  ) throws -> Bool {
    let expected = node.map { Value.expected(from: $0) } ?? .failure(.valueNotFound)
    try outcomes.check(expected, at: path) { try container.decode(type) }
    if case .value = expected { return true }
    return false
  }

  private func decodeIfPresent<Value: Probe>(
    _ type: Value.Type, from container: inout any UnkeyedDecodingContainer, _ node: Node?, _ path: [Step]
  ) throws -> Bool {
    let expected = node.map { Value?.expected(from: $0) } ?? .value(nil)
    try outcomes.check(expected, at: path) { try container.decodeIfPresent(type) }
    if case .value = expected { return node != nil }
    return false
  }

  // MARK: parts of steps

  /// Has a value decoded by this script; whether that succeeds. A `Refusal` is swallowed or thrown on.
  @discardableResult
  private func drive(_ node: Node, _ path: [Step], _ body: () throws -> Void) throws -> Bool {
    guard depth < Self.deepest else { return false }
    pending = (node, path)
    do {
      try body()
      return true
    } catch let refusal as Refusal {
      if choices.below(4) == 0 { throw refusal }
      return false
    }
  }

  private func keep(_ read: @escaping () throws -> Void) {
    if kept.count < Self.mostKept, choices.below(8) == 1 { kept.append(read) }
  }

  /// Reads something that was kept.
  func readKept() throws {
    guard !kept.isEmpty else { return }
    let compared = outcomes.comparesPaths
    outcomes.comparesPaths = false
    defer { outcomes.comparesPaths = compared }
    try kept.remove(at: choices.below(kept.count))()
  }

  /// Lets go of what was kept, which refers to this script.
  func forget() { kept = [] }

  /// Reads everything that was kept, when the message is over.
  func finish() throws { while !kept.isEmpty { try readKept() } }
}
