import Stow
import Synchronization

/// The bytes of some records and what they rely on, kept for as long as one of the records is.
///
/// A record relies on the definitions of those before it in its scope, and so needs their bytes. When the first
/// record of a scope is opened, all definitions of the scope are taken in. So records can be decoded late, in any
/// order, and on many threads.
final class RecordStore: Sendable {
  /// The identity of the file, and the number of the first record that it may have.
  let identity: UInt64
  let fileFirst: Int
  /// The records, and their places in the bytes.
  let run: Block.Run
  /// The numbers of the records that count. Where heads contradict each other, a block has others, too.
  let counting: Range<Int>
  private let bytes: [UInt8]
  private let decoder: StowDecoder
  /// The definitions of each scope, as far as they are known.
  private let known: Mutex<[KnownScope?]>
  /// The index of the first record among those of its block.
  private let first: Int

  /// Creates a store for records in these bytes.
  ///
  /// - Parameters:
  ///   - counting: The numbers that count; nil if all do.
  ///   - known: The scope of all records, if it is known, and the index of the first record among those of its block.
  init(
    _ file: LogFile, _ run: Block.Run, counting: Range<Int>? = nil, _ bytes: [UInt8],
    known: (scope: KnownScope, first: Int)? = nil, _ decoder: StowDecoder
  ) {
    (identity, fileFirst) = (file.identity, file.first)
    self.run = run
    self.counting = counting ?? run.numbers.first..<run.numbers.end
    self.bytes = bytes
    self.known = Mutex(known.map { [$0.scope] } ?? Array(repeating: nil, count: run.scopes.count))
    first = known?.first ?? 0
    self.decoder = decoder
  }

  /// Returns a record, or nil if it is not one of these.
  func record(_ number: Int) -> RecordLog.Record? {
    run.numbers.place(of: number).map { RecordLog.Record(store: self, index: $0) }
  }

  /// Lends a record, unpacked if it is packed.
  func withBytes<Result>(of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    if run.records[index].isPacked { return try withUnpackedBytes(of: index, body) }
    return try bytes[run.records[index].range].withUnsafeBytes(body)
  }

  @inline(never)
  private func withUnpackedBytes<Result>(
    of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let place = run.records[index]
    let window = run.windows[run.scope(of: index)]
    return try bytes[place.range].withUnsafeBytes { try window.withUnpacked($0, size: Int(place.unpackedSize), body) }
  }

  /// Lends the decoder, a record, and the definitions that it relies on.
  func open<Value>(
    at index: Int, _ body: (StowDecoder, UnsafeRawBufferPointer, DecodingDefinitions.Scope) throws -> Value
  ) throws -> Value {
    let scope = knownScope(run.scope(of: index))
    return try withBytes(of: index) { try body(decoder, $0, try scope.definitions(of: $0, at: first + index)) }
  }

  private func knownScope(_ scope: Int) -> KnownScope {
    known.withLock { known in
      if let found = known[scope] { return found }
      let made = KnownScope(scope, of: run, in: bytes, keepsShortStrings: true)
      known[scope] = made
      return made
    }
  }
}
