/// A value as a JSON coder keeps it: what containers write to and read from.
final class Node {
  enum Content {
    /// Nothing has been encoded, which in the end is an empty object.
    case nothing
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([Node])
    case object([String: Node])
  }

  private var own: Content
  /// Whether an element of this array is being encoded.
  var isBusy = false
  /// The node that this one has become.
  private var successor: Node?

  var content: Content {
    get { successor?.content ?? own }
    set { if let successor { successor.content = newValue } else { own = newValue } }
  }

  init(_ content: Content = .nothing) { own = content }

  /// From now on this is the same as another, whatever is written to either.
  func become(_ other: Node) { successor = other }

  var elements: [Node]? { if case .array(let elements) = content { elements } else { nil } }

  var fields: [String: Node]? {
    switch content {
    case .object(let fields): fields
    case .nothing: [:]
    default: nil
    }
  }

  var isNull: Bool { if case .null = content { true } else { false } }

  func append(_ node: Node) { content = .array((elements ?? []) + [node]) }

  func set(_ node: Node, for key: String) {
    var fields = fields ?? [:]
    fields[key] = node
    content = .object(fields)
  }

  /// The same as a value that can be read from a message.
  var value: GenericValue {
    switch content {
    case .nothing: .object([:])
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(\.value))
    case .object(let fields): .object(fields.mapValues(\.value))
    }
  }
}
