import Foundation

/// Everything a decoder once handed out, in the order it was asked for, ready to be handed out again.
///
/// It is made by a `RecordingDecoder` and played by a `ReplayDecoder`.
final class Replay {
  /// Where a player stands. A plain pointer, so that a container holding it costs no reference counting.
  typealias Tape = UnsafeMutablePointer<Position>

  /// How a call ended.
  enum Outcome {
    static let value: UInt8 = 0
    static let yes: UInt8 = 1
    static let failure: UInt8 = 2
  }

  /// The error of a replayed call that failed when it was recorded.
  struct RecordedFailure: Error {}

  private let outcomes: UnsafeMutableBufferPointer<UInt8>
  private let words: UnsafeMutableBufferPointer<UInt64>
  private let strings: UnsafeMutableBufferPointer<String>
  private let data: UnsafeMutableBufferPointer<Data>
  private let urls: UnsafeMutableBufferPointer<URL>
  private let cache = ContainerCache.create()
  private let tape: Tape

  /// Takes what was recorded.
  init(_ recorder: ReplayRecorder) {
    outcomes = Self.copy(recorder.outcomes)
    words = Self.copy(recorder.words)
    strings = Self.copy(recorder.strings)
    data = Self.copy(recorder.data)
    urls = Self.copy(recorder.urls)
    tape = .allocate(capacity: 1)
    tape.initialize(to: start)
  }

  deinit {
    ContainerCache.destroy(cache)
    tape.deallocate()
    outcomes.deallocate()
    words.deallocate()
    strings.deinitialize().deallocate()
    data.deinitialize().deallocate()
    urls.deinitialize().deallocate()
  }

  /// Goes back to the first value.
  func rewind() { tape.pointee = start }

  /// Decodes the next top-level value, out of sight of the optimizer.
  @inline(never)
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if isWhole(type) { return try tape.visit(type) }
    return try opaque(type).init(from: opaque(ReplayDecoder(tape: tape) as any Decoder))
  }

  /// Storage of the exact size, with these elements.
  private static func copy<Element>(_ elements: [Element]) -> UnsafeMutableBufferPointer<Element> {
    let storage = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(1, elements.count))
    let used = storage[..<elements.count]
    _ = UnsafeMutableBufferPointer(rebasing: used).initialize(fromContentsOf: elements)
    return UnsafeMutableBufferPointer(rebasing: used)
  }

  /// The position before the first value.
  private var start: Position {
    Position(
      outcome: outcomes.baseAddress!, word: words.baseAddress!, string: strings.baseAddress!,
      data: data.baseAddress!, url: urls.baseAddress!, cache: cache)
  }
}

extension Replay {
  /// Where the next value of each kind stands. No bounds are checked: the same calls come in the same order.
  struct Position {
    fileprivate var outcome: UnsafeMutablePointer<UInt8>
    fileprivate var word: UnsafeMutablePointer<UInt64>
    fileprivate var string: UnsafeMutablePointer<String>
    fileprivate var data: UnsafeMutablePointer<Data>
    fileprivate var url: UnsafeMutablePointer<URL>
    let cache: ContainerCache.Reference
  }
}

extension Replay.Position {
  /// Throws if the call failed when it was recorded.
  @inline(__always)
  mutating func checkOutcome() throws {
    if nextOutcome() == Replay.Outcome.failure { throw Replay.RecordedFailure() }
  }

  /// A question that cannot fail.
  @inline(__always)
  mutating func nextFlag() -> Bool { nextOutcome() == Replay.Outcome.yes }

  /// Whether a nil was found, which can fail.
  @inline(__always)
  mutating func nextNil() throws -> Bool {
    let outcome = nextOutcome()
    if outcome == Replay.Outcome.failure { throw Replay.RecordedFailure() }
    return outcome == Replay.Outcome.yes
  }

  /// Whether the key was there and its value not nil: the two questions of `decodeIfPresent`.
  @inline(__always)
  mutating func nextIsPresent() throws -> Bool {
    guard nextFlag() else { return false }
    return try !nextNil()
  }

  /// A number of elements.
  @inline(__always)
  mutating func nextCount() -> Int { Int(word: nextWord()) }

  /// A number or a Bool.
  @inline(__always)
  mutating func nextScalar<Scalar: ReplayScalar>() throws -> Scalar {
    try checkOutcome()
    return Scalar(word: nextWord())
  }

  /// A number or a Bool, or nil.
  @inline(__always)
  mutating func nextScalarIfPresent<Scalar: ReplayScalar>() throws -> Scalar? {
    guard try nextIsPresent() else { return nil }
    return try nextScalar()
  }

  /// A string.
  @inline(__always)
  mutating func nextString() throws -> String {
    try checkOutcome()
    defer { string += 1 }
    return string.pointee
  }

  /// A string, or nil.
  @inline(__always)
  mutating func nextStringIfPresent() throws -> String? {
    guard try nextIsPresent() else { return nil }
    return try nextString()
  }

  /// The keys of an object.
  mutating func nextKeys() -> [String] {
    (0..<nextCount()).map { _ in
      defer { string += 1 }
      return string.pointee
    }
  }

  /// A value of one of the types for which `isWhole` holds.
  @inline(__always)
  mutating func nextWhole<Value>(_ type: Value.Type) -> Value {
    if type == String.self {
      defer { string += 1 }
      return unsafeBitCast(string.pointee, to: type)
    }
    if type == Int.self || type == Double.self || type == Date.self {
      // A Date is the Double of its seconds.
      return unsafeBitCast(nextWord(), to: type)
    }
    if type == UUID.self {
      return unsafeBitCast(SIMD2(nextWord(), nextWord()), to: type)
    }
    if type == URL.self {
      defer { url += 1 }
      return unsafeBitCast(url.pointee, to: type)
    }
    defer { data += 1 }
    return unsafeBitCast(data.pointee, to: type)
  }

  @inline(__always)
  private mutating func nextOutcome() -> UInt8 {
    defer { outcome += 1 }
    return outcome.pointee
  }

  @inline(__always)
  private mutating func nextWord() -> UInt64 {
    defer { word += 1 }
    return word.pointee
  }
}

extension Replay.Tape {
  /// A nested value, which may go on to ask for others.
  @inline(__always)
  func visit<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try pointee.checkOutcome()
    if isWhole(type) { return pointee.nextWhole(type) }
    return try Value(from: ReplayDecoder(tape: self))
  }
}

/// A value that one word of the tape holds.
protocol ReplayScalar {
  init(word: UInt64)
  var word: UInt64 { get }
}

extension FixedWidthInteger where Self: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(truncatingIfNeeded: word) }

  var word: UInt64 { UInt64(truncatingIfNeeded: self) }
}

extension Int: ReplayScalar {}
extension Int8: ReplayScalar {}
extension Int16: ReplayScalar {}
extension Int32: ReplayScalar {}
extension Int64: ReplayScalar {}
extension UInt: ReplayScalar {}
extension UInt8: ReplayScalar {}
extension UInt16: ReplayScalar {}
extension UInt32: ReplayScalar {}
extension UInt64: ReplayScalar {}

extension Bool: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self = word != 0 }

  var word: UInt64 { self ? 1 : 0 }
}

extension Double: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(bitPattern: word) }

  var word: UInt64 { bitPattern }
}

extension Float: ReplayScalar {
  @inline(__always)
  init(word: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: word)) }

  var word: UInt64 { UInt64(bitPattern) }
}
