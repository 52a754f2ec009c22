import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes the records of a stream, whose bytes arrive in parts of any size.
///
/// ```swift
/// let decoder = RecordStreamDecoder()
/// for try await bytes in connection {
///   decoder.feed(bytes)
///   while let event = try decoder.next(Event.self) { handle(event) }
/// }
/// try decoder.finish()
/// ```
///
/// Safe on untrusted bytes: anything that is not a stream is an error, and no more bytes are kept than those
/// of one record and of the part that was fed last.
///
/// A stream has one receiver: a decoder must not be used from several threads at once, nor by an
/// `init(from:)` that it is running.
public final class RecordStreamDecoder {
  private let decoder: StowDecoder
  private let maximumRecordSize: Int
  /// A new object whenever the sender forgets: a container that a type has kept continues to read with the old one.
  private var definitions = DecodingDefinitions()
  /// The bytes that were fed and not read yet, from `start` on.
  private var bytes: [UInt8] = []
  private var start = 0
  private var hasBegun = false
  /// How many records were read.
  private var count = 0
  private var failure: RecordStreamError?
  /// Whether a record is being decoded: it must not be taken in twice.
  private var isDecoding = false

  /// Begins a stream.
  ///
  /// ```swift
  /// let decoder = RecordStreamDecoder(maximumRecordSize: 1 << 16)
  /// ```
  ///
  /// - Parameters:
  ///   - decoder: Decodes the values. Its options apply, its contexts do not.
  ///   - maximumRecordSize: The most bytes that a record may have. One that claims more is an error at once, without
  ///     waiting for it. 16 MiB by default.
  public init(decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 24) {
    self.decoder = decoder
    self.maximumRecordSize = maximumRecordSize
  }

  /// Takes in the next bytes of the stream, however many they are.
  ///
  /// ```swift
  /// decoder.feed(bytes)
  /// ```
  ///
  /// Takes time in proportion to them. After an error of the stream they are ignored: nothing is read any more.
  public func feed(_ part: some ContiguousBytes) { part.withUnsafeBytes { feed(bytes: $0) } }

  func feed(bytes part: some Sequence<UInt8>) {
    if failure != nil { return }
    if start > 0, start >= bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: part)
  }

  /// Decodes the next record, or returns nil until all of it was fed.
  ///
  /// ```swift
  /// while let event = try decoder.next(Event.self) { handle(event) }
  /// ```
  ///
  /// Takes time in proportion to the record.
  ///
  /// - Throws: `RecordStreamError` if the stream cannot be read any further; every later call throws it
  ///   again. `DecodingError` if the record does not hold a value of the type, or its value is not valid; the
  ///   record is then skipped.
  public func next<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    precondition(!isDecoding, "An init(from:) must not read on in its own stream.")
    if let failure { throw failure }
    guard let range = try nextRecord() else { return nil }
    defer { start = range.upperBound + StreamFrame.checksumSize }
    let checksum = bytes.littleEndian(at: range.upperBound, size: StreamFrame.checksumSize)
    return try bytes.withUnsafeBytes {
      try decode(type, UnsafeRawBufferPointer(rebasing: $0[range]), UInt32(truncatingIfNeeded: checksum))
    }
  }

  /// Checks that the stream ended after a whole record. A stream without bytes has no records.
  ///
  /// To be called once ``next(_:)`` has returned nil: a record that was not taken yet counts as incomplete.
  ///
  /// ```swift
  /// try decoder.finish()
  /// ```
  ///
  /// - Throws: `RecordStreamError` if it ended within a record, or could not be read any further before.
  public func finish() throws {
    if let failure { throw failure }
    // The head may not have been read yet, nor a zero after the last record.
    guard try nextRecord() == nil, start == bytes.count else { throw error(.incomplete) }
  }

  /// Makes an error that ends the stream. An error that a value's `init(from:)` throws, which may read a
  /// stream of its own, concerns only that record.
  private func error(_ reason: RecordStreamError.Reason) -> RecordStreamError {
    let error = RecordStreamError(record: count, reason: reason)
    failure = error
    return error
  }

  // MARK: frames

  /// Returns the range of the next record's bytes, or nil if not all of them were fed.
  private func nextRecord() throws -> Range<Int>? {
    guard try passHead() else { return nil }
    while start < bytes.count, bytes[start] == StreamFrame.forgetting {
      if definitions.size > 0 { definitions = DecodingDefinitions() }
      start += 1
    }
    guard start < bytes.count else { return nil }
    guard let size = Varint.size(ofFirst: bytes[start]) else { throw error(.damaged) }
    var offset = start
    guard size <= bytes.count - start else { return nil }
    guard let length = Varint.read(from: bytes, at: &offset, before: bytes.count), length > 0 else {
      throw error(.damaged)
    }
    guard length <= maximumRecordSize else { throw error(.recordTooLarge(size: length, limit: maximumRecordSize)) }
    guard length <= bytes.count - offset - StreamFrame.checksumSize else { return nil }
    return offset..<offset + length
  }

  /// Moves past the head of the stream. Returns false if not all of it was fed.
  private func passHead() throws -> Bool {
    if hasBegun { return true }
    let head = StreamFrame.head
    let found = bytes[start...].prefix(head.count)
    guard zip(found, head.dropLast()).allSatisfy(==) else { throw error(.notAStream) }
    guard found.count == head.count else { return false }
    guard found.last == head.last else { throw error(.laterVersion(Int(found.last ?? 0))) }
    start += head.count
    hasBegun = true
    return true
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, _ record: UnsafeRawBufferPointer, _ checksum: UInt32
  ) throws -> Value {
    guard checksum == StreamFrame.checksum(of: record, number: UInt64(count)) else { throw error(.damaged) }
    let scope: DecodingDefinitions.Scope
    do {
      definitions = try definitions.extensible(by: record)
      scope = try definitions.add(record: record, limit: StreamFrame.mostDefinitions)
    } catch {
      throw self.error(error is DecodingDefinitions.TooMany ? .tooManyDefinitions : .damaged)
    }
    isDecoding = true
    defer {
      isDecoding = false
      count += 1
    }
    return try decoder.decode(type, record, in: scope)
  }
}

// MARK: - Records of a sequence of bytes

/// The records of a stream whose bytes come from another sequence.
///
/// ```swift
/// for try await event in chunks.records(of: Event.self) { handle(event) }
/// ```
///
/// The sequence ends when the other one does; if that ends within a record, it throws a ``RecordStreamError``.
public struct AsyncRecords<Base: AsyncSequence, Record: Decodable>: AsyncSequence {
  let base: Base
  let decoder: StowDecoder
  let maximumRecordSize: Int
  let feed: (RecordStreamDecoder, Base.Element) -> Void

  /// Reads the records one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: Base.AsyncIterator
    fileprivate let decoder: RecordStreamDecoder
    fileprivate let feed: (RecordStreamDecoder, Base.Element) -> Void

    /// Returns the next record, or nil after the last.
    ///
    /// - Throws: What `RecordStreamDecoder.next(_:)` throws, and what the other sequence throws.
    public mutating func next() async throws -> Record? {
      while true {
        if let record = try decoder.next(Record.self) { return record }
        guard let part = try await base.next() else { break }
        feed(decoder, part)
      }
      try decoder.finish()
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(
      base: base.makeAsyncIterator(),
      decoder: RecordStreamDecoder(decoder: decoder, maximumRecordSize: maximumRecordSize), feed: feed)
  }
}

extension AsyncSequence where Element: ContiguousBytes {
  /// Returns the records of the stream whose bytes this sequence yields in parts of any size.
  ///
  /// ```swift
  /// for try await event in chunks.records(of: Event.self) { handle(event) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of every record.
  ///   - decoder: Decodes the values. Its options apply, its contexts do not.
  ///   - maximumRecordSize: The most bytes that a record may have; 16 MiB by default.
  public func records<Record: Decodable>(
    of type: Record.Type, decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 24
  ) -> AsyncRecords<Self, Record> {
    AsyncRecords(base: self, decoder: decoder, maximumRecordSize: maximumRecordSize) { $0.feed($1) }
  }
}

extension AsyncSequence where Element == UInt8 {
  /// Returns the records of the stream whose bytes this sequence yields one by one.
  ///
  /// ```swift
  /// for try await event in bytes.records(of: Event.self) { handle(event) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of every record.
  ///   - decoder: Decodes the values. Its options apply, its contexts do not.
  ///   - maximumRecordSize: The most bytes that a record may have; 16 MiB by default.
  public func records<Record: Decodable>(
    of type: Record.Type, decoder: StowDecoder = StowDecoder(), maximumRecordSize: Int = 1 << 24
  ) -> AsyncRecords<Self, Record> {
    AsyncRecords(base: self, decoder: decoder, maximumRecordSize: maximumRecordSize) {
      $0.feed(bytes: CollectionOfOne($1))
    }
  }
}
