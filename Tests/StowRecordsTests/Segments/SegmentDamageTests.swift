import Testing

@testable import StowRecords

@Suite("Segments that are missing or damaged")
struct SegmentDamageTests {
  /// A log of which something was done to a segment, as its writer and a reader see it.
  private func logs(
    _ change: (SimulatedDisk, [Segment]) throws -> Void
  ) throws -> (SimulatedDisk, [RecordLogReader], [Segment]) {
    let disk = SimulatedDisk()
    do {
      let log = try Segmented.log(on: disk)
      try Segmented.append(0..<50, to: log)
      try log.close()
    }
    let segments = Segmented.segments(on: disk)
    try change(disk, segments)
    return (disk, [try Segmented.log(on: disk), try RecordLogReader(at: Segmented.folder, on: disk)], segments)
  }

  private func expectLost(_ lost: Range<Int>, _ log: RecordLogReader, _ reason: RecordLog.Damage.Reason)
    throws
  {
    let rest = (0..<50).filter { !lost.contains($0) }
    #expect(try Segmented.ids(log) == rest)
    let damage = try log.verify().filter { !$0.records.isEmpty }
    #expect(damage.map(\.records) == [lost] && damage.map(\.reason) == [reason], "\(damage)")
    #expect { try log.record(at: lost.lowerBound) } throws: {
      if case .damaged(let damage)? = (($0 as? RecordLogError)?.reason) {
        damage.records == lost
      } else {
        false
      }
    }
    #expect(try log.record(at: lost.upperBound).number == lost.upperBound)
    var cursor = log.cursor()
    for number in 0..<lost.lowerBound { #expect(try cursor.next()?.number == number) }
    #expect(throws: RecordLogError.self) { try cursor.next() }
    #expect(try cursor.next()?.number == lost.upperBound)
    #expect(try cursor.previous()?.number == lost.upperBound)
    #expect(throws: RecordLogError.self) { try cursor.previous() }
    let before = try cursor.previous()?.number
    #expect(before == lost.lowerBound - 1, "\(cursor.position)")
  }

  @Test("a missing segment is damage and hides no other records")
  func missing() throws {
    let (_, logs, segments) = try logs { disk, segments in try disk.remove(segments[3].path) }
    for log in logs { try expectLost(segments[3].first..<segments[4].first, log, .missing) }
  }

  @Test("a segment that disappears from an open log is damage and hides no other records")
  func goingMissing() throws {
    let (disk, logs, segments) = try logs { _, _ in }
    try disk.remove(segments[3].path)
    for log in logs { try expectLost(segments[3].first..<segments[4].first, log, .missing) }
  }

  @Test("another file in place of a segment is damage and hides no other records")
  func another() throws {
    let (_, logs, segments) = try logs { disk, segments in
      disk.setBytes(Array("mine".utf8), of: segments[3].path)
    }
    for log in logs { try expectLost(segments[3].first..<segments[4].first, log, .head) }
    let other = SimulatedDisk()
    let log = try Segmented.log(on: other)
    try Segmented.append(0..<50, to: log)
    try log.close()
    let (_, others, _) = try self.logs { disk, segments in
      disk.setBytes(try #require(other.bytes(of: segments[3].path)), of: segments[3].path)
    }
    for log in others { try expectLost(segments[3].first..<segments[4].first, log, .head) }
  }

  @Test("a segment under the name of another is damage, hides no other records and is not written to")
  func wrongName() throws {
    let disk = SimulatedDisk()
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.close()
    let segments = Segmented.segments(on: disk)
    let last = try #require(segments.last)
    disk.setBytes(try #require(disk.bytes(of: segments[1].path)), of: last.path)
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    #expect(reader.count == last.first)
    #expect(try Segmented.ids(reader) == Array(0..<last.first))
    #expect(try reader.verify().map(\.reason) == [.head])
    #expect {
      try Segmented.log(on: disk)
    } throws: { error in
      (error as? RecordLogError)?.reason == .replaced
    }
  }

  @Test("an index can be saved and loaded even if a segment cannot be read")
  func savedIndex() throws {
    let folder = try TemporaryFolder()
    let saved = folder.url.appending(path: "index")
    let (_, logs, segments) = try logs { disk, segments in
      disk.setBytes(Array("mine".utf8), of: segments[3].path)
    }
    for log in logs {
      try log.index(of: Event.self, by: \.id).save(to: saved)
      let index = try log.index(of: Event.self, by: \.id, savedAt: saved)
      #expect(index.count == 50 - (segments[4].first - segments[3].first))
    }
  }

  @Test("segments after one with a damaged end are read")
  func damagedEnd() throws {
    for torn in [10, 5_000, 30_000] {
      let (_, logs, segments) = try logs { disk, segments in
        let bytes = try #require(disk.bytes(of: segments[3].path))
        disk.setBytes(bytes.dropLast(torn) + [UInt8](repeating: 1, count: torn), of: segments[3].path)
      }
      for log in logs {
        let damage = try #require(try log.verify().first)
        #expect(damage.records.upperBound == segments[4].first && segments[3].first <= damage.records.lowerBound)
        try expectLost(damage.records, log, damage.reason)
      }
      // A compaction leaves the hole, and what it is.
      let lost = try #require(try logs[0].verify().first).records
      try (logs[0] as? RecordLog)?.compact { _ in true }
      for log in logs { try expectLost(lost, log, .missing) }
    }
  }

  @Test("a segment whose damaged end somebody else cuts off is read up to the cut")
  func cutOffEnd() throws {
    let disk = SimulatedDisk()
    let log = try Segmented.log(on: disk)
    for number in 0..<20 {
      try log.append(Event(number, size: 9_000))
      try log.flush()
    }
    let segment = try #require(Segmented.segments(on: disk).first)
    var bytes = try #require(disk.bytes(of: segment.path))
    bytes[bytes.count - 1] ^= 1
    disk.setBytes(bytes, of: segment.path)
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    let ids = try Segmented.ids(log)
    #expect(try ids.count == 19 && ids.starts(with: 0..<6) && Segmented.ids(reader) == ids)
    // Opening it as a file does that.
    try RecordLog(at: segment.path, on: disk).close()
    for log in [log, reader] { #expect(try Segmented.ids(log) == ids) }
    try log.compact { _ in true }
    #expect(try Segmented.ids(log) == ids)
  }

  @Test("a damaged head of a segment costs no records of other segments")
  func damagedHead() throws {
    let (_, logs, _) = try logs { disk, segments in
      var bytes = try #require(disk.bytes(of: segments[0].path))
      bytes[9] ^= 1
      disk.setBytes(bytes, of: segments[0].path)
    }
    // One head in a segment of one block: without it nobody knows the identity.
    for log in logs { #expect(try Segmented.ids(log).count > 40 && log.damage.count == 1) }
  }

  @Test("damage to the frame that names the log costs no more than the segment's first block")
  func damagedOrigin() throws {
    func open(_ disk: SimulatedDisk) throws -> RecordLog {
      try RecordLog(at: Segmented.folder, on: disk, segmentSize: 200_000)
    }
    let whole = SimulatedDisk()
    let log = try open(whole)
    try Segmented.append(0..<100, to: log)
    try log.close()
    let segments = Segmented.segments(on: whole)
    for (index, segment) in segments.enumerated() {
      for place in stride(from: BlockHead.size, to: BlockHead.size + Frame.headSize + Origin.size, by: 11) {
        let disk = whole.copy()
        var bytes = try #require(disk.bytes(of: segment.path))
        bytes[place] ^= 4
        disk.setBytes(bytes, of: segment.path)
        let log = try open(disk)
        for log in [log, try RecordLogReader(at: Segmented.folder, on: disk)] {
          let lost = Set(0..<100).subtracting(try Segmented.ids(log))
          let numbers = segment.first..<(segment.first + 7)
          #expect(lost.allSatisfy { numbers.contains($0) }, "\(index), \(place)")
          #expect(try Set(log.verify().flatMap(\.records)) == lost)
        }
        // What is appended belongs to the same log.
        try Segmented.append(100..<150, to: log)
        try log.close()
        let ids = try Segmented.ids(open(disk))
        #expect(ids.count >= 143 && ids.suffix(100) == Array(50..<150) || ids.suffix(50) == Array(100..<150))
        #expect(try RecordLogReader(at: Segmented.folder, on: disk).records.map(\.number) == ids)
        // It goes when its turn comes.
        let again = try open(disk)
        let last = try #require(Segmented.segments(on: disk).last)
        #expect(try again.removeRecords(before: 150) == last.first)
        #expect(Segmented.segments(on: disk) == [last])
      }
    }
  }

  @Test("a failure to read the other segments does not make the last one a log of its own")
  func damagedOriginOfTheLast() throws {
    let whole = SimulatedDisk()
    do {
      let log = try Segmented.log(on: whole)
      try Segmented.append(0..<50, to: log)
      try log.close()
    }
    let last = try #require(Segmented.segments(on: whole).last)
    var bytes = try #require(whole.bytes(of: last.path))
    bytes[BlockHead.size + 10] ^= 4
    whole.setBytes(bytes, of: last.path)
    for call in 0..<30 {
      let disk = whole.copy()
      disk.failing = call..<(call + 1)
      let reader = try? RecordLogReader(at: Segmented.folder, on: disk)
      disk.failing = 0..<0
      #expect(try reader.map { try Segmented.ids($0).starts(with: 0..<last.first) } ?? true, "\(call)")
      disk.failing = (disk.calls + call)..<(disk.calls + call + 1)
      let log = try? Segmented.log(on: disk)
      disk.failing = 0..<0
      if let log {
        try Segmented.append(50..<60, to: log)
        try log.close()
      }
      let ids = try Segmented.ids(Segmented.log(on: disk))
      #expect(ids.starts(with: 0..<last.first) && (log == nil || ids.suffix(10) == Array(50..<60)), "\(call)")
    }
  }

  @Test("a segment of another log after the last one is an error and stays unchanged")
  func anotherLast() throws {
    let other = SimulatedDisk()
    let log = try Segmented.log(on: other)
    try Segmented.append(0..<50, to: log)
    try log.close()
    for segment in Segmented.segments(on: other) {
      let (disk, logs, _) = try logs { _, _ in }
      for log in logs { try log.close() }
      let stray = Segment(from: 1_000 + segment.first, in: Segmented.folder)
      let bytes = try #require(other.bytes(of: segment.path)) + [1, 2, 3]
      disk.setBytes(bytes, of: stray.path)
      #expect { try Segmented.log(on: disk) } throws: {
        ($0 as? RecordLogError)?.reason == .replaced && ($0 as? RecordLogError)?.file == stray.path
      }
      #expect(disk.bytes(of: stray.path) == bytes)
      try disk.remove(stray.path)
      #expect(try Segmented.ids(Segmented.log(on: disk)) == Array(0..<50))
    }
  }

  @Test("a segment that is missing from a listing of the folder is found by its name")
  func unlisted() throws {
    let (disk, logs, segments) = try logs { disk, segments in
      disk.unlisted = [segments[2].path, segments[3].path, segments[5].path]
    }
    for log in logs {
      #expect(try Segmented.ids(log) == Array(0..<50))
      #expect(try log.verify().isEmpty && log.record(at: segments[3].first + 1).number == segments[3].first + 1)
    }
    disk.unlisted = [try #require(segments.last).path]
    let reader = try RecordLogReader(at: Segmented.folder, on: disk)
    #expect(reader.count == 50)
  }

  @Test("a first segment missing from one listing during a compaction does not count as removed")
  func unlistedFirst() throws {
    let disk = HookedDisk()
    let log = try Segmented.log(on: disk)
    try Segmented.append(0..<50, to: log)
    try log.flush()
    let first = Segmented.segments(on: disk.simulated)[0]
    for missed in 0...1 {
      var lists = 0
      disk.beforeListing = {
        disk.simulated.unlisted = lists == missed ? [first.path] : []
        lists += 1
      }
      let reader = try RecordLogReader(at: Segmented.folder, on: disk)
      #expect(try reader.firstNumber == 0 && Segmented.ids(reader) == Array(0..<50))
    }
  }

  @Test("a temporary failure to read the disk is reported and loses no records")
  func unreadable() throws {
    for operation in ["open", "look up", "read"] {
      let (disk, logs, _) = try logs { _, _ in }
      for log in logs {
        disk.failingOperation = operation
        let ids = log.records.map(\.number)
        let damage = log.damage
        #expect(ids.count < 50)
        #expect(damage.allSatisfy { if case .unreadable = $0.reason { true } else { false } })
        disk.failingOperation = nil
        #expect(try Segmented.ids(log) == Array(0..<50))
      }
    }
  }

  @Test("a record that iteration cannot reach in a misnamed segment is not found by its number")
  func groupBeforeTheName() throws {
    let disk = SimulatedDisk()
    try disk.makeFolder("/log")
    let first = MadeUpFile.firstOfGroup(2, count: 3, size: 6, [1, 0x91, 1])
    let file = MadeUpFile((0, [(.records, 0, [1, 0x91, 1, 0x92]), first]), (5, [(.last, 4, [0x92, 1, 0x93])]))
    disk.setBytes(file.bytes, of: Segment(from: 3, in: "/log").path)
    let last = MadeUpFile((5, [(.records, 5, [1, 0x95])]))
    disk.setBytes(last.bytes, of: Segment(from: 5, in: "/log").path)
    let log = try RecordLogReader(at: "/log", on: disk)
    #expect(log.records.map(\.number) == [5])
    #expect((0..<6).filter { (try? log.record(at: $0)) != nil } == [5])
  }
}
