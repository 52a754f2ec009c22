import Foundation
import Synchronization
import Testing

@testable import StowRecords

/// Records by their numbers, of blocks that were read before and of those that were not.
@Suite("Looking up")
struct LookUpTests {
  private static let count = 3_000

  /// Blocks of one frame and of many, several scopes in a block, and records that have bytes in several blocks.
  private static func event(_ id: Int) -> Event {
    Event(id, size: id % 1_000 == 999 ? 150_000 : id % 100 == 7 ? 3_000 : id % 150)
  }

  private static func log(
    on disk: SimulatedDisk, packing: RecordLog.Packing = .none, cacheSize: Int = 1 << 24
  ) throws -> RecordLogReader {
    for part in 0..<3 {
      let log = try RecordLog(at: "/log", on: disk, packing: packing)
      for id in (part * count / 3)..<((part + 1) * count / 3) {
        try log.append(event(id))
        if id % 1_000 < 300 { try log.flush() }
      }
      try log.close()
    }
    return try RecordLogReader(at: "/log", on: disk, cacheSize: cacheSize)
  }

  private func expectEvent(
    _ number: Int, in log: RecordLogReader, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let record = try log.record(at: number)
    #expect(record.number == number, sourceLocation: sourceLocation)
    #expect(try record.decode(Event.self) == Self.event(number), sourceLocation: sourceLocation)
  }

  @Test(arguments: [(RecordLog.Packing.none, 1 << 24), (.words, 1 << 24), (.none, 20_000), (.words, 0)])
  func allRecordsAreFoundInAnyOrder(_ packing: RecordLog.Packing, _ cacheSize: Int) throws {
    let log = try Self.log(on: SimulatedDisk(), packing: packing, cacheSize: cacheSize)
    let sizes = log.records.map(\.size)
    var random = SeededGenerator(seed: 36)
    for _ in 0..<1_200 {
      let number = random.below(Self.count)
      try expectEvent(number, in: log)
      #expect(try log.record(at: number).size == sizes[number])
      // Its neighbours, too.
      try expectEvent((number + 1) % Self.count, in: log)
      #expect(log.knownRecords.size <= cacheSize)
    }
    #expect(log.damage.isEmpty)
    #expect(throws: RecordLogError.self) { try log.record(at: Self.count) }
    #expect(throws: RecordLogError.self) { try log.record(at: -1) }
  }

  /// As on a system, the clock goes on between the changes.
  @Test func changesOfAFileThatWasLeftAloneAreSeenAtOnce() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    let reader = try RecordLogReader(at: "/log", on: disk)
    for id in 0..<100 { try log.append(Self.event(id)) }
    try log.flush()
    disk.now += 1_000
    #expect(reader.count == 100)
    for id in [3, 4, 99, 3] { try expectEvent(id, in: reader) }
    try log.append(Self.event(100))
    try log.flush()
    try expectEvent(100, in: reader)
    disk.now += 1_000
    for id in [3, 4, 100] { try expectEvent(id, in: reader) }
    try log.compact { $0.number % 2 == 1 }
    try expectEvent(3, in: reader)
    #expect(throws: RecordLogError.self) { try reader.record(at: 4) }
    try log.close()
    disk.now += 1_000
    #expect(reader.count == 101)
    try expectEvent(5, in: reader)
    // The file goes away, and comes back with more in it.
    disk.move("/log", to: "/old")
    disk.now += 1_000
    try expectEvent(5, in: reader)
    disk.move("/old", to: "/log")
    let again = try RecordLog(at: "/log", on: disk)
    try again.append(Self.event(101))
    try again.flush()
    try expectEvent(101, in: reader)
  }

  /// As when a backup is put back beside a reader.
  @Test(arguments: [nil, 65_536], [false, true])
  func recordsOfACopyThatWentOnOtherwiseAreReadAnew(_ segmentSize: Int?, _ isLonger: Bool) throws {
    let disk = SimulatedDisk()
    func append(_ names: [String]) throws {
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
      for name in names { try log.append([name, "and \(name)", "and \(name)"]) }
      try log.close()
    }
    try append(["Ada", "Grace"])
    disk.duplicate("/log", as: "/backup")
    try append(["Edsger", "Barbara"])
    let reader = try RecordLogReader(at: "/log", on: disk)
    let index = try reader.index { (names: [String]) in names[0] }
    #expect(try reader.decode([String].self, at: 3)[0] == "Barbara")
    disk.move("/log", to: "/old")
    disk.move("/backup", to: "/log")
    // The last of these begins a second segment.
    let more = isLonger ? [String(repeating: "Anita", count: 20_000), "Barbara"] : []
    try append(["Tony", "Leslie"] + more)
    reader.lookAgain()
    #expect(reader.count == 4 + more.count)
    #expect(try reader.decode([String].self, at: 3)[0] == "Leslie")
    #expect(try reader.decode([String].self, at: 2)[0] == "Tony")
    #expect(try index.record(for: "Barbara")?.number == (isLonger ? 5 : nil))
    #expect(try index.record(for: "Leslie")?.number == 3)
  }

  /// A number means one record for as long as a reader is open.
  @Test(arguments: [nil, 65_536])
  func anotherLogInItsPlaceIsNotTakenForTheLog(_ segmentSize: Int?) throws {
    let disk = SimulatedDisk()
    func makeLog(_ ids: Range<Int>) throws {
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
      for id in ids { try log.append(Event(id, size: 10_000)) }
      // That a segment is not there is seen at once.
      try log.removeRecords(before: ids.count - 20)
      try log.close()
    }
    try makeLog(0..<30)
    let reader = try RecordLogReader(at: "/log", on: disk)
    let index = try reader.index(of: Event.self, by: \.id)
    let last = reader.count - 1
    for path in disk.files(in: "/log") { try disk.remove(path) }
    if segmentSize == nil { try disk.remove("/log") }
    try makeLog(100..<170)
    disk.now += 1_000
    #expect(reader.count == last + 1)
    #expect(try reader.decode(Event.self, at: last).id == last)
    #expect { _ = try reader.last } throws: { ($0 as? RecordLogError)?.reason == .replaced }
    #expect { try index.value(for: last) } throws: { ($0 as? RecordLogError)?.reason == .replaced }
    #expect(try RecordLogReader(at: "/log", on: disk).count == 70)
  }

  private func expectReason(_ reason: RecordLogError.Reason, _ body: () throws -> RecordLog.Record) {
    #expect { try body() } throws: { ($0 as? RecordLogError)?.reason == reason }
  }

  /// Few bytes of a record must not ask for many copies of what one before it defines.
  @Test func aLongStringOfAnEarlierRecordIsTheSameInEachPlace() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    let (long, short) = (String(repeating: "long ", count: 2_000), "short")
    for _ in 0..<3 { try log.append([long, short, long, short, long]) }
    try log.flush()
    let reader = try RecordLogReader(at: "/log", on: disk)
    for number in [2, 1, 0, 2] {
      let strings = try reader.decode([String].self, at: number)
      #expect(strings == [long, short, long, short, long])
      let addresses = [0, 2, 4].map { index in
        strings[index].utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) }
      }
      #expect(Set(addresses).count == 1)
    }
  }

  @Test func aRecordMayBeDecodedWhenItsBlockIsForgotten() throws {
    let log = try Self.log(on: SimulatedDisk(), cacheSize: 0)
    let records = try stride(from: 0, to: Self.count, by: 17).map { try log.record(at: $0) }
    for record in records.reversed() { #expect(try record.decode(Event.self) == Self.event(record.number)) }
  }

  @Test func whatIsAppendedLaterIsFound() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    var reader: RecordLogReader?
    for id in 0..<1_500 {
      try log.append(Self.event(id))
      try expectEvent(id, in: log)
      try expectEvent(id / 2, in: log)
      guard id % 10 == 0 else { continue }
      if reader == nil { reader = try RecordLogReader(at: "/log", on: disk) }
      try reader.map { try expectEvent(id, in: $0) }
    }
  }

  @Test func afterACompactionTheRecordsAreThoseOfTheNewFile() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<500 { try log.append(Event(id)) }
    try log.flush()
    let reader = try RecordLogReader(at: "/log", on: disk)
    for number in 0..<500 {
      #expect(try log.decode(Event.self, at: number).id == number)
      #expect(try reader.decode(Event.self, at: number).id == number)
    }
    try log.compact { $0.number % 2 == 1 }
    // Twice, so that the block is known.
    for number in Array(0..<500) + (0..<500) {
      for log in [log, reader] {
        if number % 2 == 1 {
          #expect(try log.decode(Event.self, at: number).id == number)
        } else {
          #expect(throws: RecordLogError.self) { try log.record(at: number) }
        }
      }
    }
  }

  @Test func bytesThatChangeInABlockThatIsKnownAreNotTaken() throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    // In the middle of a block of one frame.
    let number = 800
    for other in 600..<1_000 { try expectEvent(other, in: log) }
    let whole = try #require(disk.bytes(of: "/log"))
    let text = Array(Self.event(number).text.utf8)
    let place = try #require(whole.indices.first { whole[$0...].starts(with: text) })
    var bytes = whole
    bytes[place] ^= 1
    disk.setBytes(bytes, of: "/log")
    // The record before it is in memory yet; one of another block takes its place.
    try expectEvent(10, in: log)
    #expect(throws: RecordLogError.self) { try log.record(at: number) }
    #expect(log.damage.contains { $0.records.contains(number) })
    disk.setBytes(whole, of: "/log")
    try expectEvent(number, in: log)
  }

  @Test func whatCannotBeReadAgainIsAnError() throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    for number in [10, 800, 10] { try expectEvent(number, in: log) }
    disk.failingOperation = "read"
    do {
      _ = try log.record(at: 800)
      Issue.record("a record that cannot be read")
    } catch let error as RecordLogError {
      guard case .damaged(let damage) = error.reason else { throw error }
      #expect(damage.reason == .unreadable(5))
    }
    disk.failingOperation = nil
    try expectEvent(800, in: log)
  }

  @Test func manyThreadsLookUpAtOnce() throws {
    let log = try Self.log(on: SimulatedDisk(), packing: .words, cacheSize: 50_000)
    let failures = Mutex<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for _ in 0..<200 {
        do { try expectEvent(random.below(Self.count), in: log) } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
    #expect(failures.withLock { $0.count } == 0)
  }

  /// All frames of a file are damaged, and all heads of its blocks whole; or those of some segments.
  @Test("a lost record takes no longer to look up if more are lost after it", arguments: [nil, 200_000])
  func lostRecords(_ segmentSize: Int?) throws {
    let disk = HookedDisk()
    let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize)
    for id in 0..<600 { try log.append(Event(id, size: 10_000)) }
    try log.close()
    for path in disk.simulated.contents(of: "/log").keys {
      guard var bytes = disk.simulated.bytes(of: path) else { continue }
      for offset in stride(from: BlockHead.size, to: bytes.count, by: 1_000)
      where offset % BlockHead.blockSize >= BlockHead.size { bytes[offset] ^= 1 }
      disk.simulated.setBytes(bytes, of: path)
    }
    let reader = try RecordLogReader(at: "/log", on: disk)
    var reads = 0
    disk.beforeReading = { reads += 1 }
    for number in [1, 50, 300] {
      #expect { try reader.record(at: number) } throws: { error in
        guard case .damaged(let damage)? = (error as? RecordLogError)?.reason else { return false }
        return damage.records.contains(number)
      }
      // A search in the heads, and two blocks.
      #expect(reads < 40, "\(number)")
      reads = 0
    }
    var (cursor, lost) = (reader.cursor(from: 600), 0)
    while cursor.position > 0 {
      #expect(throws: RecordLogError.self) { try cursor.previous() }
      lost += 1
    }
    #expect(lost > 50 && reads < 40 * lost)
    reads = 0
    #expect(try reader.partitionPoint { (event: Event) in event.id < 300 } == 600)
  }
}
