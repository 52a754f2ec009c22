import Stow
import Synchronization

/// The bytes of some records and the way to their values, kept for as long as somebody has one of the records.
///
/// A record relies on the definitions of those before it in its scope, and so needs their bytes. It can be decoded
/// late, in any order, and from many threads: whoever decodes takes the decoder out and puts it back, and makes one
/// of his own if there is none at the moment.
final class RecordStore: Sendable {
  let firstNumber: Int
  /// The number after that of the last record, there or left out.
  let endNumber: Int
  private let gaps: [Block.Gap]
  private let bytes: [UInt8]
  private let places: [Block.Place]
  private let scopes: [Int]
  private let windows: [PackingWindow]
  private let decoder: StowDecoder
  private let idle = Mutex<ScopeDecoder?>(nil)

  /// Records of a block, of which these are the bytes.
  init(_ run: Block.Run, _ bytes: [UInt8], _ decoder: StowDecoder) {
    (firstNumber, endNumber) = (run.firstNumber, run.endNumber)
    gaps = run.gaps
    self.decoder = decoder
    self.bytes = bytes
    places = run.records
    scopes = run.scopes
    windows = run.windows
  }

  /// Records of a group that was put together from the parts of several blocks.
  init(_ firstNumber: Int, _ places: [Block.Place], ofGroup bytes: [UInt8], _ decoder: StowDecoder) {
    (self.firstNumber, endNumber) = (firstNumber, firstNumber + places.count)
    gaps = []
    self.decoder = decoder
    self.bytes = bytes
    self.places = places
    scopes = [0]
    windows = [PackingWindow()]
  }

  /// How many records there are.
  var count: Int { places.count }

  /// The number of a record in its log.
  func number(of index: Int) -> Int {
    if gaps.isEmpty { return firstNumber + index }
    let gap = gaps.partitionPoint { $0.index <= index }
    return firstNumber + index + (gap == 0 ? 0 : gaps[gap - 1].skipped)
  }

  /// The first record that has a number or a higher one; as many as there are, if none has.
  func index(from number: Int) -> Int {
    let offset = max(0, number - firstNumber)
    if gaps.isEmpty { return min(offset, places.count) }
    // The gaps that end before the number, and after them the records up to the next one.
    let gap = gaps.partitionPoint { $0.index + $0.skipped <= offset }
    let next = gap < gaps.count ? gaps[gap].index : places.count
    return min(offset - (gap == 0 ? 0 : gaps[gap - 1].skipped), next)
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

  /// The first record of a scope.
  func firstIndex(ofScope scope: Int) -> Int { scopes[scope] }

  /// The scope that a record belongs to.
  func scope(of index: Int) -> Int { max(0, scopes.partitionPoint { $0 <= index } - 1) }

  /// Hands a record to `body`, with a decoder that has taken in what it relies on.
  func decode<Value>(
    at index: Int, by body: (RecordDecoder, UnsafeRawBufferPointer) throws -> Value
  ) throws -> Value {
    let scope = idle.withLock { $0.take() } ?? ScopeDecoder(decoder)
    defer { idle.withLock { $0 = scope } }
    return try scope.decode(at: index, of: self, by: body)
  }
}

extension Array {
  /// How many elements `isBefore` holds for, which are the first ones.
  func partitionPoint(where isBefore: (Element) throws -> Bool) rethrows -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if try isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A decoder, and which records of a scope it has taken in. Only one thread at a time has it.
private final class ScopeDecoder: @unchecked Sendable {
  private let decoder: RecordDecoder
  private var scope = -1
  private var next = 0

  init(_ decoder: StowDecoder) { self.decoder = RecordDecoder(decoder) }

  /// Decodes a record. What it has taken in stays, after an error too: otherwise each of many records that cannot be
  /// decoded would cost a walk over all before it.
  func decode<Value>(
    at index: Int, of store: RecordStore, by body: (RecordDecoder, UnsafeRawBufferPointer) throws -> Value
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
    return try store.withBytes(of: index) { try body(decoder, $0) }
  }
}
