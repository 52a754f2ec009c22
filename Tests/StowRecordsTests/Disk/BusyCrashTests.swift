import Foundation
import Synchronization
import Testing

@testable import StowRecords

/// A crash while threads append, and another compacts the log by an index and saves that.
struct BusyCrashTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [RecordLog.Durability.manual, .everyAppend], [nil, 65_536])
  func theLastRecordOfEachKeyIsThere(_ durability: RecordLog.Durability, _ segmentSize: Int?) throws {
    for seed in SeededGenerator.seeds(4) {
      var random = SeededGenerator(seed: seed)
      let disk = SimulatedDisk()
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize, durability: durability)
      let index = try log.index(of: Event.self, by: ModelledReaders.key)
      let saved = folder.url.appending(path: "index \(seed)")
      let last = Mutex<[Int: Int]>([:])
      disk.failing = (disk.calls + random.below(2_000))..<Int.max
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        do {
          for id in thread * 5_000..<(thread + 1) * 5_000 {
            if thread == 0 {
              try log.compact(keeping: index.isLast)
              try index.update()
              if id % 3 == 0 { try index.save(to: saved) }
            } else {
              let event = Event(id, size: id % 40 * 100)
              let number = try log.append(event)
              if id % 7 == 0 { try log.synchronize() }
              guard id % 7 == 0 || durability == .everyAppend else { continue }
              let key = ModelledReaders.key(event)
              last.withLock { $0[key] = max($0[key] ?? number, number) }
            }
          }
        } catch {
          #expect(error is RecordLogError)
        }
      }
      disk.crash(&random)
      disk.faults = SimulatedDisk.Faults()
      let again = try RecordLog(at: "/log", on: disk)
      let made = try again.index(of: Event.self, by: ModelledReaders.key)
      let loaded = try again.index(of: Event.self, by: ModelledReaders.key, savedAt: saved)
      #expect(Set(made.keys) == Set(loaded.keys))
      for key in 0..<13 {
        let number = try made.record(for: key)?.number
        #expect(try number == loaded.record(for: key)?.number, "seed \(seed)")
        let least = last.withLock { $0[key] ?? -1 }
        #expect(number ?? -1 >= least, "seed \(seed)")
      }
    }
  }
}
