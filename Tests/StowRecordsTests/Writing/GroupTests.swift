import Foundation
import Testing

@testable import StowRecords

/// A value that throws when it is encoded, unless it is an event.
private struct Fragile: Encodable {
  var event: Event?

  func encode(to encoder: any Encoder) throws {
    guard let event else { throw CancellationError() }
    try event.encode(to: encoder)
  }
}

@Suite("Groups of records")
struct GroupTests {
  private func events(_ first: Int, _ sizes: [Int]) -> [Event] {
    sizes.enumerated().map { Event(first + $0, size: $1) }
  }

  private static let sizes: [[Int]] = [
    [], [0], [10, 20, 30], [20_000, 20_000, 20_000], [70_000], [10, 70_000, 10],
    [60_000, 60_000, 60_000], Array(repeating: 300, count: 500),
  ]

  @Test("the records of groups are read one by one, in both directions and by number", arguments: [true, false])
  func reading(isPacked: Bool) throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk, packing: isPacked ? .words : .none)
    var written: [Event] = []
    for (round, sizes) in (Self.sizes + Self.sizes.reversed()).enumerated() {
      let group = events(written.count, sizes)
      #expect(try log.append(group: group) == written.count..<(written.count + group.count))
      written += group
      if round % 3 == 0 {
        try log.append(Event(written.count))
        written.append(Event(written.count))
      }
    }
    try log.close()
    for log in [try RecordLogReader(at: "/log", on: disk), try RecordLog(at: "/log", on: disk)]
      as [RecordLogReader]
    {
      #expect(log.count == written.count)
      #expect(try log.records.map { try $0.decode(Event.self) } == written)
      var cursor = log.cursor(from: log.count)
      for event in written.reversed() { #expect(try cursor.previous()?.decode(Event.self) == event) }
      for number in stride(from: 0, to: written.count, by: 7) {
        #expect(try log.decode(Event.self, at: number) == written[number])
        #expect(log.records(from: number).first { _ in true }?.number == number)
      }
      #expect(try log.verify().isEmpty)
    }
  }

  @Test("groups are limited in total size wherever in a block they would begin")
  func limit() throws {
    for size in [180, 230] {
      let log = try RecordLog(at: "/log", on: SimulatedDisk(), maximumRecordSize: 1_000)
      for _ in 0..<100 {
        let count = log.count
        let group = events(count, Array(repeating: size, count: 4))
        if size == 180 {
          try log.append(group: group)
        } else {
          #expect(throws: RecordLogError.self) { try log.append(group: group) }
          #expect(log.count == count)
          try log.append(Event(count, size: 900))
        }
      }
      #expect(try log.verify().isEmpty)
    }
  }

  @Test("a group is not begun if one of its values cannot be encoded")
  func failing() throws {
    for size in [10, 30_000, 70_000] {
      let log = try RecordLog(at: "/log", on: SimulatedDisk())
      try log.append(Event(0))
      let group = (1..<5).map { Fragile(event: Event($0, size: size)) }
      #expect(throws: CancellationError.self) { try log.append(group: group + [Fragile()]) }
      #expect(log.count == 1)
      #expect(try log.append(group: group) == 1..<5)
      try log.append(Event(5))
      #expect(try log.records.map { try $0.decode(Event.self).id } == Array(0..<6))
    }
  }

  @Test("a group has no more bytes in total than one record may have")
  func tooLarge() throws {
    let log = try RecordLog(at: "/log", on: SimulatedDisk(), maximumRecordSize: 100_000)
    #expect { try log.append(group: events(0, [50_000, 60_000])) } throws: {
      if case .recordTooLarge = ($0 as? RecordLogError)?.reason { true } else { false }
    }
    #expect(try log.append(group: events(0, [50_000, 40_000])) == 0..<2)
    #expect(try log.records.map { try $0.decode(Event.self).id } == [0, 1])
  }

  /// Every beginning of a file, and every sector of it that a crash may have left out.
  @Test("a group is complete or absent after every crash")
  func crashes() throws {
    for sizes in Self.sizes where sizes.count > 1 {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(Event(0, size: 500))
      try log.synchronize()
      let before = try #require(disk.bytes(of: "/log"))
      try log.append(group: events(1, sizes))
      try log.flush()
      let after = try #require(disk.bytes(of: "/log"))
      for place in stride(from: before.count, to: after.count, by: 16_381) {
        var hole = after
        for index in place..<min(place + 512, after.count) { hole[index] = 0 }
        for bytes in [Array(after[..<place]), hole] {
          let torn = SimulatedDisk()
          torn.setBytes(bytes, of: "/log")
          let reader = try RecordLogReader(at: "/log", on: torn)
          #expect([1, sizes.count + 1].contains(Array(reader.records).count))
          let log = try RecordLog(at: "/log", on: torn)
          let next = try log.append(Event(99))
          try log.close()
          let ids = try log.records.map { try $0.decode(Event.self).id }
          #expect(ids == [0, 99] || ids == Array(0...sizes.count) + [99], "\(sizes.count) at \(place)")
          #expect(reader.records.map(\.number).last == next)
          if bytes.count == place { #expect(try log.verify().isEmpty, "\(sizes.count) at \(place)") }
        }
      }
    }
  }

  /// A group is lost as a whole, where a part of it is.
  @Test("a group is lost as a whole if a part of it is damaged")
  func damage() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    try log.append(group: events(1, [60_000, 60_000, 60_000]))
    try log.append(Event(4))
    try log.close()
    let bytes = try #require(disk.bytes(of: "/log"))
    for place in stride(from: 1_000, to: 180_000, by: 30_011) {
      var changed = bytes
      changed[place] ^= 1
      let log = try KnownLogs.reader(of: changed)
      #expect(log.records.map(\.number) == [0, 4] && log.damage.flatMap(\.records) == [1, 2, 3])
      #expect(throws: RecordLogError.self) { try log.record(at: 2) }
    }
  }
}
