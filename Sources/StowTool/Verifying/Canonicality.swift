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
