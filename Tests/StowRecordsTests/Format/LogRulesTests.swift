import Foundation
import Stow
import Testing

@testable import StowRecords

/// Rules of the format at its edges, for which no writer has a use.
@Suite("Rules of logs")
struct LogRulesTests {
  private let record: [UInt8] = [1, 0x91]

  private func numbers(_ log: RecordLogReader) -> [Int] { log.records.map(\.number) }

  /// The numbers of the records of a file that has no damage.
  private func wholeNumbers(_ file: MadeUpFile) throws -> [Int] {
    let log = try KnownLogs.reader(of: file.bytes)
    #expect(try log.verify().isEmpty)
    return numbers(log)
  }

  // MARK: - Parts

  /// Else the bytes after the number of a frame would say nothing, and a group might have parts without end.
  @Test func aPartOfAGroupWithoutBytesIsDamage() throws {
    for (first, middle) in [
      (MadeUpFile.firstOfGroup(0, count: 1, size: 3, []), (.middle, 0, [2]) as MadeUpFile.Content),
      (MadeUpFile.firstOfGroup(0, count: 1, size: 3, [2]), (.middle, 0, [])),
    ] {
      let file = MadeUpFile((0, [first]), (1, [middle]), (1, [(.last, 0, [0x91, 0x91]), (.freshRecords, 1, record)]))
      let log = try KnownLogs.reader(of: file.bytes)
      #expect(numbers(log) == [1])
      #expect(try log.verify().contains { $0.records == 0..<1 })
    }
    // With a byte in each part, the group is there.
    let small = MadeUpFile(
      (0, [MadeUpFile.firstOfGroup(0, count: 1, size: 3, [2])]), (1, [(.middle, 0, [0x91])]),
      (1, [(.last, 0, [0x91]), (.freshRecords, 1, record)]))
    #expect(try wholeNumbers(small) == [0, 1])
  }

  // MARK: - Notes

  @Test func notesArePassedOver() throws {
    // The prelude of the first record defines a symbol to which the second one refers.
    let defining: [UInt8] = [8, 0x1F, 1, 0x83, 0x41, 0x64, 0x61, 0, 0x50]
    let file = MadeUpFile(
      (0, [(.note, 0, [9, 9]), (.records, 0, defining), (.note, 1, []), (.records, 1, [1, 0x50])]),
      (2, [(.note, 2, [1]), (.checkpoint, 2, []), (.note, 2, [2])]))
    #expect(try wholeNumbers(file) == [0, 1])
    let reader = try KnownLogs.reader(of: file.bytes)
    #expect(try reader.decode(String.self, at: 1) == "Ada")
    #expect(reader.recovery.bytes.isEmpty && reader.count == 2)
    // A writer goes on after it.
    let disk = SimulatedDisk()
    disk.setBytes(file.bytes, of: KnownLogs.path)
    try KnownLogs.append("next", on: disk)
    let bytes = try #require(disk.bytes(of: KnownLogs.path))
    #expect(bytes.starts(with: file.bytes))
    #expect(try KnownLogs.reader(of: bytes).decode(String.self, at: 2) == "next")
  }

  @Test func aNoteWithAWrongNumberIsDamage() throws {
    let file = MadeUpFile((0, [(.records, 0, record), (.note, 0, []), (.freshRecords, 1, record)]))
    let log = try KnownLogs.reader(of: file.bytes)
    #expect(numbers(log) == [0, 1])
    #expect(try log.verify().map(\.bytes) == [file.frameStarts[1]..<file.frameStarts[2]])
  }

  @Test func otherKindsOfFramesAreDamage() throws {
    for kind in [0x00, 0x0C, 0x80, 0xFF] as [UInt8] {
      let file = MadeUpFile((0, [(.records, 0, record), (.note, 1, [1]), (.freshRecords, 1, record)]))
      var bytes = file.bytes
      let (start, end) = (file.frameStarts[1], file.frameStarts[2])
      bytes[start + 6] = kind
      var checksum = Checksum()
      checksum.update(MadeUpFile.identity)
      checksum.update(UInt64(start))
      bytes[(start + 4)..<end].withUnsafeBytes { checksum.update($0) }
      bytes.replaceLittleEndian(at: start, with: checksum.value)
      let log = try KnownLogs.reader(of: bytes)
      #expect(numbers(log) == [0, 1], "kind \(kind)")
      #expect(try log.verify().map(\.bytes) == [start..<end], "kind \(kind)")
    }
  }

  // MARK: - Records

  /// All records of a scope rely on the definitions before them, and on no context.
  @Test func aRecordThatNamesAContextIsAnErrorOfThatRecordAlone() throws {
    let naming: [UInt8] = [7, 0x7F, 0x01, 1, 2, 3, 4, 0x91]
    let defining: [UInt8] = [8, 0x1F, 1, 0x83, 0x41, 0x64, 0x61, 0, 0x50]
    for other in [naming, [4, 0x7F, 0x02, 0x01, 0x00], [3, 0x7F, 0x03, 0x01], [2, 0x7F, 0x04], [1, 0x7F]] {
      let file = MadeUpFile((0, [(.records, 0, defining + other + [1, 0x50])]))
      #expect(try wholeNumbers(file) == [0, 1, 2])
      let log = try KnownLogs.reader(of: file.bytes)
      #expect(throws: DecodingError.self) { try log.decode(Int.self, at: 1) }
      #expect(try log.decode(String.self, at: 2) == "Ada")
    }
  }

  // MARK: - Numbers

  private static func uint(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    Varint.append(value, to: &bytes)
    return bytes
  }

  /// The number of the next record is at most 2^62 - 1, so that the last record that there can be has the number 2^62 -
  /// 2.
  @Test func theHighestNumbersAreThose() throws {
    let last = 1 << 62 - 2
    let whole = MadeUpFile((last, [(.records, last, record), (.checkpoint, last + 1, [])]), (last + 1, []))
    let log = try KnownLogs.reader(of: whole.bytes)
    #expect(log.count == last + 1 && log.records(from: last).map(\.number) == [last])
    #expect(try log.decode(Int.self, at: last) == 1)
    for frame in [
      (.records, last, record + record), (.records, last + 1, record), (.records, last, [0, 2]),
      (.checkpoint, last + 2, []), (.note, last + 2, []),
    ] as [MadeUpFile.Content] {
      let log = try KnownLogs.reader(of: MadeUpFile((min(frame.number, last + 1), [frame])).bytes)
      #expect(log.records(from: last).map(\.number) == [] && log.count <= last + 1)
    }
    let rest = MadeUpFile((0, [(.records, 0, record)]), (1, [(.last, last + 1, [1])]))
    #expect(try KnownLogs.reader(of: rest.bytes).count == 1)
  }

  /// Their sum would be more than an integer holds.
  @Test func numbersThatAreLeftOutAddToThoseBefore() throws {
    let most = 1 << 62 - 2
    for first in [most, most - 1, 1 << 61] {
      let content = [0] + Self.uint(most) + record + record + record + record + record
      let log = try KnownLogs.reader(of: MadeUpFile((first, [(.records, first, content)])).bytes)
      #expect(log.records(from: first).map(\.number) == [] && log.count == first)
    }
  }

  // MARK: - Heads

  /// A write that failed is cut off, and what others read of it meanwhile is not so any more.
  @Test func headsThatWereCutOffAreForgotten() throws {
    func blocks(_ counts: [Int]) -> [UInt8] {
      var first = 0
      return MadeUpFile(
        counts.map { count in
          defer { first += count }
          let records = Array(repeating: record, count: count).flatMap { $0 }
          return (first, [(.records, first, records)])
        }
      ).bytes
    }
    for later in [[10, 2, 2, 2, 50, 50], [10, 90, 90, 3, 3, 3]] {
      let disk = SimulatedDisk()
      disk.setBytes(blocks([10, 10, 10, 10, 10]), of: KnownLogs.path)
      let reader = try RecordLogReader(at: KnownLogs.path, on: disk, cacheSize: 0)
      for number in 0..<50 { #expect(try reader.decode(Int.self, at: number) == 1) }
      disk.setBytes(blocks(later), of: KnownLogs.path)
      let count = later.reduce(0, +)
      #expect(reader.count == count)
      for number in (0..<count).reversed() { #expect(try reader.decode(Int.self, at: number) == 1) }
      #expect(numbers(reader) == Array(0..<count) && reader.damage.isEmpty)
    }
  }
}
