import Foundation
import Stow
import StowRecords
import Testing

@Suite struct RecordStreamTests {
  struct Event: Codable, Equatable, Sendable {
    var name: String
    var level: Int
    var detail: String?
  }

  private let events = (0..<200).map {
    Event(name: "event \($0 % 7)", level: $0, detail: $0 % 3 == 0 ? "detail \($0)" : nil)
  }

  private func stream(of events: [Event]) throws -> [UInt8] {
    let encoder = RecordStreamEncoder()
    return try events.flatMap { try encoder.encode($0) }
  }

  /// All records of a stream that is fed in parts.
  private func read(_ bytes: [UInt8], inPartsOf size: Int) throws -> [Event] {
    let decoder = RecordStreamDecoder()
    var found: [Event] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      decoder.feed(Array(bytes[start..<min(start + size, bytes.count)]))
      while let event = try decoder.next(Event.self) { found.append(event) }
    }
    try decoder.finish()
    return found
  }

  @Test(arguments: [1, 2, 3, 7, 64, 100_000]) func recordsArriveInPartsOfAnySize(size: Int) throws {
    #expect(try read(try stream(of: events), inPartsOf: size) == events)
  }

  @Test func aStreamMayBeCutAnywhere() throws {
    let few = Array(events.prefix(5))
    let bytes = try stream(of: few)
    for cut in 0...bytes.count {
      let decoder = RecordStreamDecoder()
      var found: [Event] = []
      for part in [bytes[..<cut], bytes[cut...]] {
        decoder.feed(part)
        while let event = try decoder.next(Event.self) { found.append(event) }
      }
      #expect(found == few)
    }
  }

  @Test func keysAndRepeatedStringsAreSentOnce() throws {
    let encoder = RecordStreamEncoder()
    let sizes = try (0..<3).map { _ in try encoder.encode(events[1]).count }
    #expect(sizes[2] < sizes[1] && sizes[1] < sizes[0])
    // Length, a checksum, a record with its length, and three values of a byte.
    #expect(sizes[2] <= 12)
  }

  /// The first record with keys of a type defines all that were named, so that later ones need no others.
  @Test func keysWithoutAValueAreSentWithTheOthers() throws {
    let encoder = RecordStreamEncoder()
    _ = try encoder.encode(Event(name: "a", level: 1))
    let second = try encoder.encode(Event(name: "a", level: 1, detail: "b"))
    #expect(second[1] != 0x1F)
    // Length, a checksum, a record with its length, and values of 2, 1 and 2 bytes.
    #expect(second.count <= 13)
  }

  @Test func stringsWhoseTextTakesFourBytesAreSentOnce() throws {
    for (string, size) in [("#ab", 1), ("#a", 3)] {
      let encoder = RecordStreamEncoder()
      let last = try (0..<3).map { _ in try encoder.encode(string) }[2]
      #expect(last.count == 1 + size + 4, "\(string)")
    }
  }

  @Test func aMapThatIsAloneInItsRecordStaysAMap() throws {
    let encoder = RecordStreamEncoder()
    let map = ["first key": 1]
    let second = try (0..<2).map { _ in try encoder.encode([map, map]) }[1]
    #expect(second[2] & 0xF0 == 0xF0)
    let alone = try (0..<3).map { _ in try encoder.encode(map) }[2]
    #expect(alone[1] & 0xE0 == 0xC0)
  }

  @Test func everyChangedByteIsNoticed() throws {
    let few = Array(events.prefix(4))
    let bytes = try stream(of: few)
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        let decoder = RecordStreamDecoder()
        decoder.feed(changed)
        var found: [Event] = []
        do {
          while let event = try decoder.next(Event.self) { found.append(event) }
          try decoder.finish()
          Issue.record("byte \(index), bit \(bit) went unseen")
        } catch let error as RecordStreamError {
          #expect(error.record == found.count)
          #expect(throws: error) { try decoder.next(Event.self) }
        }
        #expect(few.starts(with: found))
      }
    }
  }

  @Test func lostAndRepeatedRecordsAreNoticed() throws {
    let encoder = RecordStreamEncoder()
    let parts = try events.prefix(4).map { try encoder.encode($0) }
    for order in [[0, 2, 3], [0, 1, 1, 2], [0, 2, 1]] {
      let decoder = RecordStreamDecoder()
      for number in order { decoder.feed(parts[number]) }
      #expect(throws: RecordStreamError.self) { while try decoder.next(Event.self) != nil {} }
    }
  }

  @Test func aRecordThatClaimsTooMuchIsRefusedAtOnce() throws {
    let decoder = RecordStreamDecoder(maximumRecordSize: 1000)
    decoder.feed([0x7F, 0x03, 0x01, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF] as [UInt8])
    #expect(throws: RecordStreamError.self) { try decoder.next(Event.self) }
    let large = try RecordStreamEncoder().encode([String](repeating: "0123456789", count: 1000).joined())
    let small = RecordStreamDecoder(maximumRecordSize: 1000)
    small.feed(large.prefix(10))
    do {
      _ = try small.next(String.self)
      Issue.record("not refused")
    } catch let error as RecordStreamError {
      #expect(error.reason == .recordTooLarge(size: 10_004, limit: 1000))
    }
    let whole = RecordStreamDecoder(maximumRecordSize: 10_004)
    whole.feed(large)
    #expect(try whole.next(String.self)?.utf8.count == 10_000)
  }

  @Test func whatIsNoStreamIsRefused() throws {
    for bytes in [[0x7F, 0x02], [0x91], Array("HTTP/1.1".utf8)] as [[UInt8]] {
      let decoder = RecordStreamDecoder()
      decoder.feed(bytes)
      do {
        _ = try decoder.next(Event.self)
        Issue.record("not refused")
      } catch let error as RecordStreamError {
        #expect(error.reason == .notAStream)
      }
    }
    let decoder = RecordStreamDecoder()
    decoder.feed([0x7F, 0x03, 0x02] as [UInt8])
    do {
      _ = try decoder.next(Event.self)
      Issue.record("not refused")
    } catch let error as RecordStreamError {
      #expect(error.reason == .laterVersion(2))
    }
  }

  @Test func aRecordOfAnotherTypeIsPassedOver() throws {
    let decoder = RecordStreamDecoder()
    decoder.feed(try stream(of: Array(events.prefix(3))))
    #expect(try decoder.next(Event.self) == events[0])
    #expect(throws: DecodingError.self) { try decoder.next([Int].self) }
    #expect(try decoder.next(Event.self) == events[2])
  }

  @Test func aValueThatCannotBeEncodedSendsNothing() throws {
    struct Broken: Encodable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: "broken"))
      }
    }
    let encoder = RecordStreamEncoder()
    let decoder = RecordStreamDecoder()
    for event in events {
      #expect(throws: EncodingError.self) { try encoder.encode(Broken()) }
      decoder.feed(try encoder.encode(event))
      #expect(try decoder.next(Event.self) == event)
    }
  }

  @Test func definitionsAreForgottenBeforeTheyAreTooMany() throws {
    let encoder = RecordStreamEncoder()
    let decoder = RecordStreamDecoder()
    for number in 0..<20_000 {
      let event = Event(name: "a name that recurs, number \(number / 2)", level: number, detail: nil)
      decoder.feed(try encoder.encode(event))
      #expect(try decoder.next(Event.self) == event)
    }
  }

  @Test func aSenderThatNeverForgetsIsRefused() throws {
    // A stream made by hand, each record of which defines one more symbol.
    let decoder = RecordStreamDecoder()
    decoder.feed(Self.head)
    var reason: RecordStreamError.Reason?
    for number in 0..<100 where reason == nil {
      let prelude = Self.prelude(20_000, "\(number % 10)")
      decoder.feed(Self.framed(prelude + [0x91], number: number))
      let found = Result { while try decoder.next(Int.self) != nil {} }
      if case .failure(let error) = found { reason = (error as? RecordStreamError)?.reason }
    }
    #expect(reason == .tooManyDefinitions)
  }

  private static let head: [UInt8] = [0x7F, 0x03, 0x01]
  private static let limit = 1 << 20

  /// A record with its length in 5 bytes, and its checksum.
  private static func framed(_ record: [UInt8], number: Int) -> [UInt8] {
    var checksum = Checksum()
    checksum.update(UInt64(number))
    record.withUnsafeBytes { checksum.update($0) }
    return littleEndian(record.count, after: 0xFC) + record
      + withUnsafeBytes(of: checksum.value.littleEndian) { Array($0) }
  }

  private static func littleEndian(_ number: Int, after first: UInt8) -> [UInt8] {
    [first] + withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) }
  }

  /// A prelude of so many bytes, at least 20,000, with one symbol that ends so.
  private static func prelude(_ size: Int, _ end: String) -> [UInt8] {
    let header = size < 268_000 ? 3 : 5
    let length = size - 4 - header
    let uint =
      header == 5
      ? littleEndian(length, after: 0xFC)
      : [
        UInt8(0xF8 + (length - 6_368) >> 16), UInt8(truncatingIfNeeded: length - 6_368),
        UInt8(truncatingIfNeeded: (length - 6_368) >> 8),
      ]
    return [0x1F, 0x01, 0xE1] + uint + Array(String(repeating: "-", count: length - 1).utf8) + Array(end.utf8)
      + [0x00]
  }

  @Test func theDefinitionsOfARecordAreCheckedBeforeItIsTakenIn() throws {
    // What the preludes of a stream take, and whether they are too many; a zero says that they are forgotten.
    let streams: [(sizes: [Int], isRefused: Bool)] = [
      ([Self.limit], false), ([Self.limit + 1], true), ([3 << 20], true),
      ([Self.limit - 20_000, 20_000], false), ([Self.limit - 20_000, 20_001], true),
      ([Self.limit, 0, Self.limit], false), ([Self.limit, 0, 20_000, Self.limit], true),
      // One without symbols and shapes counts too.
      ([Self.limit - 3, 3], false), ([Self.limit - 2, 3], true),
    ]
    for (sizes, isRefused) in streams {
      var bytes = Self.head
      let records = sizes.filter { $0 > 0 }
      var number = 0
      for size in sizes {
        guard size > 0 else {
          bytes.append(0)
          continue
        }
        let prelude = size == 3 ? [0x1F, 0, 0] : Self.prelude(size, "\(number)")
        bytes += Self.framed(prelude + [0x91], number: number)
        number += 1
      }
      let decoder = RecordStreamDecoder()
      decoder.feed(bytes)
      for _ in records.dropLast() { #expect(try decoder.next(Int.self) == 1) }
      if isRefused {
        let error = #expect(throws: RecordStreamError.self) { try decoder.next(Int.self) }
        #expect(error?.reason == .tooManyDefinitions && error?.record == records.count - 1)
        #expect(throws: RecordStreamError.self) { try decoder.next(Int.self) }
      } else {
        #expect(try decoder.next(Int.self) == 1)
        try decoder.finish()
      }
    }
  }

  @Test func aRecordThatWouldDefineTooMuchDefinesNothing() throws {
    let names = (0..<30_000).map { "a string that recurs, and that has a number: \($0)" }
    let value = names.map { [$0, $0] }
    let encoder = RecordStreamEncoder()
    let decoder = RecordStreamDecoder()
    for _ in 0..<3 {
      decoder.feed(try encoder.encode(events[0]))
      #expect(try decoder.next(Event.self) == events[0])
      decoder.feed(try encoder.encode(value))
      #expect(try decoder.next([[String]].self) == value)
      decoder.feed(try encoder.encode(events))
      #expect(try decoder.next([Event].self) == events)
    }
  }

  @Test func anInvalidRecordIsPassedOverIfItsDefinitionsAreValid() throws {
    let prelude: [UInt8] = [0x1F, 0x01, 0x83, 0x41, 0x64, 0x61, 0x00]
    // A reserved tag, no value, something after the value, one that is cut off, and one that names a context.
    let invalid: [[UInt8]] = [
      prelude + [0x7D], prelude, prelude + [0x91, 0x91], prelude + [0xE2, 0x91],
      [0x7F, 0x01, 0, 0, 0, 0, 0x91],
    ]
    var bytes = Self.head
    for (number, record) in invalid.enumerated() { bytes += Self.framed(record, number: number) }
    bytes += Self.framed([0xE2, 0x50, 0x53], number: invalid.count)
    let decoder = RecordStreamDecoder()
    decoder.feed(bytes)
    for _ in invalid { #expect(throws: DecodingError.self) { try decoder.next([String].self) } }
    #expect(try decoder.next([String].self) == ["Ada", "Ada"])
    try decoder.finish()
  }

  @Test func aRecordWithBrokenDefinitionsEndsTheStream() throws {
    for record in [[0x1F, 0x01, 0x81, 0xFF, 0x00, 0x91], [0x1F, 0x00, 0x01, 0x01, 0xC0, 0x91], [0x1F]]
      as [[UInt8]]
    {
      let decoder = RecordStreamDecoder()
      decoder.feed(Self.head + Self.framed(record, number: 0) + Self.framed([0x91], number: 1))
      for _ in 0..<2 {
        let error = #expect(throws: RecordStreamError.self) { try decoder.next(Int.self) }
        #expect(error?.reason == .damaged && error?.record == 0)
      }
      #expect(throws: RecordStreamError.self) { try decoder.finish() }
    }
  }

  @Test func aLengthOfZeroInMoreBytesIsRefused() throws {
    for length in [[0xFC, 0, 0, 0, 0], [0xFD, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
      let decoder = RecordStreamDecoder()
      decoder.feed(Self.head + Self.framed([0x91], number: 0) + length)
      #expect(try decoder.next(Int.self) == 1)
      let error = #expect(throws: RecordStreamError.self) { try decoder.next(Int.self) }
      #expect(error?.reason == .damaged)
    }
  }

  @Test func aStreamOfNoBytesHasNoRecords() throws {
    for count in 0...3 {
      let decoder = RecordStreamDecoder()
      decoder.feed(Self.head.prefix(count))
      #expect(try decoder.next(Int.self) == nil)
      if count == 0 || count == 3 {
        try decoder.finish()
      } else {
        let error = #expect(throws: RecordStreamError.self) { try decoder.finish() }
        #expect(error?.reason == .incomplete)
      }
    }
    try RecordStreamDecoder().finish()
  }

  @Test func aStreamMayEndAfterItsHeadAndAfterWhatSaysThatDefinitionsAreForgotten() throws {
    let decoder = RecordStreamDecoder()
    decoder.feed(Self.head)
    try decoder.finish()
    decoder.feed(Self.framed([0x91], number: 0) + [0, 0])
    #expect(try decoder.next(Int.self) == 1)
    try decoder.finish()
    decoder.feed(Self.framed([0x91], number: 1))
    // One that was not read.
    let error = #expect(throws: RecordStreamError.self) { try decoder.finish() }
    #expect(error?.reason == .incomplete)
  }

  @Test func recordsOfAnAsyncSequence() async throws {
    let bytes = try stream(of: events)
    let parts = AsyncStream { continuation in
      for start in stride(from: 0, to: bytes.count, by: 10) {
        continuation.yield(Data(bytes[start..<min(start + 10, bytes.count)]))
      }
      continuation.finish()
    }
    var found: [Event] = []
    for try await event in parts.records(of: Event.self) { found.append(event) }
    #expect(found == events)
    let single = AsyncStream { continuation in
      for byte in bytes.dropLast() { continuation.yield(byte) }
      continuation.finish()
    }
    found = []
    await #expect(throws: RecordStreamError.self) {
      for try await event in single.records(of: Event.self) { found.append(event) }
    }
    #expect(found == events.dropLast())
  }

  /// Keeps the container that it is decoded from.
  private struct Keeper: Decodable {
    enum CodingKeys: String, CodingKey { case name, level, detail }

    let container: KeyedDecodingContainer<CodingKeys>

    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: CodingKeys.self) }
  }

  @Test func aContainerThatIsKeptReadsOnWhenTheDefinitionsAreForgotten() throws {
    let decoder = RecordStreamDecoder()
    decoder.feed(try stream(of: [events[0]]))
    let keeper = try #require(try decoder.next(Keeper.self))
    // The sender forgets, and defines something else.
    let other = try RecordStreamEncoder().encode(["other": 1])
    let record = other.dropFirst(3).dropLast(4)
    var checksum = Checksum()
    checksum.update(UInt64(1))
    Array(record.dropFirst()).withUnsafeBytes { checksum.update($0) }
    decoder.feed([0] + Array(record) + withUnsafeBytes(of: checksum.value.littleEndian) { Array($0) })
    #expect(try decoder.next([String: Int].self) == ["other": 1])
    #expect(Set(keeper.container.allKeys) == [.name, .level, .detail])
    #expect(try keeper.container.decode(String.self, forKey: .name) == events[0].name)
  }

  /// A value that is a stream itself.
  private struct Nested: Decodable {
    init(from decoder: any Decoder) throws {
      let stream = RecordStreamDecoder()
      stream.feed(try decoder.singleValueContainer().decode(Data.self))
      _ = try stream.next(Event.self)
    }
  }

  @Test func aStreamThatBreaksWithinARecordBreaksThatRecordOnly() throws {
    let (encoder, decoder) = (RecordStreamEncoder(), RecordStreamDecoder())
    decoder.feed(try encoder.encode(Data("no stream".utf8)))
    decoder.feed(try encoder.encode(events[0]))
    #expect(throws: RecordStreamError.self) { try decoder.next(Nested.self) }
    #expect(try decoder.next(Event.self) == events[0])
    try decoder.finish()
  }
}
