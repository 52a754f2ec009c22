import Foundation
import Synchronization
import Testing

@testable import StowRecords

/// A crash while tasks append, and another one compacts the log by an index and saves that. Some writes fail before.
struct BusyCrashTests {
  private static let durabilities: [RecordLog.Durability] = [
    .manual, .everyAppend, .interval(.milliseconds(1)),
  ]
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: durabilities, [nil, 65_536])
  func theLastRecordOfEachKeyIsThere(_ durability: RecordLog.Durability, _ segmentSize: Int?) async throws {
    for seed in SeededGenerator.seeds(2) {
      var random = SeededGenerator(seed: seed)
      let disk = HookedDisk()
      let simulated = disk.simulated
      let log = try RecordLog(at: "/log", on: disk, segmentSize: segmentSize, durability: durability)
      let index = try log.index(of: Event.self, by: ModelledReaders.key)
      let saved = folder.url.appending(path: "index \(seed)")
      let end = simulated.calls + random.below(2_000)
      simulated.failing = end..<Int.max
      let writes = Atomic<Int>(0)
      // A log that is still writing calls this after the crash, too.
      let writesFail = Atomic<Bool>(true)
      disk.beforeWriting = {
        guard writesFail.load(ordering: .relaxed) else { return }
        let write = writes.add(1, ordering: .relaxed).newValue
        if write % 17 == Int(seed % 17) { throw SystemError(operation: "write", code: write % 2 == 0 ? 5 : 28) }
      }
      /// Repeats a call until the system has stopped. Returns the last number that it returned for each key.
      @Sendable func repeating(_ call: @Sendable (Int) async throws -> (key: Int, number: Int)?) async -> [Int: Int] {
        var last: [Int: Int] = [:]
        for round in 0..<3_000 where simulated.locked({ simulated.calls }) < end {
          do {
            if let (key, number) = try await call(round) { last[key] = max(last[key] ?? number, number) }
          } catch {
            #expect(error is RecordLogError, "\(error)")
          }
        }
        return last
      }
      let last = await withTaskGroup(of: [Int: Int].self) { group in
        group.addTask {
          await repeating { round in
            try log.compact(keeping: index.isLast)
            try index.update()
            if round % 3 == 0 { try index.save(to: saved) }
            return nil
          }
        }
        for task in 1..<4 {
          group.addTask {
            await repeating { round in
              let event = Event(task * 3_000 + round, size: round % 40 * 100)
              let number = try await task == 1 ? log.appendDurably(event) : log.append(event)
              if task > 1, durability != .everyAppend {
                if round % 7 > 0 { return nil }
                try log.synchronize()
              }
              return (ModelledReaders.key(event), number)
            }
          }
        }
        return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
      }
      writesFail.store(false, ordering: .relaxed)
      simulated.crash(&random)
      simulated.locked { simulated.faults = SimulatedDisk.Faults() }
      let again = try RecordLog(at: "/log", on: disk)
      let made = try again.index(of: Event.self, by: ModelledReaders.key)
      let loaded = try again.index(of: Event.self, by: ModelledReaders.key, savedAt: saved)
      #expect(Set(made.keys) == Set(loaded.keys))
      for key in 0..<13 {
        let number = try made.record(for: key)?.number
        #expect(try number == loaded.record(for: key)?.number, "seed \(seed)")
        #expect(number ?? -1 >= last[key] ?? -1, "seed \(seed)")
      }
    }
  }
}
