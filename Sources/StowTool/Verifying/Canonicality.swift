import Stow

/// Whether a valid message is what a canonical writer would have written.
enum Canonicality {
  case canonical
  /// The message is not canonical, as the text says.
  case flawed(String)
  /// The message is not what a `StowValue` writes from an offset on, but may be what a writer that knows the
  /// type writes.
  case unknown(from: Int)

  /// - Parameter input: A valid message.
  static func of(_ input: Input, _ context: StowContext?, _ decoder: StowDecoder) throws -> Canonicality {
    var follower = FlawFollower()
    _ = Walks.walk(input, context) { _ in
      FlawFollower()
    } finish: {
      follower = $0
    }
    if let flaw = follower.first {
      let place = flaw.path.count > 0 ? ", in \(flaw.path)" : ""
      return .flawed("offset \(flaw.offset)\(place): \(flaw.reason)")
    }
    let encoder = StowEncoder()
    encoder.context = context
    let written = try encoder.encode(try Contents.value(of: input, decoder))
    guard written != input.data else { return .canonical }
    let offset = zip(written, input.data).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    return follower.mayHaveKnownMore || context != nil
      ? .unknown(from: offset) : .flawed("offset \(offset): written otherwise from here on")
  }
}

/// Follows a walk to the first flaw that it meets.
struct FlawFollower: StructureVisitor {
  private var path = Path()
  private(set) var first: (offset: Int, path: Path, reason: String)?
  /// Whether a writer may have known more than a `StowValue` does: what kind of keys an object has, or zeros
  /// at the end of a decimal number's digits.
  private(set) var mayHaveKnownMore = false

  static var seeksFlaws: Bool { true }

  mutating func flaw(at offset: Int, _ reason: String) {
    if first == nil { first = (offset, path, reason) }
  }

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    if kind == .key || kind == .decimal || kind == .shapes && bytes.count > 1 { mayHaveKnownMore = true }
  }

  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}
