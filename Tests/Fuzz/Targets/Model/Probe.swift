/// The errors of decoders.
enum Failure { case typeMismatch, valueNotFound, keyNotFound, dataCorrupted }

/// What reading a node as some type should give.
enum Expected<Value> {
  case value(Value)
  /// An error, so many steps below what is read.
  case failure(Failure, at: [Step] = [])

  /// The error for a value of the wrong kind.
  static func wrongKind(_ node: Node) -> Expected { .failure(node.isNull ? .valueNotFound : .typeMismatch) }
}

/// A type that a script decodes, of which the model knows the conversions.
protocol Probe: Decodable, Equatable {
  static func expected(from node: Node) -> Expected<Self>
}

extension Bool: Probe {
  static func expected(from node: Node) -> Expected<Bool> {
    if case .bool(let value) = node.content { .value(value) } else { .wrongKind(node) }
  }
}

extension Probe where Self: FixedWidthInteger {
  static func expected(from node: Node) -> Expected<Self> {
    switch node.content {
    case .integer(let value): Self(exactly: value).map { .value($0) } ?? .failure(.dataCorrupted)
    case .double: .failure(.dataCorrupted)
    default: .wrongKind(node)
    }
  }
}

extension Int8: Probe {}
extension Int: Probe {}
extension UInt64: Probe {}

extension Double: Probe {
  static func expected(from node: Node) -> Expected<Double> {
    switch node.content {
    case .integer(let value): .value(Double(value))
    case .double(let value): .value(value)
    default: .wrongKind(node)
    }
  }
}

extension String: Probe {
  static func expected(from node: Node) -> Expected<String> {
    if case .string(let value) = node.content { .value(value) } else { .wrongKind(node) }
  }
}

extension Array: Probe where Element: Probe {
  static func expected(from node: Node) -> Expected<[Element]> {
    guard let elements = node.elements else { return .wrongKind(node) }
    var values: [Element] = []
    for (index, element) in elements.enumerated() {
      switch Element.expected(from: element) {
      case .value(let value): values.append(value)
      case .failure(let failure, let path): return .failure(failure, at: [Step(index: index)] + path)
      }
    }
    return .value(values)
  }
}

extension Optional: Probe where Wrapped: Probe {
  static func expected(from node: Node) -> Expected<Wrapped?> {
    if node.isNull { return .value(nil) }
    switch Wrapped.expected(from: node) {
    case .value(let value): return .value(value)
    case .failure(let failure, let path): return .failure(failure, at: path)
    }
  }
}

extension GenericValue: Probe {
  static func expected(from node: Node) -> Expected<GenericValue> { .value(node.value) }
}

/// The types that a script chooses from.
var probes: [any Probe.Type] {
  [
    Bool.self, Int.self, Int8.self, UInt64.self, Double.self, String.self, [Int].self, [Double].self,
    [String].self, [Bool].self, Int?.self, [Int?].self, [[Int]].self, GenericValue.self, [GenericValue].self,
  ]
}
