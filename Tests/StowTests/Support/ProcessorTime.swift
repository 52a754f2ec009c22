import FuzzTargets
import Stow
import Testing

/// The least time of three runs: the others found other things in the caches.
func leastTime(_ body: () throws -> Void) rethrows -> Double {
  try (0..<3).map { _ in try processorTime(body) }.min() ?? 0
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
  let (short, long) = (try leastTime { try body(small) }, try leastTime { try body(small * growth) })
  let growths = "\(small): \(short) ns, \(small * growth): \(long) ns"
  #expect(long < short * Double(growth * 3), "\(growths)", sourceLocation: sourceLocation)
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

/// Checks that `body` takes less than three times as much time as `other`.
func expectAsFast(
  _ body: () throws -> Void, as other: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  // The fastest of three runs, in turn.
  let runs = try (0..<3).map { _ in (try processorTime(other), try processorTime(body)) }
  let (expected, found) = (runs.map(\.0).min() ?? 0, runs.map(\.1).min() ?? 0)
  #expect(found < 3 * expected, "\(found) ns instead of \(expected)", sourceLocation: sourceLocation)
}
