import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message that was opened once, to be read in parts: its bytes, and what its prelude defines. Threads share it.
final class OpenMessage: Sendable {
  private let sessions: SessionPool<DecodingSession>
  private let data: Data
  private let userInfo: UserInfo
  private let maximumDepth: Int
  private let scope: DecodingDefinitions.Scope
  let marks = ElementMarks()
  private let names = Mutex(NamesOfReads())

  var place: PartPlace { PartPlace(content: .value(at: scope.body), depth: 0) }

  /// Opens a message, whose prelude must be valid, and whose value must end with the message.
  init(
    in sessions: SessionPool<DecodingSession>, _ data: Data, userInfo: UserInfo, maximumDepth: Int,
    _ contexts: DecodingContexts?
  ) throws {
    var scope: DecodingDefinitions.Scope?
    try data.lendBytes { bytes in
      try DecodingSession.run(
        in: sessions, userInfo,
        open: { message throws(FormatError) in
          scope = try message.openForParts(bytes, maximumDepth: maximumDepth, contexts)
        }, { _ in })
    }
    guard let scope else { preconditionFailure("a message that is neither open nor refused") }
    self.scope = scope
    self.sessions = sessions
    self.data = data
    self.userInfo = userInfo
    self.maximumDepth = maximumDepth
  }

  /// Opens a record whose prelude was added to definitions. From now on nothing may be added to these.
  init(
    in sessions: SessionPool<DecodingSession>, ofRecord record: UnsafeRawBufferPointer, userInfo: UserInfo,
    maximumDepth: Int, _ scope: DecodingDefinitions.Scope
  ) throws {
    self.sessions = sessions
    data = Data.copy(record)
    self.userInfo = userInfo
    self.maximumDepth = maximumDepth
    self.scope = scope
    scope.definitions?.noteEscape()
    // Throws if the value does not end with the record.
    try read { _ in }
  }

  func read<Result>(_ body: (DecodingSession) throws -> Result) throws -> Result {
    try data.lendBytes { bytes in
      try DecodingSession.run(
        in: sessions, userInfo,
        open: { message throws(FormatError) in
          try message.open(bytes, maximumDepth: maximumDepth, scope)
        },
        { session in
          names.withLock { $0.lend(to: session.message) }
          defer { names.withLock { $0.takeBack(from: session.message) } }
          return try body(session)
        })
    }
  }

  /// What reads have found out about names, for the next ones. Used under a lock, and lent to one session each.
  private struct NamesOfReads: @unchecked Sendable {
    private var free: [KnownNames] = []
    private static let most = 8

    mutating func lend(to message: Message) { if let names = free.popLast() { _ = message.exchangeNames(for: names) } }

    mutating func takeBack(from message: Message) {
      if free.count < Self.most { free.append(message.exchangeNames(for: KnownNames())) }
    }
  }
}

/// Where elements of the long arrays of an open message begin, at regular intervals, as far as walks have come.
///
/// Finding an element takes a walk over those before it; with marks the next walk begins near its end.
///
///     elements   0 … 127   128 … 255   256 … 383   384 …
///     marks                ^ 0         ^ 1         ^ 2
final class ElementMarks: Sendable {
  static let interval = 128

  /// The marks of each array, by where its first element begins.
  private let arrays = Mutex([Int: [Int]]())

  /// Passes the marks of an array to `walk`, which may add some. Other threads wait until it returns.
  func withMarks<Result: Sendable>(
    ofArrayAt first: Int, _ walk: (inout [Int]) throws(FormatError) -> Result
  ) throws(FormatError) -> Result {
    try arrays.withLock { arrays throws(FormatError) in
      // They are taken out, so that adding one does not copy all.
      var marks = arrays.removeValue(forKey: first) ?? [first]
      defer { if marks.count > 1 { arrays[first] = marks } }
      return try walk(&marks)
    }
  }
}

/// Walks over the elements of an array, with marks if there are some.
struct ArrayWalk {
  let elements: Range<Int>
  let reader: ByteReader
  let marks: ElementMarks?

  func element(_ number: Int) throws(FormatError) -> Int? {
    guard number >= 0 else { return nil }
    let (found, offset) = try walk(to: number)
    guard found == number, offset < elements.upperBound else { return nil }
    guard try reader.end(of: offset) <= elements.upperBound else { try fail(.malformed, at: offset) }
    return offset
  }

  func count() throws(FormatError) -> Int { try walk(to: .max).number }

  /// Moves to the element with a number, or to the end if that comes first.
  private func walk(to number: Int) throws(FormatError) -> (number: Int, offset: Int) {
    guard let marks, number >= ElementMarks.interval else {
      var marks = [elements.lowerBound]
      return try walk(to: number, &marks)
    }
    return try marks.withMarks(ofArrayAt: elements.lowerBound) { marks throws(FormatError) in
      try walk(to: number, &marks)
    }
  }

  private func walk(to number: Int, _ marks: inout [Int]) throws(FormatError) -> (number: Int, offset: Int) {
    let mark = min(number / ElementMarks.interval, marks.count - 1)
    var (current, offset) = (mark * ElementMarks.interval, marks[mark])
    while current < number, offset < elements.upperBound {
      let next = try reader.end(of: offset)
      guard next <= elements.upperBound else { try fail(.malformed, at: offset) }
      offset = next
      current += 1
      if current == marks.count * ElementMarks.interval, offset < elements.upperBound { marks.append(offset) }
    }
    return (current, offset)
  }
}
