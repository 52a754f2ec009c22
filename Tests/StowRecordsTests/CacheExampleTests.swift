import Foundation
import StowRecords
import Testing

/// The example of README.md.
struct CacheExampleTests {
  final class Cache<Value: Codable> {
    private struct Entry: Codable { var key: String, value: Value }
    private let log: RecordLog
    private var numbers: [String: Int] = [:]

    init(at url: URL) throws {
      log = try RecordLog(at: url)
      for record in log.records { numbers[try record.decode(Entry.self).key] = record.number }
    }

    func value(for key: String) throws -> Value? {
      try numbers[key].map { try log.decode(Entry.self, at: $0).value }
    }

    func set(_ value: Value, for key: String) throws {
      numbers[key] = try log.append(Entry(key: key, value: value))
    }
  }

  @Test func valuesAreFoundAgain() throws {
    let folder = try TemporaryFolder()
    for round in 0..<3 {
      let cache = try Cache<[Int]>(at: folder.log)
      #expect(try cache.value(for: "b") == (round == 0 ? nil : [round - 1]))
      try cache.set([round], for: "b")
      try cache.set([], for: "a")
      #expect(try cache.value(for: "b") == [round])
      #expect(try cache.value(for: "c") == nil)
    }
  }
}
