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
  /// The ids of events that were certainly not appended.
  private var refused: Set<Int> = []
  /// One who reads beside the log, for as long as the system runs, and what each of both knows of the last record of a key.
  private var reader: RecordLogReader?
  /// Whether `check` asks them, too, which takes several times as long.
  var hasReaders = false
  private var indices: [(log: RecordLogReader, index: RecordIndex<Event, Int>)] = []
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
      noteFailure([event])
    }
  }

  /// Takes notice that events were appended in vain. They may be there only if the disk did not say so, after which nothing
  /// is appended.
  private func noteFailure(_ group: [Event]) {
    guard let log else { return }
    #expect(
      log.count == events.count
        || (durability == .everyAppend && isFailed && log.count == events.count + group.count))
    if log.count > events.count {
      events += group.map { _ in nil }
    } else {
      refused.formUnion(group.map(\.id))
    }
  }

  private var isFailed: Bool { log?.state.withLock { $0.writer?.failure != nil } ?? true }

  private func newEvents(_ sizes: [Int]) -> [Event] {
    sizes.map { size in
      nextID += 1
      return Event(nextID - 1, size: size)
    }
  }

  func append(batch sizes: [Int]) {
    guard let log else { return }
    let batch = newEvents(sizes)
    do {
      #expect(try log.append(contentsOf: batch) == events.count..<(events.count + batch.count))
      events += batch
      if durability == .everyAppend { synchronized = events.count }
    } catch {
      expectSystemError(error)
      let count = log.count - events.count
      #expect((0...batch.count).contains(count))
      if durability == .everyAppend, isFailed {
        events += batch.prefix(count).map { _ in nil }
      } else {
        events += batch.prefix(count).map { $0 }
        refused.formUnion(batch.dropFirst(count).map(\.id))
        if durability == .everyAppend { synchronized = events.count }
      }
    }
  }

  /// Tasks append at the same time, and some are cancelled.
  func append(durably sizes: [Int], cancelling: Int) async {
    guard let log else { return }
    let new = newEvents(sizes)
    let tasks = new.map { event in Task { try await log.appendDurably(event) } }
    for task in tasks.prefix(cancelling) { task.cancel() }
    let before = events.count
    for (task, event) in zip(tasks, new) {
      do {
        let number = try await task.value
        #expect(number >= before)
        while events.count <= number { events.append(nil) }
        #expect(events[number] == nil)
        events[number] = event
        synchronized = max(synchronized, number + 1)
      } catch is CancellationError {
        refused.insert(event.id)
      } catch {
        expectSystemError(error)
      }
    }
    while events.count < log.count { events.append(nil) }
    #expect(events.count == log.count && events.count <= before + new.count)
  }

  func append(group sizes: [Int]) {
    guard let log else { return }
    let group = newEvents(sizes)
    let numbers = events.count..<(events.count + group.count)
    do {
      #expect(try log.append(group: group) == numbers)
      events += group
      if durability == .everyAppend { synchronized = events.count }
      groups.append(numbers)
    } catch {
      expectSystemError(error)
      if log.count > events.count { groups.append(numbers) }
      noteFailure(group)
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
    // Where the lock could not be given back, it is when nobody has the log any more.
    (self.log, indices) = (nil, [])
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
  private func forget() {
    (log, reader, indices) = (nil, nil, [])
  }

  // MARK: - What must be

  /// Reads everything, and takes what a crash has left for what there is.
  func check() {
    guard let log else { return }
    let (failing, failingOperation, capacity) = (disk.failing, disk.failingOperation, disk.capacity)
    (disk.failing, disk.failingOperation, disk.capacity) = (0..<0, nil, .max)
    defer { (disk.failing, disk.failingOperation, disk.capacity) = (failing, failingOperation, capacity) }
    // What such a one has in memory is never written.
    if isFailed { return }
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
    checkReaders(records)
  }

  /// Who opens the log now, and who has it open, sees the same.
  private func checkReaders(_ records: [RecordLog.Record]) {
    guard hasReaders, let log else { return }
    do {
      let new = try RecordLogReader(at: Self.path, on: disk)
      let old = reader ?? new
      reader = old
      let numbers = records.map(\.number)
      for reader in [new, old] {
        #expect(reader.records.map(\.number) == numbers)
        #expect(try reader.last?.number == numbers.last)
      }
      if indices.isEmpty || indices[0].log !== log {
        indices = try [log, old].map { ($0, try $0.index(of: Event.self) { $0.id % 13 }) }
      }
      var last: [Int: Int] = [:]
      for record in records { last[try record.decode(Event.self).id % 13] = record.number }
      for (_, index) in indices {
        for key in 0..<13 { #expect(try index.record(for: key)?.number == last[key]) }
      }
    } catch let error as RecordLogError {
      // Records that are lost.
      guard case .damaged = error.reason else {
        Issue.record(error)
        return
      }
    } catch {
      Issue.record(error)
    }
  }

  private func check(_ record: RecordLog.Record) {
    guard let event = try? record.decode(Event.self), record.number < events.count else {
      Issue.record("record \(record.number)")
      return
    }
    #expect(!refused.contains(event.id), "\(event.id) was not appended")
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
