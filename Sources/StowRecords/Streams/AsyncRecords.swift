import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The records of a stream whose bytes come from another sequence.
///
/// ```swift
/// for try await event in chunks.records(of: Event.self) { handle(event) }
/// ```
///
/// The sequence ends when the other one does; if that ends within a record, it throws a
/// ``RecordStreamError``.
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
  /// Returns the records of the stream whose bytes this sequence yields, in parts of any size.
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
  /// Returns the records of the stream whose bytes this sequence yields.
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
