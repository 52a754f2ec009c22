import Foundation
import Stow
import Testing

extension StowEncoder {
  /// An encoder whose messages rely on a context.
  convenience init(_ context: StowContext, names: Bool = true, sorted: Bool = false) {
    self.init()
    self.context = context
    contextIdentification = names ? .id : .none
    outputFormatting = sorted ? .sortedKeys : []
  }
}

extension StowDecoder {
  /// A decoder of messages that rely on one of some contexts, or that rely on `implicit` without naming it.
  convenience init(_ contexts: [StowContext], implicit: StowContext? = nil) {
    self.init()
    self.contexts = contexts
    implicitContext = implicit
  }
}

/// A context of given symbols and shapes, made as a reader makes it: from its message.
func context(symbols: [String] = [], shapes: [[String]] = []) throws -> StowContext {
  try StowContext(from: StowContext(symbols: symbols, shapes: shapes).data)
}

/// Records an issue unless `value` comes back equal in a context, named and not, with sorted keys and without, and
/// means what it means without a context. Returns the message that names no context.
@discardableResult
func expectRoundTrip<Value: Codable & Equatable>(
  _ value: Value, in context: StowContext, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Data {
  for sorted in [false, true] {
    let plain = StowEncoder()
    plain.outputFormatting = sorted ? .sortedKeys : []
    let meaning = try StowDecoder().decode(Anything.self, from: plain.encode(value)).description
    let named = try StowEncoder(context, sorted: sorted).encode(value)
    let unnamed = try StowEncoder(context, names: false, sorted: sorted).encode(value)
    for (message, decoder) in [
      (named, StowDecoder([context])), (unnamed, StowDecoder([], implicit: context)),
    ] {
      #expect(try decoder.decode(Value.self, from: message) == value, sourceLocation: sourceLocation)
      #expect(try decoder.decode(Anything.self, from: message).description == meaning, sourceLocation: sourceLocation)
    }
  }
  return try StowEncoder(context, names: false).encode(value)
}
