import Testing

@testable import StowRecords

private func reason(_ error: any Error) -> RecordLogError.Reason? { (error as? RecordLogError)?.reason }

@Suite("Compaction of segments")
struct SegmentCompactionTests {
  private let disk = SimulatedDisk()

  @Test("compaction runs beside appending, removing and reading, without room for two copies")
  func besides() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<100, to: log)
    try log.flush()
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    var iterator = reader.records.makeIterator()
    #expect(iterator.next()?.number == 0)
    disk.capacity = disk.used + 3 * 65_536
    var (removed, next) = (0, 100)
    try log.compact { record in
      if record.number % 20 == 19 {
        try Segmented.append(next..<(next + 1), to: log)
        next += 1
      }
      if record.number == 60 { removed = try log.removeRecords(before: 70) }
      #expect(try log.record(at: 99).number == 99)
      return record.number % 2 == 0
    }
    let kept = stride(from: removed, to: 100, by: 2) + Array(100..<next)
    #expect(removed > 60)
    for log in [log, reader] {
      // The one whose segment was removed while it was compacted did not come back.
      #expect(log.firstNumber == removed && log.count == next)
      #expect(try Segmented.ids(log) == kept)
      #expect(try log.verify().isEmpty)
      #expect { try log.record(at: 91) } throws: { reason($0) == .noSuchRecord(91, count: next) }
    }
    // It read the rest of its file, and then what there is.
    let seen = Array(IteratorSequence(iterator)).map(\.number)
    #expect(seen.first == 1 && seen.last == 99)
    #expect(seen.filter { (70..<90).contains($0) } == kept.filter { (70..<90).contains($0) })
    #expect(!disk.files(in: Segmented.folder).contains { $0.hasSuffix("-new") })
  }

  @Test("compacting segments one by one as files leaves a folder of segments")
  func asFiles() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<30, to: log)
    try log.close()
    for segment in Segmented.segments(on: disk) {
      let alone = try RecordLog(at: segment.path, on: disk)
      for _ in 0..<2 { try alone.compact { $0.number % 2 == 0 } }
      try alone.close()
    }
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    #expect(try Segmented.ids(reader) == Array(stride(from: 0, to: 30, by: 2)))
    #expect(try reader.count == 30 && reader.verify().isEmpty)
  }

  @Test("a compaction continues if somebody opens a segment as a file and tries to compact it")
  func besideAFile() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<30, to: log)
    let segment = Segmented.segments(on: disk)[0]
    try log.compact { record in
      if record.number == 1 {
        let alone = try RecordLog(at: segment.path, on: disk)
        #expect(throws: RecordLogError.self) { try alone.compact { _ in true } }
      }
      return record.number % 2 == 0
    }
    #expect(try Segmented.ids(log) == Array(stride(from: 0, to: 30, by: 2)))
  }

  @Test("a failed compaction leaves whole segments, some of them compacted")
  func failing() throws {
    struct Stop: Error {}
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    #expect(throws: Stop.self) {
      try log.compact { record in
        if record.number == 30 { throw Stop() }
        return record.number % 2 == 0
      }
    }
    let ids = try Segmented.ids(log)
    #expect(ids.count < 50 && ids.contains(31) && !ids.contains(1))
    #expect(Set(ids).isSuperset(of: stride(from: 0, to: 50, by: 2)))
    #expect(!disk.files(in: Segmented.folder).contains { $0.hasSuffix("-new") })
    try log.close()
    #expect(try Segmented.ids(Segmented.log(on: disk)) == ids)
  }

  @Test("opening a log removes the files of an interrupted compaction of segments")
  func leftover() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.flush()
    let segments = Segmented.segments(on: disk)
    let left = try #require(disk.bytes(of: segments[2].path))
    try log.close()
    for count in [0, 5, 32, 40, 54, 55, left.count] {
      for segment in [segments[2], Segment(from: 50, in: Segmented.folder)] {
        disk.setBytes(Array(left.prefix(count)), of: segment.path + ".stowlog-new")
      }
      let log = try Segmented.log(on: disk)
      #expect(try Segmented.ids(log) == Array(0..<50))
      #expect(!disk.files(in: Segmented.folder).contains { $0.hasSuffix("-new") }, "\(count)")
      try log.close()
    }
  }

  @Test("compaction with an index keeps the last values and updates the index")
  func index() throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<100, to: log)
    let index = try log.index(of: Event.self) { $0.id % 7 }
    #expect(index.outdated == 93)
    try log.compact(keeping: index.isLast)
    #expect(try Segmented.ids(log) == Array(93..<100))
    #expect(try index.value(for: 3)?.id == 94 && index.outdated == 0)
    // A reader finds out when a record is not there.
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    let other = try reader.index(of: Event.self) { $0.id % 7 }
    try log.compact { $0.number < 96 }
    #expect(try other.value(for: 3)?.id == 94)
    #expect(try other.value(for: 99 % 7) == nil)
  }

  @Test("compaction keeps a record whose replacement a crash may take", arguments: 0..<8 as Range<UInt64>)
  func crash(seed: UInt64) throws {
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<20, to: log)
    let index = try log.index(of: Event.self) { $0.id % 5 }
    try log.compact { record in
      if record.number == 0 {
        try Segmented.append(20..<25, to: log)
        try index.update()
      }
      return try index.isLast(record)
    }
    var random = SeededGenerator(seed: seed)
    disk.crash(&random)
    let ids = try Segmented.ids(Segmented.log(on: disk))
    #expect(Set(ids.map { $0 % 5 }).count == 5, "\(ids)")
  }

  @Test("an index saved during a compaction is not used for the compacted log")
  func savedIndex() throws {
    let folder = try TemporaryFolder()
    let saved = folder.url.appending(path: "index")
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    let index = try log.index(of: Event.self) { $0.id % 25 }
    try log.compact { record in
      if record.number == 40 { try index.save(to: saved) }
      return !(25..<31).contains(record.number)
    }
    let again = try log.index(of: Event.self, by: { $0.id % 25 }, savedAt: saved)
    try log.compact(keeping: again.isLast)
    #expect(try Segmented.ids(log) == Array(0..<6) + Array(31..<50))
  }
}

private func + (numbers: StrideTo<Int>, others: [Int]) -> [Int] { Array(numbers) + others }
