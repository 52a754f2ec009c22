import Foundation
import Synchronization
import Testing

@testable import StowRecords

/// A log on a simulated disk, in a file or in a folder of segments, and what must be in it.
final class ModelledLog {
  static let path = "/folder/log"

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
  /// The records before this one cannot get lost any more, and those before the other one only if the system stops.
  private(set) var synchronized = 0
  private var written = 0
  /// The records that damage may have cost. Up to the highest number if what is appended in the same block may be lost,
  /// too, or be taken for a torn end.
  private var endangered: [Range<Int>] = []
  private var hasDamage = false
  /// What was there before a compaction whose name may not be on the disk: a crash may bring it back.
  private var replaced: (events: [Event?], lost: Set<Int>, abandoned: Set<Int>, synchronized: Int)?
  private var nextID = 0
  /// The ids of events that were certainly not appended.
  private var refused: Set<Int> = []
  /// Those who read beside the log. With them, `check` takes several times as long.
  var readers: ModelledReaders?
  /// Whether an opening that failed may have given up unfinished records: the next one does not name them.
  private var mayHaveAbandoned = false
  /// Whether the files are somewhere else for a while, and whether a copy has taken the place of the log for good.
  private var (isDisplaced, isReplaced) = (false, false)
  /// Packs in every other opening: a log may have both.
  private var packing = RecordLog.Packing.words
  let durability: RecordLog.Durability
  /// An interval need not bring these to the disk: an earlier process wrote them, or their caller got an error.
  private var unscheduled = 0
  /// Nil for a log in one file.
  private let segmentSize: Int?
  private let retention: RecordLog.Retention
  /// What the clock said, and how many records there were when it was set.
  private var clocks: [(count: Int, now: UInt64)] = []
  /// The keys whose last records a compaction has left.
  private var keys: Set<Int> = []
  /// The first record is not after the second number, and not before the first one.
  private var (removed, maybeRemoved) = (0, 0)

  init(
    on disk: SimulatedDisk = SimulatedDisk(), durability: RecordLog.Durability = .manual,
    segmentSize: Int? = nil, retention: RecordLog.Retention = []
  ) {
    self.disk = disk
    self.durability = durability
    self.segmentSize = segmentSize
    self.retention = retention
    clocks = [(0, disk.now)]
  }

  // MARK: - What is done

  func open() {
    if log != nil || isDisplaced { return }
    do {
      log = try RecordLog(
        at: Self.path, on: disk, segmentSize: segmentSize, retention: retention, durability: durability,
        packing: packing)
      packing = packing == .words ? .none : .words
    } catch {
      expectSystemError(error)
      mayHaveAbandoned = true
    }
    guard let log else { return }
    (isReplaced, unscheduled) = (false, log.count)
    check()
    // What is damaged is known now: the next records are in another block.
    endangered = []
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

  /// Takes notice that events were appended in vain. They may be there only if the disk did not say so, after which
  /// nothing is appended.
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

  var isFailed: Bool { log?.state.withLock { $0.writer?.failure != nil } ?? true }

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
    // Until then the thread that has appended may have the log.
    try? await log.writingCalls.run {}
    while events.count < log.count { events.append(nil) }
    if events[before...].contains(nil) { unscheduled = events.count }
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

  /// The interval is over, if the log waits for that.
  func letIntervalPass() {
    guard let log, log.state.withLock({ $0.isWritingScheduled }) else { return }
    let failure = Mutex<RecordLogError?>(nil)
    log.onBackgroundError = { error in failure.withLock { $0 = error } }
    log.writeLater()
    if failure.withLock({ $0 }) == nil {
      synchronized = events.count
    } else {
      #expect(isFailed || log.state.withLock { $0.isWritingScheduled })
    }
  }

  func flush() { do { try log?.flush() } catch { expectSystemError(error) } }

  func close() {
    guard let log else { return }
    do {
      try log.close()
      synchronized = events.count
    } catch {
      expectSystemError(error)
    }
    // Where the lock could not be given back, it is when nobody has the log any more.
    self.log = nil
    readers?.forgetLog()
  }

  /// Nobody has the log any more but one who reads. It is closed when that one is done.
  func letGo() {
    let isWritable = !isFailed && !isReplaced && endangered.isEmpty
    let faults = disk.faults
    disk.faults = SimulatedDisk.Faults()
    defer { disk.faults = faults }
    var records = log?.records
    log = nil
    readers?.forgetLog()
    if records == nil { return }
    withExtendedLifetime(records) { expectOthersAreRefused() }
    records = nil
    if isWritable { synchronized = events.count }
  }

  /// Another writer gets an error, and changes nothing.
  func expectOthersAreRefused() {
    if isReplaced { return }
    let before = disk.contents(of: Self.path)
    do {
      try RecordLog(at: Self.path, on: disk, segmentSize: segmentSize).close()
      Issue.record("Two have the log open for appending")
    } catch {
      expectSystemError(error)
    }
    #expect(disk.contents(of: Self.path) == before)
  }

  func saveIndex(_ random: inout SeededGenerator) {
    if let log, readers?.save(&random) === log { synchronized = events.count }
  }

  func compact() {
    keys = []
    compact(leavingOut: events.indices.filter { $0 % 3 == 1 }) { $0.number % 3 != 1 }
  }

  /// Keeps the last record of each key.
  func compactByIndex() {
    check()
    guard let log, let readers, retention == [], !isFailed,
      let index = try? log.index(of: Event.self, by: ModelledReaders.key, savedAt: readers.file)
    else { return }
    let last = Dictionary(
      events.enumerated().map { ($1.map(ModelledReaders.key), $0) }, uniquingKeysWith: { max($0, $1) })
    let outdated = events.indices.filter { events[$0] == nil || last[events[$0].map(ModelledReaders.key)] != $0 }
    if !hasDamage {
      keys = Set(readers.present.filter { $0.key < synchronized }.values.map(ModelledReaders.key))
    }
    compact(leavingOut: outdated, index.isLast)
  }

  private func compact(leavingOut numbers: [Int], _ isKept: (RecordLog.Record) throws -> Bool) {
    guard let log, endangered.isEmpty || !isDisplaced else { return }
    // What is damaged now is left out without a word later.
    if !endangered.isEmpty { check() }
    readers?.present = [:]
    let absent = lost.union(numbers)
    if segmentSize != nil {
      // Some segments may be compacted where this throws, or stay so after a crash.
      (lost, abandoned, groups) = (absent, absent.union(abandoned), [])
      do {
        try log.compact(keeping: isKept)
        synchronized = events.count
      } catch {
        expectSystemError(error)
      }
      return
    }
    do {
      try log.compact(keeping: isKept)
      replaced = log.state.withLock { $0.writer?.failure == nil } ? nil : (events, lost, abandoned, synchronized)
      (lost, abandoned, synchronized, groups) = (absent, absent, events.count, [])
    } catch {
      expectSystemError(error)
      #expect(log.count == events.count, "a compaction that throws changes nothing")
    }
  }

  func remove(before number: Int) {
    guard let log else { return }
    keys = []
    maybeRemoved = max(maybeRemoved, number)
    do {
      removed = max(removed, try log.removeRecords(before: number))
    } catch {
      expectSystemError(error)
    }
  }

  func setClock(_ now: UInt64) {
    disk.now = now
    clocks.append((events.count, now))
  }

  /// The process is killed: what it had not written is gone. Those who read may be other processes.
  func stop(onlyWriters: Bool) {
    disk.stop(onlyWriters: onlyWriters)
    log = nil
    if !onlyWriters { readers?.end() }
  }

  func crash(_ random: inout SeededGenerator) {
    disk.crash(&random)
    (log, written) = (nil, 0)
    readers?.end()
  }

  // MARK: - What somebody else does

  private var segments: [Segment] {
    segmentSize == nil
      ? [Segment(file: Self.path)]
      : disk.files(in: Self.path).compactMap { Segment(named: $0.dropFirst(Self.path.count + 1), in: Self.path) }
  }

  /// Opens a segment as a file, and compacts it, without leaving out anything.
  func compactAlone(_ random: inout SeededGenerator) {
    let segments = segments
    guard segmentSize != nil, log != nil, !segments.isEmpty, endangered.isEmpty else { return }
    do {
      let alone = try RecordLog(at: segments[random.below(segments.count)].path, on: disk)
      abandoned.formUnion(alone.recovery.records)
      // What is lost counts as left out then.
      abandoned.formUnion(lost)
      groups = []
      try alone.compact { _ in true }
      try alone.close()
    } catch {
      expectSystemError(error)
    }
  }

  /// A bit changes on the disk.
  func damage(_ random: inout SeededGenerator) {
    let segments = segments
    guard !segments.isEmpty else { return }
    let segment = segments[random.below(segments.count)]
    guard let size = disk.bytes(of: segment.path)?.count, size > 100 else { return }
    let offset = random.oneIn(2) ? random.below(size) : size - 1 - random.below(min(300, size))
    // Without any whole head nobody knows a file.
    if offset % BlockHead.blockSize < BlockHead.size, size < BlockHead.blockSize * 2 || hasDamage { return }
    let numbers = endangered(in: segment, from: offset, isRestGone: false)
    guard disk.flipBit(random.below(8), at: offset, of: segment.path) else { return }
    note(endangered: numbers)
  }

  /// A file is cut off, which the log notices when it writes next.
  func cutOff(_ random: inout SeededGenerator) {
    let segments = segments
    guard !segments.isEmpty else { return }
    let segment = segments[random.below(segments.count)]
    guard let size = disk.bytes(of: segment.path)?.count, size > 100 else { return }
    let end = max(100, size - 1 - random.below(random.oneIn(2) ? 300 : 100_000))
    // Without any whole head nobody knows a file.
    if hasDamage && end < BlockHead.blockSize * 2 { return }
    note(endangered: endangered(in: segment, from: end, isRestGone: true))
    disk.cutOff(segment.path, to: end)
    // A reader may know of more blocks than there are.
    readers?.end()
    append(size: 10)
    flush()
    close()
  }

  private func note(endangered numbers: Range<Int>) {
    endangered.append(numbers)
    (hasDamage, keys) = (true, [])
    readers?.present = [:]
    // What others have seen at the end may be appended anew.
    if numbers.upperBound == .max { readers?.end() }
  }

  /// The records that damage may cost: those in the rest of the block or of the file, and those that reach into it.
  private func endangered(in segment: Segment, from offset: Int, isRestGone: Bool) -> Range<Int> {
    let bytes = disk.bytes(of: segment.path) ?? []
    let index = offset / BlockHead.blockSize
    let heads = stride(from: 0, to: bytes.count, by: BlockHead.blockSize).map {
      BlockHead(Array(bytes[$0..<min($0 + BlockHead.size, bytes.count)]))
    }
    let identity = heads.lazy.compactMap { $0 }.first?.identity ?? 0
    func block(_ index: Int, before end: Int = .max) -> Block? {
      let start = index * BlockHead.blockSize
      return Block(index, Array(bytes[start..<min(end, start + BlockHead.blockSize, bytes.count)]), identity: identity)
    }
    let (part, whole) = (block(index, before: offset), block(index))
    var first = part?.nextRecord ?? whole?.head?.firstRecord ?? segment.first
    if let number = whole?.continuation?.number, part?.continuation == nil {
      let beginning = (0..<index).reversed().lazy.compactMap { block($0)?.beginning }.first
      first = min(first, beginning?.numbers.lowerBound ?? number)
    }
    let isLast = index + 1 >= heads.count || isRestGone
    let end =
      isLast
      ? segments.first { $0.first > segment.first }?.first ?? .max
      : max(whole?.nextRecord ?? .max, heads[index + 1]?.firstRecord ?? 0)
    return min(first, end)..<end
  }

  /// The log, or one of its files, is moved away, and a copy may be put in its place. Moved back it is where it was.
  func displace(_ random: inout SeededGenerator, while body: (inout SeededGenerator) -> Void) {
    let segments = segments
    guard !segments.isEmpty else { return }
    let isSegment = segmentSize != nil && random.oneIn(2)
    let segment = segments[random.below(segments.count)]
    let path = isSegment ? segment.path : Self.path
    let away = "/away \(disk.calls)"
    disk.move(path, to: away)
    let isCopied = random.oneIn(2)
    if isCopied { disk.duplicate(away, as: path) }
    if isCopied, !isSegment { isReplaced = true }
    // What could not be removed of a compaction does not count.
    func contents() -> [String: [UInt8]] { disk.contents(of: path).filter { !$0.key.hasSuffix(LogOpening.newEnding) } }
    let before = contents()
    isDisplaced = true
    readers?.present = [:]
    // A reader need not notice that others were compacted meanwhile.
    if isSegment { readers?.forgetIndices() }
    body(&random)
    isDisplaced = false
    if !isSegment { #expect(contents() == before, "what is in the place of the log") }
    // One that the log has removed does not come back.
    let next = segments.first { $0.first > segment.first }
    let isLeft = max(removed, log?.firstNumber ?? 0) <= segment.first && next.map(self.segments.contains) ?? true
    if !isCopied, !isSegment || isLeft { disk.move(away, to: path) }
  }

  // MARK: - What must be

  /// Reads everything, and takes what a crash has left for what there is.
  func check() {
    guard let log else { return }
    let faults = disk.faults
    disk.faults = SimulatedDisk.Faults()
    defer { disk.faults = faults }
    let records = Array(log.records)
    // What such a one has in memory is never written.
    if isFailed { return }
    // A record that was appended in vain has its number all the same, if a part of it was written.
    if log.recovery.records.lowerBound == events.count { events += log.recovery.records.map { _ in nil } }
    if let replaced, records.contains(where: { lost.contains($0.number) }) {
      (events, lost, abandoned, synchronized) = replaced
    }
    replaced = nil
    let count = log.count
    let torn = endangered.filter { $0.upperBound == .max }.map(\.lowerBound).min() ?? .max
    let kept = min(torn, max(synchronized, written))
    #expect(count >= kept && count <= events.count, "\(count) records")
    for record in records { check(record) }
    let first = log.firstNumber
    #expect(
      removed <= first && first <= max(maybeRemoved, outdated(of: count)),
      "\(removed) to \(maybeRemoved): \(first)")
    let numbers = records.map(\.number)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    let missing = Set(first..<count).subtracting(numbers)
    let unexpected = missing.subtracting(lost).filter { number in
      number < kept && !endangered.contains { $0.contains(number) }
    }
    #expect(unexpected.isEmpty, "lost: \(unexpected.sorted())")
    abandoned.formUnion(log.recovery.records)
    if mayHaveAbandoned { abandoned.formUnion(missing.filter { $0 >= kept }) }
    mayHaveAbandoned = false
    groups.removeAll { $0.lowerBound >= count || $0.lowerBound < first }
    for group in groups {
      #expect(missing.isSuperset(of: group) || missing.isDisjoint(with: group), "\(group)")
    }
    #expect(groups.allSatisfy { $0.upperBound <= count })
    #expect(missing.subtracting(abandoned).isSubset(of: log.damage.flatMap { Array($0.records) }), "\(log.damage)")
    if case .interval = durability, count > max(synchronized, unscheduled) {
      #expect(log.state.withLock { $0.isWritingScheduled })
    }
    events.removeLast(max(0, events.count - count))
    // What a crash brings back is what it was.
    lost = missing.union(lost.filter { $0 < first })
    (synchronized, written) = (min(synchronized, count), count)
    endangered.removeAll { $0.upperBound < .max }
    #expect(keys.isSubset(of: records.compactMap { events[$0.number].map(ModelledReaders.key) }))
    readers?.check(log, records)
  }

  /// The records before this number need not be kept.
  private func outdated(of count: Int) -> Int {
    if retention == [] { return 0 }
    // What the age of a segment is depends on two times that the clock has told.
    let ages = clocks.indices.filter { first in
      clocks[first...].contains { $0.now > clocks[first].now + 30_000 }
    }
    let old = ages.last.map { $0 + 1 < clocks.count ? clocks[$0 + 1].count : count }
    return retention == .age(.seconds(30))
      ? old ?? 0 : retention == .records(100) ? (hasDamage ? count : count - 100) : count
  }

  /// Those who read get what is right or an error, whatever goes wrong now.
  func look() { readers?.look(log, check) }

  /// Everything that is there is followed.
  func follow() async { await readers?.follow(check) }

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
