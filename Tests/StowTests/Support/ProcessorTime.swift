import FuzzTargets
import Stow
import Testing

/// Checks that `body` takes less than `limit` times as much time as `other`.
func expect(
  _ body: () throws -> Void, takesLessThan limit: Double, times other: () throws -> Void,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let ratio = try timeRatio(of: body, to: other, below: limit)
  #expect(ratio < limit, sourceLocation: sourceLocation)
}

/// Checks that so many times the size takes less than three times as much more time: what is quadratic takes as many
/// times more again.
func expectLinear(
  small: Int, times growth: Int = 16, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Int) throws -> Void
) throws {
  try body(small)
  // A sanitizer takes time for itself.
  if isSanitized { return try body(small * growth) }
  try expect(
    { try body(small * growth) }, takesLessThan: Double(3 * growth), times: { try body(small) },
    sourceLocation: sourceLocation)
}

/// The same for decoding messages of about `size` bytes, and of eight times as many.
func expectLinear(
  _ type: any Decodable.Type, size: Int = 1_000, sourceLocation: SourceLocation = #_sourceLocation,
  _ make: (Int) -> [UInt8]
) throws {
  let messages = [size: make(size), size * 8: make(size * 8)]
  try expectLinear(small: size, times: 8, sourceLocation: sourceLocation) {
    do {
      _ = try StowDecoder().decode(type, from: messages[$0] ?? [])
    } catch {
      #expect(error is DecodingError, sourceLocation: sourceLocation)
    }
  }
}
