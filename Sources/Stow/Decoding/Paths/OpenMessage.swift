import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that was opened once, to be read in parts: its bytes, and what its prelude defines. Threads share it.
final class OpenMessage: Sendable {
  private let data: Data
  private let userInfo: UserInfo
  private let maximumDepth: Int
  /// Nil if there is no prelude, nor a context.
  private let definitions: DecodingDefinitions?
  private let scope: DecodingDefinitions.Scope
  let marks = ElementMarks()

  /// The place of the whole value.
  var place: ValuePlace { ValuePlace(content: .value(at: scope.body), depth: 0) }

  /// Opens a message.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the prelude is not valid, or the value does not end with the message.
  init(
    _ data: Data, userInfo: UserInfo, maximumDepth: Int, _ contexts: DecodingContexts?
  ) throws {
    var opened: (definitions: DecodingDefinitions?, scope: DecodingDefinitions.Scope)?
    try data.lendBytes { bytes in
      try DecodingSession.run(
        userInfo,
        open: { message throws(FormatError) in
          opened = try message.openForParts(bytes, maximumDepth: maximumDepth, contexts)
        }, { _ in })
    }
    guard let opened else { preconditionFailure("a message that is neither open nor refused") }
    (definitions, scope) = opened
    self.data = data
    self.userInfo = userInfo
    self.maximumDepth = maximumDepth
  }

  /// Runs `body` with the message open.
  func read<Result>(_ body: (DecodingSession) throws -> Result) throws -> Result {
    try data.lendBytes { bytes in
      try DecodingSession.run(
        userInfo,
        open: { message throws(FormatError) in
          try message.open(bytes, maximumDepth: maximumDepth, relyingOn: definitions, scope)
        }, body)
    }
  }
}

/// Where every so many elements of the long arrays of an open message begin, as far as somebody has walked over them.
///
/// An array does not say where its elements stand, so that finding one is a walk over those before it. With marks the
/// next walk begins near its end. An element takes a byte or more, and arrays that are shorter than an interval have no
/// marks, so that they take less memory than the message.
///
///     elements   0 … 127   128 … 255   256 … 383   384 …
///     marks                ^ 0         ^ 1         ^ 2
final class ElementMarks: Sendable {
  static let interval = 128

  private struct Marks {
    var offsets: [Int] = []
    /// The number of elements, once a walk has come to the end.
    var count: Int?
  }

  /// By where the first element of each array stands.
  private let arrays = Mutex<[Int: Marks]>([:])

  /// Returns the last marked element that is not after the one with a number.
  func last(before number: Int, ofArrayAt first: Int) -> (number: Int, offset: Int) {
    guard number >= Self.interval else { return (0, first) }
    return arrays.withLock { arrays in
      guard let offsets = arrays[first]?.offsets, !offsets.isEmpty else { return (0, first) }
      let mark = min(number / Self.interval, offsets.count)
      return (mark * Self.interval, offsets[mark - 1])
    }
  }

  func count(ofArrayAt first: Int) -> Int? { arrays.withLock { $0[first]?.count } }

  /// Notes where elements stand, of which the first has a number that is a multiple of the interval.
  func note(_ offsets: [Int], from number: Int, count: Int?, ofArrayAt first: Int) {
    if offsets.isEmpty && (count ?? 0) < Self.interval { return }
    arrays.withLock { arrays in
      let known = arrays[first]?.offsets.count ?? 0
      // Another thread may have walked there in the meantime.
      let overlap = known - (number / Self.interval - 1)
      if overlap >= 0 {
        arrays[first, default: Marks()].offsets.append(contentsOf: offsets.dropFirst(overlap))
      }
      if let count { arrays[first, default: Marks()].count = count }
    }
  }
}

/// Walks over the elements of an array, with marks where there are some.
struct ArrayWalk {
  let elements: Range<Int>
  let reader: ByteReader
  let marks: ElementMarks?

  /// Returns where the element with a number begins; nil if the array has none.
  func element(_ number: Int) throws(FormatError) -> Int? {
    guard number >= 0 else { return nil }
    let (found, offset) = try walk(to: number)
    guard found == number, offset < elements.upperBound else { return nil }
    guard try reader.end(of: offset) <= elements.upperBound else { try fail(.malformed, at: offset) }
    return offset
  }

  /// Returns the number of elements.
  func count() throws(FormatError) -> Int {
    if let count = marks?.count(ofArrayAt: elements.lowerBound) { return count }
    return try walk(to: .max).number
  }

  /// Goes to the element with a number, or to the end if it comes first.
  private func walk(to number: Int) throws(FormatError) -> (number: Int, offset: Int) {
    let first = elements.lowerBound
    var (current, offset) = marks?.last(before: number, ofArrayAt: first) ?? (0, first)
    let start = current / ElementMarks.interval + 1
    var noted: [Int] = []
    while current < number, offset < elements.upperBound {
      let next = try reader.end(of: offset)
      guard next <= elements.upperBound else { try fail(.malformed, at: offset) }
      offset = next
      current += 1
      if current % ElementMarks.interval == 0, offset < elements.upperBound { noted.append(offset) }
    }
    let count = offset < elements.upperBound ? nil : current
    marks?.note(noted, from: start * ElementMarks.interval, count: count, ofArrayAt: first)
    return (current, offset)
  }
}
