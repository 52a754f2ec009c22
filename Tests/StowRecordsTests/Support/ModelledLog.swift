import Foundation
import Testing

@testable import StowRecords

/// A log on a simulated disk, in a file or in a folder of segments, and what must be in it.
final class ModelledLog {
  private static let path = "/folder/log"

  let disk: SimulatedDisk
  private(set) var log: RecordLog?
  /// What the records hold, by their numbers. Nil for one that may or may not be there.
  private(set) var events: [Event?] = []
  /// Records that a crash took, before they were synchronized, from between others.
  private(set) var lost: Set<Int> = []
  /// Records of which all must be there, or none.
  private var groups: [Range<Int>] = []
  /// Records of several blocks that a crash has left unfinished, and those that a compaction has left out.
  private var abandoned: Set<Int> = []
  /// The records before this one cannot get lost any more.
  private(set) var synchronized = 0
  /// What was there before a compaction whose name may not be on the disk: a crash may bring it back.
  private var replaced: (events: [Event?], lost: Set<Int>, abandoned: Set<Int>, synchronized: Int)?
  private var nextID = 0
  /// Packs in every other opening: a log may have both.
  private var packing = RecordLog.Packing.words
  let durability: RecordLog.Durability
  /// Nil for a log in one file.
  private let segmentSize: Int?
  /// The first record is not after the second number, and not before the first one.
  private var (removed, maybeRemoved) = (0, 0)

  init(
    on disk: SimulatedDisk = SimulatedDisk(), durability: RecordLog.Durability = .manual,
    segmentSize: Int? = nil
  ) {
    self.disk = disk
    self.durability = durability
    self.segmentSize = segmentSize
  }

  // MARK: - What is done

  func open() {
    if log != nil { return }
    do {
      log = try RecordLog(
        at: Self.path, on: disk, segmentSize: segmentSize, durability: durability, packing: packing)
      packing = packing == .words ? .none : .words
    } catch {
      expectSystemError(error)
    }
    if log != nil { check() }
  }

  func append(size: Int) {
    guard let log else { return }
    let event = Event(nextID, size: size)
    nextID += 1
    do {
      #expect(try log.append(event) == events.count)
      events.append(event)
      if durability == .everyAppend { synchronized = events.count }
    } catch {
      expectSystemError(error)
      // A record may be there although the disk did not say so, if it was written.
      if log.count > events.count { events.append(nil) }
    }
  }

  func append(group sizes: [Int]) {
    guard let log else { return }
    let group = sizes.map { size in
      nextID += 1
      return Event(nextID - 1, size: size)
    }
    let numbers = events.count..<(events.count + group.count)
    do {
      #expect(try log.append(group: group) == numbers)
      events += group
      if durability == .everyAppend { synchronized = events.count }
      groups.append(numbers)
    } catch {
      expectSystemError(error)
      #expect(log.count == events.count || log.count == numbers.upperBound)
      if log.count > events.count {
        events += group.map { _ in nil }
        groups.append(numbers)
      }
    }
  }

  func synchronize() {
    guard let log else { return }
    do {
      try log.synchronize()
      synchronized = events.count
    } catch { expectSystemError(error) }
  }

  func flush() {
    do { try log?.flush() } catch { expectSystemError(error) }
  }

  func close() {
    guard let log else { return }
    do {
      try log.close()
      synchronized = events.count
    } catch {
      expectSystemError(error)
      forget()
    }
    self.log = nil
  }

  func compact() {
    guard let log else { return }
    let absent = lost.union(events.indices.filter { $0 % 3 == 1 })
    if segmentSize != nil {
      // Some segments may be compacted where this throws, or stay so after a crash.
      (lost, abandoned, groups) = (absent, absent.union(abandoned), [])
      do {
        try log.compact { $0.number % 3 != 1 }
        synchronized = events.count
      } catch {
        expectSystemError(error)
      }
      return
    }
    do {
      try log.compact { $0.number % 3 != 1 }
      replaced =
        log.state.withLock { $0.writer?.failure == nil } ? nil : (events, lost, abandoned, synchronized)
      (lost, abandoned, synchronized, groups) = (absent, absent, events.count, [])
    } catch {
      expectSystemError(error)
      #expect(log.count == events.count, "a compaction that throws changes nothing")
    }
  }

  func remove(before number: Int) {
    guard let log else { return }
    maybeRemoved = max(maybeRemoved, number)
    do {
      removed = max(removed, try log.removeRecords(before: number))
      #expect(removed <= maybeRemoved)
    } catch {
      expectSystemError(error)
    }
  }

  /// The process is killed: what it had not written is gone.
  func stop() {
    disk.stop()
    forget()
  }

  func crash(_ random: inout SeededGenerator) {
    disk.crash(&random)
    forget()
  }

  /// What is not synchronized may not be there.
  private func forget() { log = nil }

  // MARK: - What must be

  /// Reads everything, and takes what a crash has left for what there is.
  func check() {
    guard let log else { return }
    let failing = disk.failing
    disk.failing = 0..<0
    defer { disk.failing = failing }
    // A record that was appended in vain has its number all the same, if a part of it was written.
    if log.recovery.records.lowerBound == events.count { events += log.recovery.records.map { _ in nil } }
    let records = Array(log.records)
    if let replaced, records.contains(where: { lost.contains($0.number) }) {
      (events, lost, abandoned, synchronized) = replaced
    }
    replaced = nil
    let count = log.count
    #expect(count >= synchronized && count <= events.count, "\(count) records")
    for record in records { check(record) }
    let first = log.firstNumber
    #expect(removed <= first && first <= maybeRemoved, "\(removed) to \(maybeRemoved): \(first)")
    let numbers = records.map(\.number)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    let missing = Set(first..<count).subtracting(numbers)
    #expect(missing.subtracting(lost).allSatisfy { $0 >= synchronized }, "lost: \(missing.sorted())")
    abandoned.formUnion(log.recovery.records)
    groups.removeAll { $0.lowerBound >= count || $0.lowerBound < first }
    for group in groups {
      #expect(missing.isSuperset(of: group) || missing.isDisjoint(with: group), "\(group)")
    }
    #expect(groups.allSatisfy { $0.upperBound <= count })
    #expect(
      missing.subtracting(abandoned).isSubset(of: log.damage.flatMap { Array($0.records) }), "\(log.damage)")
    events.removeLast(max(0, events.count - count))
    // What a crash brings back is what it was.
    lost = missing.union(lost.filter { $0 < first })
  }

  private func check(_ record: RecordLog.Record) {
    guard let event = try? record.decode(Event.self), record.number < events.count else {
      Issue.record("record \(record.number)")
      return
    }
    if let expected = events[record.number] {
      #expect(event == expected)
    } else {
      events[record.number] = event
    }
  }

  private func expectSystemError(_ error: any Error) {
    #expect(error is RecordLogError, "\(error)")
  }
}
