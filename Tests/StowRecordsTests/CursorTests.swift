import Foundation
import Testing

@testable import StowRecords

/// Reading in both directions, with errors for what is lost.
@Suite("Cursors")
struct CursorTests {
  /// Some blocks: small records, and two that have bytes in several blocks.
  private static func log(on disk: SimulatedDisk, _ count: Int = 1_500) throws -> RecordLog {
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<count { try log.append(Event(id, size: id == 700 || id == 701 ? 150_000 : 20 + id % 200)) }
    try log.flush()
    return log
  }

  private func step(_ cursor: inout RecordLog.Cursor, _ forwards: Bool) throws -> Event? {
    let record = try forwards ? cursor.next() : cursor.previous()
    guard let event = try record?.decode(Event.self) else { return nil }
    #expect(record?.number == event.id)
    return event
  }

  @Test func allRecordsComeInBothDirections() throws {
    let log = try Self.log(on: SimulatedDisk())
    var cursor = log.cursor()
    for id in 0..<1_500 { #expect(try step(&cursor, true)?.id == id) }
    #expect(try cursor.next() == nil)
    #expect(try cursor.next() == nil)
    for id in (0..<1_500).reversed() { #expect(try step(&cursor, false)?.id == id) }
    #expect(try cursor.previous() == nil)
    #expect(cursor.position == 0)
  }

  @Test func theDirectionMayChangeAnywhere() throws {
    let log = try Self.log(on: SimulatedDisk())
    var random = SeededGenerator(seed: 7)
    var place = 650
    var cursor = log.cursor(from: place)
    for _ in 0..<400 {
      let forwards = random.below(2) == 0
      for _ in 0..<random.below(12) {
        let event = try step(&cursor, forwards)
        #expect(event?.id == (forwards ? place : place - 1))
        place += forwards ? 1 : -1
        #expect(cursor.position == place)
      }
    }
  }

  @Test func aCursorBeginsWhereItIsTold() throws {
    let log = try Self.log(on: SimulatedDisk(), 10)
    for (start, next, previous) in [(-5, 0, nil), (0, 0, nil), (4, 4, 3), (10, nil, 9), (99, nil, 9)] {
      var (forwards, backwards) = (log.cursor(from: start), log.cursor(from: start))
      #expect(try forwards.next()?.number == next)
      #expect(try backwards.previous()?.number == previous)
    }
    #expect(try log.last?.decode(Event.self) == Event(9, size: 29))
    #expect(!log.isEmpty)
    let empty = try RecordLog(at: "/empty", on: SimulatedDisk())
    #expect(try empty.last == nil && empty.isEmpty)
    var cursor = empty.cursor()
    #expect(try cursor.next() == nil && cursor.previous() == nil)
  }

  @Test func aCursorSeesWhatThereWasAtItsFirstStep() throws {
    let log = try Self.log(on: SimulatedDisk(), 3)
    var cursor = log.cursor()
    try log.append(Event(3))
    #expect(try cursor.next()?.number == 0)
    try log.append(Event(4))
    try log.compact { $0.number > 2 }
    for id in 1..<4 { #expect(try step(&cursor, true)?.id == id) }
    #expect(try cursor.next() == nil)
  }

  @Test(arguments: [true, false])
  func whatIsLostIsAnErrorOnce(_ isReader: Bool) throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    var bytes = try #require(disk.bytes(of: "/log"))
    bytes[70_000] ^= 1
    disk.setBytes(bytes, of: "/log")
    let reader = isReader ? try RecordLogReader(at: "/log", on: disk) : log
    let readable = Set(reader.records.map(\.number))
    #expect(readable.count < 1_500 && reader.damage.count == 1)
    let lost = try #require(reader.damage.first)
    for forwards in [true, false] {
      var cursor = reader.cursor(from: forwards ? 0 : .max)
      var (seen, errors): ([Int], [RecordLogError]) = ([], [])
      while true {
        do {
          guard let event = try step(&cursor, forwards) else { break }
          seen.append(event.id)
        } catch let error as RecordLogError {
          errors.append(error)
        }
      }
      #expect(Set(seen) == readable && seen.count == readable.count)
      #expect(seen == (forwards ? seen.sorted() : seen.sorted().reversed()))
      #expect(errors.map(\.reason) == [.damaged(lost)])
    }
    // From the middle of what is lost, too.
    var cursor = reader.cursor(from: lost.records.lowerBound + 1)
    #expect(throws: RecordLogError.self) { try cursor.next() }
    #expect(try cursor.next()?.number == lost.records.upperBound)
    #expect(try cursor.previous()?.number == lost.records.upperBound)
    #expect(throws: RecordLogError.self) { try cursor.previous() }
    #expect(try cursor.previous()?.number == lost.records.lowerBound - 1)
  }

  @Test func aBlockThatCannotBeReadIsAnError() throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    disk.unreadable = (offset: 3 << 16, code: 5)
    var cursor = log.cursor()
    var (count, reasons): (Int, [RecordLogError.Reason]) = (0, [])
    while true {
      do {
        guard try cursor.next() != nil else { break }
        count += 1
      } catch let error as RecordLogError {
        reasons.append(error.reason)
      }
    }
    guard case .damaged(let damage) = reasons.first else {
      Issue.record("\(reasons)")
      return
    }
    #expect(reasons.count == 1 && damage.reason == .unreadable(5))
    #expect(!damage.records.isEmpty && damage.records.count + count == 1_500)
  }
}
