import Foundation
import StowRecords
import Testing

#if os(Linux)
  /// In a process of its own, where nothing else takes memory.
  @Suite("The memory that a large log takes")
  struct LargeLogMemoryTests {
    private struct Entry: Codable {
      var number: Int
      var kind: String
      var body: Data
    }

    private static let size = 24 << 20
    private static let limit = 10 << 20
    private static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// What is resident, or was at most, in bytes.
    private static func resident(_ field: String) -> Int {
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
      return (Int(line?.filter(\.isNumber) ?? "") ?? 0) << 10
    }

    /// Ends the process if `body` takes more than the limit.
    private static func expectLittle(_ limit: Int = limit, _ body: () throws -> Void) rethrows {
      try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
      let before = resident("VmRSS:")
      try body()
      // Sanitizers keep memory of their own.
      guard resident("VmHWM:") - before < limit || isSanitized else { exit(EXIT_FAILURE) }
    }

    private static func append(_ count: Int, to url: URL) throws {
      let log = try RecordLog(at: url, durability: .manual)
      let bytes = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
      for number in 0..<count {
        let body = bytes.dropFirst(number % 4096).prefix(4096)
        try log.append(Entry(number: number, kind: "kind \(number % 5)", body: body))
      }
      try log.close()
    }

    @Test("writing and reading a large log takes the memory of some blocks")
    func memory() async {
      await #expect(processExitsWith: .success) {
        let folder = try TemporaryFolder()
        let count = Self.size / 4096
        try Self.append(100, to: folder.url.appending(path: "warming-up.stowlog"))
        try Self.expectLittle { try Self.append(count, to: folder.log) }
        let reader = try RecordLogReader(at: folder.log)
        try Self.expectLittle {
          var next = 0
          for record in reader.records {
            guard try record.decode(Entry.self).number == next else { exit(EXIT_FAILURE) }
            next += 1
          }
          guard next == count, try reader.verify().isEmpty else { exit(EXIT_FAILURE) }
        }
      }
    }

    @Test("a broken stream takes no memory for the bytes that it is fed")
    func brokenStream() async {
      await #expect(processExitsWith: .success) {
        let decoder = RecordStreamDecoder()
        decoder.feed(Data("no stream".utf8))
        guard (try? decoder.next(Int.self)) == nil else { exit(EXIT_FAILURE) }
        let part = Data(repeating: 0x5A, count: 1 << 20)
        Self.expectLittle { for _ in 0..<100 { decoder.feed(part) } }
        guard (try? decoder.finish()) == nil else { exit(EXIT_FAILURE) }
      }
    }

    @Test("reading a record of many blocks takes the memory of one record beside the value")
    func largeRecord() async {
      await #expect(processExitsWith: .success) {
        let folder = try TemporaryFolder()
        let size = 48 << 20
        let log = try RecordLog(at: folder.log, durability: .manual)
        try log.append(Data(repeating: 0x5A, count: size))
        try log.close()
        let reader = try RecordLogReader(at: folder.log)
        try Self.expectLittle(2 * size + Self.limit) {
          guard try reader.decode(Data.self, at: 0).count == size else { exit(EXIT_FAILURE) }
        }
      }
    }
  }
#endif
