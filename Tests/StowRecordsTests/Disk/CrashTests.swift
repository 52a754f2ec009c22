import Foundation
import Testing

@testable import StowRecords

/// On a disk that crashes: what was synchronized is there, in order, and everything else is whole or absent.
struct CrashTests {
  /// In one file, and in segments of one block and of three.
  @Test(arguments: [RecordLog.Durability.manual, .everyAppend], [nil, 65_536, 200_000])
  func whatWasSynchronizedSurvivesCrashes(_ durability: RecordLog.Durability, _ segmentSize: Int?) {
    for seed in 0..<10 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let model = ModelledLog(durability: durability, segmentSize: segmentSize)
      for _ in 0..<80 { step(model, &random) }
      finish(model)
      if model.log == nil { Issue.record("seed \(seed)") }
    }
  }

  /// Longer than any test takes: the model says when it is over.
  private static let interval = RecordLog.Durability.interval(.seconds(1 << 20))

  private func step(_ model: ModelledLog, _ random: inout SeededGenerator) {
    if model.log != nil, model.isFailed, random.oneIn(3) { model.close() }
    model.open()
    switch random.below(44) {
    case 0..<22: for _ in 0...random.below(8) { model.append(size: random.below(300)) }
    case 22..<24: model.append(size: random.below(70_000))
    case 24:
      model.append(group: (0...random.below(5)).map { _ in random.below(random.oneIn(2) ? 300 : 60_000) })
    case 25: model.append(size: 60_000 + random.below(160_000))
    case 26..<29: model.synchronize()
    case 29..<33: model.flush()
    case 33: model.close()
    case 34: model.compact()
    case 35: model.stop(onlyWriters: random.oneIn(2))
    case 36, 37: model.crash(&random)
    case 38: model.disk.capacity = model.disk.used + random.below(2_000)
    case 39, 40: model.remove(before: random.below(model.events.count + 1))
    case 41 where model.log != nil: model.expectOthersAreRefused()
    case 42: model.letGo()
    default: model.disk.capacity = .max
    }
  }

  /// Now and then calls fail, until something else is done, and somebody else does something to the files. Who reads
  /// then gets what is right, or an error.
  @Test(arguments: [RecordLog.Durability.manual, .everyAppend, interval], [nil, 65_536, 200_000])
  func whateverFailsNothingIsLost(_ durability: RecordLog.Durability, _ segmentSize: Int?) async throws {
    let retentions: [RecordLog.Retention] = [[], .records(100), .bytes(400_000), .age(.seconds(30))]
    for seed in SeededGenerator.seeds(2) {
      var random = SeededGenerator(seed: seed)
      let retention = retentions[Int(durability == .manual ? seed : seed + 2) % 4]
      let model = ModelledLog(durability: durability, segmentSize: segmentSize, retention: retention)
      model.readers = try ModelledReaders(on: model.disk)
      for _ in 0..<40 {
        fail(model.disk, &random)
        if random.oneIn(8) {
          model.open()
          let sizes = (0...random.below(6)).map { _ in random.below(random.oneIn(6) ? 100_000 : 300) }
          await model.append(durably: sizes, cancelling: random.below(3))
        } else if random.oneIn(8) {
          model.open()
          model.append(batch: (0...random.below(40)).map { _ in random.below(6_000) })
        } else if random.oneIn(6) {
          interfere(model, &random)
        } else {
          step(model, &random)
        }
        if random.oneIn(4) { model.letIntervalPass() }
        if random.oneIn(8) { model.saveIndex(&random) }
        if random.oneIn(4) { model.look() }
        if model.disk.failingOperation == "look up" { await model.follow() }
        if random.oneIn(3) {
          model.check()
          model.disk.faults = SimulatedDisk.Faults()
          await model.follow()
        }
      }
      // Whatever has happened, the next opening goes on.
      for _ in 0..<2 {
        finish(model)
        model.close()
      }
      if model.events.isEmpty || model.synchronized < model.events.count { Issue.record("seed \(seed)") }
    }
  }

  private func fail(_ disk: SimulatedDisk, _ random: inout SeededGenerator) {
    disk.faults = SimulatedDisk.Faults()
    // An error of the disk, a signal, and a file server that has forgotten a file.
    disk.code = [5, 4, ESTALE][random.below(3)]
    switch random.below(9) {
    case 0, 1:
      let call = disk.calls + random.below(random.oneIn(2) ? 6 : 40)
      disk.failing = call..<(call + 1)
    case 2:
      let operations = [
        "open", "look up", "read folder", "rename", "remove", "open folder", "synchronize folder", "read",
        "look for data", "write", "synchronize", "truncate", "lock", "unlock", "make folder",
      ]
      disk.failingOperation = operations[random.below(operations.count)]
    case 3 where random.oneIn(4): disk.renamesAndFails = true
    case 4: disk.unreadable = (random.below(random.oneIn(2) ? 3_000 : 200_000), 5)
    case 5 where random.oneIn(2): disk.readingEnd = random.below(200_000)
    case 5: disk.mostFiles = disk.openFiles + random.below(3)
    default: break
    }
  }

  private func interfere(_ model: ModelledLog, _ random: inout SeededGenerator) {
    model.open()
    switch random.below(8) {
    case 0: model.damage(&random)
    case 1 where random.oneIn(3): model.cutOff(&random)
    case 1, 2:
      model.displace(&random) { random in
        for _ in 0..<random.below(5) {
          switch random.below(6) {
          case 0, 1: model.append(size: random.below(30_000))
          case 2: model.compact()
          case 3: model.remove(before: random.below(model.events.count + 1))
          case 4: model.synchronize()
          default: model.close()
          }
          model.look()
        }
      }
    case 3: model.compactByIndex()
    case 4: model.compactAlone(&random)
    case 5 where random.oneIn(3): model.setClock(UInt64(random.below(1 << 40)))
    default: model.setClock(model.disk.now + UInt64(random.below(20_000)))
    }
  }

  private func finish(_ model: ModelledLog) {
    model.disk.faults = SimulatedDisk.Faults()
    model.open()
    model.append(size: 10)
    model.synchronize()
    model.check()
  }

  /// One call fails, or all from one on, as when the process is killed there.
  @Test(arguments: [RecordLog.Durability.manual, .everyAppend], [nil, 65_536])
  func everySystemCallMayFail(_ durability: RecordLog.Durability, _ segmentSize: Int?) {
    let whole = ModelledLog(durability: durability, segmentSize: segmentSize)
    perform(whole)
    let calls = whole.disk.calls
    #expect(calls > 50)
    // Some of the calls, and others with the other durability.
    for call in stride(from: durability == .manual ? 0 : 1, to: calls, by: segmentSize == nil ? 3 : 5) {
      // What comes afterwards is another for neighbouring calls, which are much alike.
      for (failing, ending) in [(call..<(call + 1), call / 3 % 3), (call..<Int.max, (call / 3 + 1) % 3)] {
        let model = ModelledLog(durability: durability, segmentSize: segmentSize)
        model.disk.failing = failing
        perform(model)
        end(model, ending, seed: UInt64(call))
        finish(model)
        if model.log == nil { Issue.record("calls \(failing), ending \(ending)") }
      }
    }
  }

  /// Everything that a log does, with records of all sizes.
  private func perform(_ model: ModelledLog) {
    model.open()
    for size in [10, 40_000, 40_000, 10, 70_000, 10] { model.append(size: size) }
    model.append(group: [10, 20])
    model.append(group: [30_000, 10, 50_000])
    model.flush()
    model.append(size: 10)
    model.synchronize()
    model.append(size: 20)
    model.remove(before: 4)
    model.compact()
    model.append(size: 10)
    model.synchronize()
    model.close()
    model.open()
    model.append(size: 10)
    model.synchronize()
  }

  private func end(_ model: ModelledLog, _ ending: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    switch ending {
    case 0: model.stop(onlyWriters: false)
    case 1: model.crash(&random)
    default: model.close()
    }
  }

  /// Some file systems show what was in a block before, if the system stops before a new file is synchronized.
  @Test("foreign bytes in place of a new file do not disturb the log and are kept", arguments: [1, 55, 100_000])
  func otherBytes(_ size: Int) throws {
    let disk = SimulatedDisk()
    let garbage = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 + 11) }
    func plant(at path: String) { disk.setBytes(garbage, of: path + LogOpening.newEnding) }
    func kept(_ path: String) -> [UInt8]? { disk.bytes(of: path + LogOpening.newEnding + "-1") }
    // Where a log is created, and where one is compacted.
    plant(at: "/file")
    let file = try RecordLog(at: "/file", on: disk)
    #expect(kept("/file") == garbage)
    try file.append(1)
    plant(at: "/file")
    try file.compact { _ in true }
    #expect(disk.bytes(of: "/file" + LogOpening.newEnding + "-2") == garbage)
    #expect(try file.append(2) == 1)
    // Where a segment is begun, and where one is compacted.
    let log = try Segmented.log(on: disk)
    let first = Segmented.segments(on: disk)[0].path
    for number in 0..<50 {
      plant(at: Segment(from: number, in: Segmented.folder).path)
      try Segmented.append(number..<(number + 1), to: log)
    }
    try log.compact { _ in true }
    #expect(kept(first) == garbage)
    try log.close()
    #expect(try Segmented.ids(Segmented.log(on: disk)) == Array(0..<50))
  }

  /// The size of a new file may be there without its bytes.
  @Test func zerosInPlaceOfANewFileAreInNobodysWay() throws {
    let disk = SimulatedDisk()
    func plant(at path: String) { disk.setBytes([UInt8](repeating: 0, count: 55), of: path + LogOpening.newEnding) }
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    plant(at: "/log")
    try log.compact { _ in true }
    try disk.makeFolder("/folder")
    plant(at: Segment(from: 0, in: "/folder").path)
    let segments = try RecordLog(at: "/folder", on: disk, segmentSize: 65_536)
    try segments.append(Event(0, size: 65_536))
    plant(at: Segment(from: 1, in: "/folder").path)
    #expect(try segments.append(Event(1)) == 1)
    try segments.close()
    plant(at: Segment(from: 2, in: "/folder").path)
    try RecordLog(at: "/folder", on: disk).close()
    #expect(!disk.files(in: "/folder").contains { $0.hasSuffix(LogOpening.newEnding) })
  }

  @Test func aFullDiskIsAnErrorAndTheLogIsWhole() throws {
    for room in stride(from: 0, to: 140_000, by: 17_919) {
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk)
      try log.append(Event(0))
      try log.synchronize()
      disk.capacity = disk.bytes(of: "/log")!.count + room
      var count = 1
      #expect {
        for _ in 0..<3000 {
          try log.append(Event(count, size: 100))
          count += 1
        }
        try log.synchronize()
      } throws: {
        ($0 as? RecordLogError)?.reason == .diskFull
      }
      #expect(log.count == count)
      #expect(try log.verify().isEmpty)
      disk.capacity = .max
      // What had been accepted is written as soon as there is room.
      #expect(try log.append(Event(count)) == count)
      try log.synchronize()
      #expect(log.records.map(\.number) == Array(0...count))
    }
  }

  @Test func aFullDiskRefusesALongRecordAndKeepsTheOthers() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    disk.capacity = 200_000
    #expect { try log.append(Event(1, size: 300_000)) } throws: { ($0 as? RecordLogError)?.reason == .diskFull }
    #expect(try log.append(Event(2)) == 1)
    try log.synchronize()
    #expect(disk.bytes(of: "/log")!.count < 1000)
    #expect(try log.records.map { try $0.decode(Event.self).id } == [0, 2])
  }

  @Test func afterASynchronizationThatFailedNothingIsAppended() throws {
    let disk = SimulatedDisk()
    let log = try RecordLog(at: "/log", on: disk)
    try log.append(Event(0))
    try log.flush()
    disk.failingOperation = "synchronize"
    #expect(throws: RecordLogError.self) { try log.synchronize() }
    disk.failingOperation = nil
    for _ in 0..<2 {
      #expect { try log.append(Event(1)) } throws: { ($0 as? RecordLogError)?.reason == .synchronizationFailed }
    }
    #expect(throws: RecordLogError.self) { try log.close() }
    let again = try RecordLog(at: "/log", on: disk)
    #expect(try again.append(Event(1)) == 1)
  }
}
