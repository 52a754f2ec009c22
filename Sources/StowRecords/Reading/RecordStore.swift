import Stow
import Synchronization

/// The bytes of some records and what decodes them, kept for as long as one of the records is.
///
/// A record relies on the definitions of those before it in its scope, and so needs their bytes. Records can
/// be decoded late, in any order, and on many threads: each call takes the decoder out and puts it back, and
/// makes its own if another call has it.
final class RecordStore: Sendable {
  /// The identity of the file, and that of its log.
  let identity: UInt64
  let log: UInt64
  let numbers: RecordNumbers
  private let bytes: [UInt8]
  private let places: [Block.Place]
  private let scopes: [Int]
  private let windows: [PackingWindow]
  private let decoder: StowDecoder
  /// The scope of the records, if it is already known, and the index of the first one in it.
  private let known: (scope: KnownScope, first: Int)?
  private let idle = Mutex<ScopeDecoder?>(nil)

  /// Creates a store for a run of records in a block with these bytes.
  init(_ file: LogFile, _ run: Block.Run, _ bytes: [UInt8], _ decoder: StowDecoder) {
    (identity, log) = (file.identity, file.origin.log)
    numbers = run.numbers
    self.decoder = decoder
    self.bytes = bytes
    places = run.records
    scopes = run.scopes
    windows = run.windows
    known = nil
  }

  /// Creates a store for some records of a known scope.
  init(
    _ file: LogFile, _ numbers: RecordNumbers, _ bytes: [UInt8], _ places: [Block.Place],
    _ window: PackingWindow,
    _ known: (scope: KnownScope, first: Int), _ decoder: StowDecoder
  ) {
    (identity, log) = (file.identity, file.origin.log)
    self.numbers = numbers
    self.bytes = bytes
    self.places = places
    (scopes, windows) = ([0], [window])
    self.known = known
    self.decoder = decoder
  }

  /// Creates a store for the records of a group that was assembled from several blocks.
  init(
    _ file: LogFile, _ firstNumber: Int, _ places: [Block.Place], ofGroup bytes: [UInt8],
    _ decoder: StowDecoder
  ) {
    (identity, log) = (file.identity, file.origin.log)
    numbers = RecordNumbers(first: firstNumber, count: places.count)
    self.decoder = decoder
    self.bytes = bytes
    self.places = places
    scopes = [0]
    windows = [PackingWindow()]
    known = nil
  }

  /// Returns a record, or nil if it is not one of these.
  func record(_ number: Int) -> RecordLog.Record? {
    numbers.place(of: number).map { RecordLog.Record(store: self, index: $0) }
  }

  /// Lends a record, unpacked if it is packed.
  func withBytes<Result>(of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
  {
    if places[index].isPacked { return try withUnpackedBytes(of: index, body) }
    return try bytes[places[index].range].withUnsafeBytes(body)
  }

  @inline(never)
  private func withUnpackedBytes<Result>(
    of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let place = places[index]
    let window = windows[scope(of: index)]
    return try bytes[place.range].withUnsafeBytes {
      try window.withUnpacked($0, size: Int(place.unpackedSize), body)
    }
  }

  /// Has a decoder take in what some records define. Most define nothing.
  fileprivate func takeDefinitions(of indices: Range<Int>, into decoder: RecordDecoder) throws {
    try bytes.withUnsafeBytes { bytes in
      // Packed ones have no prelude.
      for place in places[indices]
      where !place.isPacked && !place.range.isEmpty && bytes[Int(place.start)] == RecordPrelude.tag {
        try decoder.takeDefinitions(from: UnsafeRawBufferPointer(rebasing: bytes[place.range]))
      }
    }
  }

  /// Returns the index of the first record of a scope.
  func firstIndex(ofScope scope: Int) -> Int { scopes[scope] }

  /// Returns the scope that a record belongs to.
  func scope(of index: Int) -> Int { max(0, scopes.partitionPoint { $0 <= index } - 1) }

  /// Lends a record with what it relies on.
  func open<Value>(at index: Int, _ body: (OpenRecord) throws -> Value) throws -> Value {
    if let known {
      return try withBytes(of: index) {
        try body(try known.scope.open($0, at: known.first + index, decoder))
      }
    }
    let scope = idle.withLock { $0.take() } ?? ScopeDecoder(decoder)
    defer { idle.withLock { $0 = scope } }
    return try scope.open(at: index, of: self, body)
  }
}

/// A decoder, and the position in a scope up to which it has taken in records. Only one thread at a time has
/// it.
private final class ScopeDecoder: @unchecked Sendable {
  private let decoder: RecordDecoder
  private var scope = -1
  private var next = 0

  init(_ decoder: StowDecoder) { self.decoder = RecordDecoder(decoder) }

  /// Lends a record. The decoder keeps what it has taken in, even after an error: otherwise each of many
  /// records that cannot be decoded would cost a walk over all before it.
  func open<Value>(
    at index: Int, of store: RecordStore, _ body: (OpenRecord) throws -> Value
  ) throws -> Value {
    let scope = store.scope(of: index)
    if scope != self.scope || next > index {
      decoder.begin()
      self.scope = scope
      next = store.firstIndex(ofScope: scope)
    }
    let missing = next..<index
    next = index + 1
    try store.takeDefinitions(of: missing, into: decoder)
    return try store.withBytes(of: index) { try body(try decoder.open($0)) }
  }
}
