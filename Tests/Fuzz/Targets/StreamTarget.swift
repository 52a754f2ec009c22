import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads streams of any bytes, cut in any way; and streams that were right, and cut or changed.
enum StreamTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    guard bytes.count >= 2 else { return }
    let rest = Array(bytes[2...])
    switch bytes[0] % 3 {
    case 0: try compareCuts(rest, seed: bytes[1])
    case 1: try compareCuts(madeUp(rest), seed: bytes[1])
    default: try changeStream(rest, seed: bytes[1])
    }
  }

  /// What came of reading a stream.
  private struct Outcome: Equatable {
    var records = 0
    var refused = 0
    var error: RecordStreamError?
  }

  // MARK: - Any bytes

  /// However a stream is cut, the same comes of it.
  private static func compareCuts(_ stream: [UInt8], seed: UInt8) throws {
    let whole = try read(GenericValue.self, [stream[...]]) { _ in }
    let parts = try read(GenericValue.self, cut(stream, seed)) { _ in }
    guard parts == whole else { throw Finding("a stream is read otherwise when it is cut") }
    _ = try read([Record<Tabled>].self, [stream[...]]) { _ in }
  }

  private static func cut(_ stream: [UInt8], _ seed: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var state = Int(seed)
    var start = 0
    while start < stream.count {
      state = (state * 109 + 89) % 256
      let end = min(stream.count, start + (seed < 64 ? 1 : state % 40))
      parts.append(stream[start..<end])
      start = end
    }
    return parts
  }

  /// Right lengths and checksums around records of any bytes: each as long as the byte before it says.
  private static func madeUp(_ script: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x7F, 3, 1]
    var (next, number) = (0, UInt64(0))
    while next < script.count {
      let length = Int(script[next]) % 0xE0
      next += 1
      stream.append(UInt8(length))
      guard length > 0 else { continue }
      let record = Array(script[next..<min(script.count, next + length)])
      let checksum = PlainChecksum.of(withUnsafeBytes(of: number.littleEndian) { Array($0) } + record)
      stream += record + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
      next += length
      number += 1
    }
    return stream
  }

  // MARK: - Streams that were right

  private struct Item: Codable, Equatable {
    var id: Int
    var name: String
    var tags: [String: Int]?
  }

  private static func items(_ script: [UInt8]) -> [Item] {
    script.prefix(60).enumerated().map { index, byte in
      Item(id: index * Int(byte), name: "name \(byte % 11)", tags: byte % 3 == 0 ? ["tag \(byte % 7)": index] : nil)
    }
  }

  /// What is read of a stream that was changed is how it began.
  private static func changeStream(_ script: [UInt8], seed: UInt8) throws {
    let items = items(script)
    let encoder = RecordStreamEncoder()
    var stream = try items.flatMap { try encoder.encode($0) }
    guard try values(stream, seed).found == items else { throw Finding("a stream does not give back its records") }
    guard !stream.isEmpty else { return }
    let place = (Int(seed) << 8 | Int(script.last ?? 0)) % stream.count
    let change = UInt8(truncatingIfNeeded: script.count) | 1
    stream[place] ^= change
    let changed = try values(stream, seed)
    guard changed.outcome.error != nil, items.starts(with: changed.found) else {
      throw Finding("a change at \(place) goes unnoticed")
    }
    stream[place] ^= change
    let cut = try values(Array(stream[..<place]), seed)
    guard items.starts(with: cut.found), cut.found.count < items.count else {
      throw Finding("a stream that ends early has all records")
    }
  }

  private static func values(_ stream: [UInt8], _ seed: UInt8) throws -> (found: [Item], outcome: Outcome) {
    var found: [Item] = []
    let outcome = try read(Item.self, cut(stream, seed)) { found.append($0) }
    return (found, outcome)
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, _ parts: [ArraySlice<UInt8>], _ body: (Value) -> Void
  ) throws -> Outcome {
    let decoder = RecordStreamDecoder(maximumRecordSize: 1 << 16)
    var outcome = Outcome()
    do {
      for part in parts {
        decoder.feed(part)
        while try readOne(decoder, &outcome, body) {}
      }
      try decoder.finish()
    } catch let error as RecordStreamError {
      outcome.error = error
    } catch let error as Finding {
      throw error
    } catch {
      throw Finding("a stream throws \(error)")
    }
    return outcome
  }

  /// Reads a record; false if not all of it was fed.
  private static func readOne<Value: Decodable>(
    _ decoder: RecordStreamDecoder, _ outcome: inout Outcome, _ body: (Value) -> Void
  ) throws -> Bool {
    do {
      guard let value = try decoder.next(Value.self) else { return false }
      outcome.records += 1
      body(value)
    } catch is DecodingError {
      outcome.refused += 1
    }
    return true
  }
}
