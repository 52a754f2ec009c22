import Foundation
import Testing

@testable import StowRecords

/// Those who read a log beside its writer for as long as the system runs: a reader, indices and a follower.
final class ModelledReaders {
  private let disk: SimulatedDisk
  private var reader: RecordLogReader?
  private var indices: [(log: RecordLogReader, index: RecordIndex<Event, Int>)] = []
  /// The follower, and the number of the record that comes next.
  private var following: (records: RecordLogReader.FollowedRecords.Iterator, next: Int)?
  /// The records that were there when this was checked last, unless something was done since that may lose one.
  var present: [Int: Event] = [:]

  /// What saved indices were at several times: somebody may put an old one in the place of a new one.
  private var saved: [Data] = []
  private let folder: TemporaryFolder

  init(on disk: SimulatedDisk) throws {
    self.disk = disk
    folder = try TemporaryFolder()
  }

  /// The file of an index.
  var file: URL { folder.url.appending(path: "index") }

  @Sendable static func key(_ event: Event) -> Int { event.id % 13 }

  /// Forgets the log that was open for appending.
  func forgetLog() { indices = Array(indices.prefix(1)) }

  /// Saves an index, and returns the log whose index it is.
  func save(_ random: inout SeededGenerator) -> RecordLogReader? {
    guard let (log, index) = indices.randomElement(using: &random) else { return nil }
    do {
      try index.save(to: file)
      if let data = try? Data(contentsOf: file) { saved.append(data) }
      if saved.count > 2 { saved.remove(at: random.below(2)) }
      return log
    } catch {
      #expect(error is RecordLogError)
      return nil
    }
  }

  func forgetIndices() { indices = [] }

  func end() { (reader, indices, following, present) = (nil, [], nil, [:]) }

  /// Who opens the log now, and who has it open, sees the same.
  func check(_ log: RecordLog, _ records: [RecordLog.Record]) {
    do {
      present = try Dictionary(uniqueKeysWithValues: records.map { ($0.number, try $0.decode(Event.self)) })
      let new = try RecordLogReader(at: ModelledLog.path, on: disk)
      let old = reader ?? new
      reader = old
      old.lookAgain()
      let numbers = records.map(\.number)
      for reader in [new, old] {
        #expect(reader.records.map(\.number) == numbers)
        #expect(try reader.last?.number == numbers.last)
      }
      if indices.isEmpty { indices = [(old, try old.index(by: Self.key))] }
      if indices.last?.log !== log { indices = [indices[0], (log, try log.index(by: Self.key))] }
      let last = lastNumbers
      let loaded = try saved.map { data in
        try data.write(to: file)
        return try new.index(of: Event.self, by: Self.key, savedAt: file)
      }
      let lastRecords = records.filter { last.values.contains($0.number) }
      for index in indices.map(\.index) + loaded {
        // A compaction must not leave these out, unless a later one is known that was lost.
        let outdated = try lastRecords.filter { try !index.isLast($0) }.map(\.number)
        for key in 0..<13 {
          let number = try index.record(for: key)?.number
          // What is lost with others of its block may still be known.
          if number.map({ present[$0] != nil }) ?? true {
            #expect(number == last[key] && !outdated.contains { $0 == number })
          }
        }
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

  private var lastNumbers: [Int: Int] {
    Dictionary(present.map { (Self.key($1), $0) }, uniquingKeysWith: { max($0, $1) })
  }

  // MARK: - While something goes wrong

  typealias Taking = (RecordLog.Record) -> Void

  /// What each gets is right, and what it does not get is an error or damage.
  func look(_ log: RecordLog?, _ take: Taking) {
    for reader in [log, reader].compactMap({ $0 }) {
      let count = reader.count
      var next = 0
      for record in reader.records {
        #expect(record.number >= next)
        next = record.number + 1
        take(record)
      }
      walk(reader, forwards: true, before: count, take)
      walk(reader, forwards: false, before: count, take)
      for number in present.keys.sorted() where number % 11 == 0 && number < count { lookUp(number, reader, take) }
    }
    if present.isEmpty { return }
    let last = lastNumbers
    for (log, index) in indices {
      for key in 0..<13 {
        do {
          let record = try index.record(for: key)
          if let record { take(record) }
          if let last = last[key], last >= log.firstNumber { #expect(record?.number ?? -1 >= last) }
        } catch {
          #expect(error is RecordLogError)
        }
      }
    }
  }

  private func walk(_ reader: RecordLogReader, forwards: Bool, before count: Int, _ take: Taking) {
    var cursor = reader.cursor(from: forwards ? 0 : .max)
    var told: Set<Int> = []
    while true {
      do {
        guard let record = try forwards ? cursor.next() : cursor.previous() else { break }
        take(record)
        told.insert(record.number)
      } catch let error as RecordLogError {
        switch error.reason {
        case .damaged(let damage): told.formUnion(damage.records)
        case .removed(_, let first): told.formUnion(0..<first)
        default: return
        }
      } catch {
        Issue.record(error)
      }
    }
    let missing = present.keys.filter { $0 < count && $0 >= reader.firstNumber && !told.contains($0) }
    #expect(missing.isEmpty, "\(forwards): \(missing.sorted())")
  }

  private func lookUp(_ number: Int, _ reader: RecordLogReader, _ take: Taking) {
    do {
      let record = try reader.record(at: number)
      #expect(record.number == number)
      take(record)
    } catch let error as RecordLogError {
      switch error.reason {
      case .noSuchRecord: Issue.record(error)
      case .removed(_, let first): #expect(number < first)
      default: break
      }
    } catch {
      Issue.record(error)
    }
  }

  // MARK: - Following

  /// Follows up to the last record, or until there is an error.
  func follow(_ take: Taking) async {
    guard let reader, let last = present.keys.max() else { return }
    var (records, next) = following ?? (reader.follow(from: 0).makeAsyncIterator(), 0)
    while next <= last {
      reader.lookAgain()
      do {
        guard let record = try await records.next() else {
          Issue.record("following has ended")
          return
        }
        #expect(record.number >= next)
        take(record)
        let skipped = (next..<max(next, record.number)).filter { present[$0] != nil }
        #expect(Set(skipped).isSubset(of: reader.damage.flatMap(\.records)), "\(skipped)")
        next = record.number + 1
      } catch let error as RecordLogError {
        if case .removed(_, let first) = error.reason, first > next {
          (records, next) = (reader.follow(from: first).makeAsyncIterator(), first)
          continue
        }
        #expect(disk.failingOperation != nil, "\(error)")
        break
      } catch {
        Issue.record(error)
        break
      }
    }
    following = (records, next)
  }
}
