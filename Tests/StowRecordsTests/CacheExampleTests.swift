import Foundation
import StowRecords
import Testing

/// A cache of values on disk, made of a log and an index.
struct CacheExampleTests {
  final class Cache<Value: Codable> {
    private struct Entry: Codable { var key: String, value: Value }
    private let log: RecordLog
    private let index: RecordIndex<Entry, String>

    init(at url: URL) throws {
      log = try RecordLog(at: url)
      index = try log.index(of: Entry.self, by: \.key)
      if index.outdated > index.count { try log.compact(keeping: index.isLast) }
    }

    func value(for key: String) throws -> Value? { try index.value(for: key)?.value }

    func set(_ value: Value, for key: String) throws { try log.append(Entry(key: key, value: value)) }
  }

  @Test func valuesAreFoundAgain() throws {
    let folder = try TemporaryFolder()
    for round in 0..<4 {
      let cache = try Cache<[Int]>(at: folder.log)
      #expect(try cache.value(for: "b") == (round == 0 ? nil : [round - 1]))
      try cache.set([round], for: "b")
      try cache.set([], for: "a")
      #expect(try cache.value(for: "b") == [round])
      #expect(try cache.value(for: "c") == nil)
    }
    // It was compacted when there were more values that nobody finds than others.
    #expect(try Array(RecordLogReader(at: folder.log).records).count == 4)
  }
}
