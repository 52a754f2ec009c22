import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a file of any bytes as a log, reads it in every way, and appends to it.
enum LogTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    let file = try ScratchFile()
    defer { file.remove() }
    let content = MadeUpLog(script: bytes).bytes
    try file.write(content)
    // In a made-up file the numbers of several blocks may contradict each other: records may be lost by that, or
    // another be found.
    let isStrict = content.count <= 65_536
    guard let numbers = try read(file, isStrict: isStrict) else {
      try checkUntouched(file, content)
      return
    }
    try append(to: file, numbers, isStrict: isStrict)
  }

  /// The numbers of the records of a log; nil if the file is none.
  private static func read(_ file: ScratchFile, isStrict: Bool) throws -> [Int]? {
    guard let log = try attempt({ try RecordLogReader(at: file.url, maximumRecordSize: 1 << 18) })
    else { return nil }
    let records = Array(log.records)
    let numbers = records.map(\.number)
    guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }), (numbers.last ?? -1) < log.count else {
      throw Finding("the numbers of records are out of order")
    }
    // The last first: it takes in the definitions of all before it.
    for record in records.suffix(3).reversed() + records.prefix(50) { try decode(record) }
    for record in records.prefix(3) + records.suffix(3) {
      let found = try attempt { try log.record(at: record.number) }
      guard !isStrict || found?.size == record.size else {
        throw Finding("record \(record.number) is another when it is read by its number")
      }
    }
    let known = try attempt { try log.verify() } ?? []
    guard Set(log.damage).isSuperset(of: known) else { throw Finding("reading does not find all damage") }
    _ = try attempt { try log.decode(GenericValue.self, at: log.count / 2) }
    return numbers
  }

  /// Appends to a log and compacts it; what it had must stay.
  private static func append(to file: ScratchFile, _ numbers: [Int], isStrict: Bool) throws {
    let packing = numbers.count % 2 == 0 ? RecordLog.Packing.none : .words
    guard let log = try attempt({ try RecordLog(at: file.url, durability: .manual, packing: packing) })
    else { return }
    let before = log.count
    let added = ["first", "second"]
    do {
      guard try log.append(contentsOf: added) == before..<before + 2 else {
        throw Finding("what is appended has other numbers")
      }
    } catch let error as RecordLogError {
      // A made-up head may claim that nearly all numbers are taken.
      if case .noMoreNumbers = error.reason { return }
      throw Finding("nothing can be appended: \(error)")
    }
    try log.close()
    if isStrict { try check(file, numbers + [before, before + 1], last: added[1]) }
    if before < 1 << 20 { try compact(file, isStrict: isStrict) }
  }

  private static func compact(_ file: ScratchFile, isStrict: Bool) throws {
    let log = try RecordLog(at: file.url, durability: .manual, packing: .words)
    defer { try? log.close() }
    let last = log.count - 1
    let isDone: Void? = try attempt { try log.compact { $0.number % 2 == 0 || $0.number == last } }
    // A record whose definitions break the format cannot be copied.
    guard isDone != nil else { return }
    guard try log.verify().isEmpty else { throw Finding("compaction leaves damage") }
    if isStrict, try log.decode(String.self, at: log.count - 1) != "second" {
      throw Finding("compaction loses the last record")
    }
  }

  private static func check(_ file: ScratchFile, _ numbers: [Int], last: String) throws {
    let log = try RecordLogReader(at: file.url, maximumRecordSize: 1 << 18)
    guard log.records.map(\.number) == numbers else { throw Finding("appending changes which records there are") }
    guard log.recovery.bytes.isEmpty else { throw Finding("something is left after what was appended") }
    guard try log.decode(String.self, at: log.count - 1) == last else { throw Finding("the last record is another") }
  }

  private static func checkUntouched(_ file: ScratchFile, _ content: [UInt8]) throws {
    guard !content.isEmpty, try attempt({ try RecordLog(at: file.url) }) == nil else { return }
    guard try file.bytes() == content else { throw Finding("a file that is no log is changed") }
  }

  private static func decode(_ record: RecordLog.Record) throws {
    _ = try Decoding.attempt { try record.decode(GenericValue.self) }
    _ = try Decoding.attempt { try record.decode([Record<Tabled>].self) }
  }

  /// The result of `body`; nil if it throws as it may.
  private static func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch is RecordLogError {
      return nil
    } catch is DecodingError {
      return nil
    } catch let error as Finding {
      throw error
    } catch {
      throw Finding("a log throws \(error)")
    }
  }
}

/// A file that is written and read often: in memory, where the system has such a folder.
private struct ScratchFile {
  let url: URL

  init() throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let manager = FileManager.default
    let folder = manager.isWritableFile(atPath: memory.path) ? memory : manager.temporaryDirectory
    url = folder.appendingPathComponent("stow-fuzz-\(UUID().uuidString)")
  }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: url) }

  func bytes() throws -> [UInt8] { try [UInt8](Data(contentsOf: url)) }

  func remove() { try? FileManager.default.removeItem(at: url) }
}
