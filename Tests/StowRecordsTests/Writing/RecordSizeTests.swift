import Foundation
import Testing

@testable import StowRecords

@Suite("Records near the limit of their size")
struct RecordSizeTests {
  @Test("a record that exceeds the limit when written in a new scope is refused, not lost")
  func newScope() throws {
    let limit = 100_000
    for size in (limit - 40)..<limit {
      let log = try RecordLog(at: "/log", on: SimulatedDisk(), maximumRecordSize: limit)
      try log.append(Event(0, size: 20))
      let event = Event(3, size: size)
      if let number = try? log.append(event) {
        #expect(try log.decode(Event.self, at: number) == event, "\(size) bytes")
      } else {
        #expect(log.count == 1, "\(size) bytes")
      }
    }
  }

  @Test("compaction with a lower size limit than that of the records fails and keeps them")
  func compaction() throws {
    let disk = SimulatedDisk()
    try {
      let log = try RecordLog(at: "/log", on: disk)
      for id in 0..<3 { try log.append(Event(id, size: id == 1 ? 200_000 : 10)) }
      try log.close()
    }()
    try {
      let log = try RecordLog(at: "/log", on: disk, maximumRecordSize: 100_000)
      #expect(throws: RecordLogError.self) { try log.compact { _ in true } }
      try log.close()
    }()
    let log = try RecordLog(at: "/log", on: disk)
    #expect(try log.records.map { try $0.decode(Event.self).id } == [0, 1, 2])
  }
}
