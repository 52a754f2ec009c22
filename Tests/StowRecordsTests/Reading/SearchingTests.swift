import Foundation
import Stow
import Testing

@testable import StowRecords

/// Finding records by what they hold, and reading parts of them.
@Suite("Searching")
struct SearchingTests {
  private static func log(on disk: SimulatedDisk, _ count: Int = 2_000) throws -> RecordLog {
    let log = try RecordLog(at: "/log", on: disk)
    for id in 0..<count { try log.append(Event(id, size: id == 1_500 ? 150_000 : 20 + id % 200)) }
    try log.flush()
    return log
  }

  @Test func theFirstRecordIsFoundThatIsWanted() throws {
    let log = try Self.log(on: SimulatedDisk())
    #expect(try log.first { try $0.decode(Event.self).id >= 1_234 }?.number == 1_234)
    #expect(try log.first(from: 1_600) { try $0.decode(Event.self).kind == "stopped" }?.number == 1_601)
    #expect(try log.first { _ in false } == nil)
    #expect(try log.first(from: 2_000) { _ in true } == nil)
    #expect(throws: CancellationError.self) { try log.first { _ in throw CancellationError() } }
  }

  @Test func whereRecordsWereLostTheFirstOneIsNotCertain() throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    var bytes = try #require(disk.bytes(of: "/log"))
    bytes[70_000] ^= 1
    disk.setBytes(bytes, of: "/log")
    #expect(try log.first { try $0.decode(Event.self).id == 5 }?.number == 5)
    #expect(throws: RecordLogError.self) { try log.first { try $0.decode(Event.self).id == 1_999 } }
  }

  @Test func aPartitionIsFoundWhereverItIs() throws {
    let log = try Self.log(on: SimulatedDisk())
    for point in [0, 1, 2, 699, 1_000, 1_499, 1_500, 1_501, 1_999, 2_000] {
      var looks = 0
      let found = try log.partitionPoint { (event: Event) in
        looks += 1
        return event.id < point
      }
      #expect(found == point)
      #expect(looks <= 12)
    }
    #expect(try RecordLog(at: "/empty", on: SimulatedDisk()).partitionPoint { (_: Int) in true } == 0)
    #expect(throws: DecodingError.self) { try log.partitionPoint { (_: Int) in true } }
  }

  @Test func aPartitionIsFoundAmongWhatCanBeRead() throws {
    let disk = SimulatedDisk()
    let log = try Self.log(on: disk)
    var bytes = try #require(disk.bytes(of: "/log"))
    bytes[70_000] ^= 1
    disk.setBytes(bytes, of: "/log")
    let readable = log.records.map(\.number)
    let lost = try #require(log.damage.first?.records)
    for point in [
      lost.lowerBound - 1, lost.lowerBound, lost.lowerBound + 1, lost.upperBound - 1, lost.upperBound,
    ] {
      let found = try log.partitionPoint { (event: Event) in event.id < point }
      #expect(found == readable.first { $0 >= point })
    }
    disk.failingOperation = "read"
    #expect(throws: RecordLogError.self) { try log.partitionPoint { (event: Event) in event.id < 1_990 } }
  }

  @Test(arguments: [RecordLog.Packing.none, .words])
  func aRecordOpensAsAMessage(_ packing: RecordLog.Packing) throws {
    let log = try RecordLog(at: "/log", on: SimulatedDisk(), packing: packing)
    for id in 0..<1_000 { try log.append(["event": Event(id, size: 50)]) }
    var messages: [StowMessage] = []
    for record in log.records {
      let message = try record.message()
      #expect(try message.decode(Int.self, at: ["event", "id"]) == record.number)
      if record.number % 50 == 0 { messages.append(message) }
    }
    // Later, when others have been read, and of records that were found by their numbers.
    for (place, message) in messages.enumerated() {
      let found = try log.record(at: place * 50).message()
      for message in [message, found] {
        #expect(try message.decode([String: Event].self)["event"] == Event(place * 50, size: 50))
        #expect(try message.keys(at: ["event"]).count == (place * 50 % 4 == 0 ? 3 : 4))
      }
    }
  }
}
