import Testing

@testable import StowRecords

/// Bytes that are missing, changed or made up: right values or a report, and nothing else.
struct DamageTests {
  /// A log of some frames in one block.
  private static func smallLog() throws -> (disk: SimulatedDisk, events: [Event]) {
    try log(of: (0..<12).map { Event($0, size: $0) })
  }

  /// A log of three blocks: small records, records that span blocks, and others after them.
  private static func longLog() throws -> (disk: SimulatedDisk, events: [Event]) {
    try log(of: (0..<40).map { Event($0, size: $0 == 13 || $0 == 14 ? 70_000 : 20 + $0) })
  }

  private static func log(of events: [Event]) throws -> (disk: SimulatedDisk, events: [Event]) {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for event in events {
      try log.append(event)
      if event.id % 5 == 4 { try log.flush() }
    }
    try log.close()
    return (disk, events)
  }

  /// Reads a log in every way. What is missing must be reported, and what is there must be right.
  private func expectRightOrReported(
    _ disk: SimulatedDisk, _ events: [Event], _ what: String, mayBeShorter: Bool = false
  ) {
    do {
      let log = try RecordLogReader(at: "/log", on: disk)
      let records = Array(log.records)
      for record in records {
        #expect(try record.number < events.count && record.decode(Event.self) == events[record.number], "\(what)")
      }
      let missing = Set(0..<log.count).subtracting(records.map(\.number))
      #expect(missing.isSubset(of: log.damage.flatMap { Array($0.records) }), "\(what): \(log.damage)")
      // A file that was cut off between two frames is the whole log that it was.
      if records.count < events.count, !mayBeShorter {
        #expect(!log.damage.isEmpty || !log.recovery.bytes.isEmpty, "\(what)")
      }
      expectTheSameByNumber(log, records, what)
    } catch let error as RecordLogError {
      #expect(error.reason == .notALog, "\(what): \(error)")
    } catch {
      Issue.record("\(what): \(error)")
    }
  }

  private func expectTheSameByNumber(_ log: RecordLogReader, _ records: [RecordLog.Record], _ what: String) {
    let found = Set(records.map(\.number))
    for number in [0, 7, 12, 13, 14, 15, log.count - 1] where number >= 0 && number < log.count {
      #expect(((try? log.record(at: number)) != nil) == found.contains(number), "\(what): record \(number)")
    }
  }

  /// The log can be opened for appending, and goes on after what is whole.
  private func expectToGoOn(_ disk: SimulatedDisk, _ what: String) {
    guard let count = try? RecordLogReader(at: "/log", on: disk).count else { return }
    do {
      let log = try RecordLog(at: "/log", on: disk)
      let number = try log.append("more")
      // A record that is not finished keeps its number, too.
      #expect(number == count + log.recovery.records.count, "\(what)")
      try log.synchronize()
      #expect(try log.decode(String.self, at: number) == "more", "\(what)")
      try log.close()
    } catch {
      Issue.record("\(what): \(error)")
    }
  }

  @Test func truncations() throws {
    let (disk, events) = try Self.smallLog()
    let size = disk.bytes(of: "/log")!.count
    try expectTruncationsAreRead(disk, events, Array(stride(from: size % 2, through: size, by: 2)))
  }

  @Test func truncationsOfLongRecords() throws {
    let (disk, events) = try Self.longLog()
    let size = disk.bytes(of: "/log")!.count
    let borders = [65_536, 131_072].flatMap { border in
      [-1, 0, 1, 31, 32, 38, 39, 40, 5_000].map { border + $0 }
    }
    try expectTruncationsAreRead(disk, events, borders + [size - 1, size])
  }

  private func expectTruncationsAreRead(_ disk: SimulatedDisk, _ events: [Event], _ sizes: [Int]) throws {
    let bytes = disk.bytes(of: "/log")!
    var previous = 0
    for size in sizes.sorted() {
      disk.setBytes(Array(bytes[..<size]), of: "/log")
      expectRightOrReported(disk, events, "\(size) bytes", mayBeShorter: true)
      if size >= BlockHead.size {
        let log = try RecordLogReader(at: "/log", on: disk)
        #expect(log.count >= previous && log.damage.isEmpty, "\(size) bytes")
        #expect(log.recovery.bytes.upperBound == size || log.recovery.bytes.isEmpty, "\(size) bytes")
        previous = log.count
      }
      expectToGoOn(disk, "\(size) bytes")
    }
    #expect(previous == events.count)
  }

  @Test func changedBytes() throws {
    let (disk, events) = try Self.smallLog()
    let bytes = disk.bytes(of: "/log")!
    for place in stride(from: 0, to: bytes.count, by: 3) { try expectChangeIsNoticed(disk, events, bytes, place) }
  }

  @Test func bytesOfLongRecordsChanged() throws {
    let (disk, events) = try Self.longLog()
    let bytes = disk.bytes(of: "/log")!
    let borders = [65_536, 131_072].flatMap { border in
      [-1, 0, 2, 5, 9, 16, 23, 24, 28, 31, 32, 36, 38, 39, 5_000].map { border + $0 }
    }
    for place in borders + [600, bytes.count - 1] { try expectChangeIsNoticed(disk, events, bytes, place) }
  }

  private func expectChangeIsNoticed(_ disk: SimulatedDisk, _ events: [Event], _ bytes: [UInt8], _ place: Int) throws {
    var changed = bytes
    changed[place] ^= UInt8(1 << (place % 8))
    disk.setBytes(changed, of: "/log")
    expectRightOrReported(disk, events, "byte \(place)")
    expectToGoOn(disk, "byte \(place)")
  }

  @Test func aDamagedBlockHidesNothingBehindIt() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<1_000 { try log.append(Event(id, size: 320)) }
    try log.close()
    let bytes = disk.bytes(of: "/log")!
    let blocks = bytes.count / 65_536
    #expect(blocks >= 4)
    for block in 0..<blocks {
      for place in [3, 20, 40, 30_000] {
        var changed = bytes
        changed[block * 65_536 + place] ^= 0x10
        disk.setBytes(changed, of: "/log")
        let log = try RecordLogReader(at: "/log", on: disk)
        let numbers = log.records.map(\.number)
        #expect(log.count == 1_000)
        #expect(log.damage.count == 1)
        let damage = try #require(log.damage.first)
        // A head that is damaged costs no record.
        #expect(damage.records.isEmpty == (place < BlockHead.size))
        #expect(damage.records.count == 1_000 - numbers.count && damage.records.count < 300)
        #expect(damage.bytes.lowerBound >= block * 65_536 && damage.bytes.upperBound <= (block + 1) * 65_536)
        #expect(try log.verify() == [damage])
        for number in damage.records where number == damage.records.first || number == damage.records.last {
          #expect {
            try log.decode(Event.self, at: number)
          } throws: {
            ($0 as? RecordLogError)?.reason == .damaged(damage)
          }
          #expect(log.records(from: number).first { _ in true }?.number == numbers.first { $0 > number })
        }
        #expect(log.damage == [damage])
      }
    }
  }

  @Test func bytesOfAnotherPlaceOrAnotherLogNeverPass() throws {
    let (disk, events) = try Self.longLog()
    let (other, _) = try Self.longLog()
    let bytes = disk.bytes(of: "/log")!
    let otherBytes = other.bytes(of: "/log")!
    for (target, source) in [(1, 2), (2, 1), (1, 0), (2, 0)] {
      for from in [bytes, otherBytes] {
        var changed = bytes
        let block = from[(source * 65_536)...].prefix(65_536)
        changed.replaceSubrange((target * 65_536)..<min(bytes.count, target * 65_536 + block.count), with: block)
        disk.setBytes(changed, of: "/log")
        expectRightOrReported(disk, events, "block \(source) in the place of \(target)")
      }
    }
  }
}
