#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
  import Foundation
  import Stow
  import Testing

  @testable import StowRecords

  /// Real files that are not what one would expect.
  @Suite("Files of the system")
  struct SystemFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func reason(_ error: any Error) -> RecordLogError.Reason? { (error as? RecordLogError)?.reason }

    private func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test("any number of zero bytes is not a log and stays unchanged")
    func zeros() throws {
      for count in [1, 16, 32, 33, 70_000] {
        try Data(count: count).write(to: folder.log)
        #expect { try RecordLog(at: folder.log) } throws: { reason($0) == .notALog }
        #expect { try RecordLogReader(at: folder.log) } throws: { reason($0) == .notALog }
        #expect(try Data(contentsOf: folder.log) == Data(count: count))
      }
      try Data().write(to: folder.log)
      try RecordLog(at: folder.log).append(1)
      #expect(try RecordLogReader(at: folder.log).count == 1)
      #expect(try names() == ["test.stowlog"])
    }

    @Test("a log whose name is too long for that of a temporary file is not created")
    func longName() throws {
      let url = folder.url.appending(path: String(repeating: "n", count: 250))
      #expect(throws: RecordLogError.self) { try RecordLog(at: url) }
      #expect(try names().isEmpty)
    }

    @Test("a URL that does not denote exactly one file path is an error and creates no file", arguments: [nil, 65_536])
    func otherURLs(_ segmentSize: Int?) throws {
      for text in [
        "https://example.org\(folder.log.path)", "file://\(folder.url.path)/%FF",
        "file://\(folder.url.path)/%FF/log", "file://\(folder.log.path)%00x",
      ] {
        let url = try #require(URL(string: text))
        let error = try #require(throws: RecordLogError.self) { try RecordLog(at: url, segmentSize: segmentSize) }
        #expect(error.file == text && error.reason == .system(operation: "open", code: EINVAL))
        #expect(throws: error) { try RecordLogReader(at: url) }
      }
      #expect(try names().isEmpty)
    }

    @Test("a name that begins with a combining mark is a file in its folder")
    func nameWithMark() throws {
      try RecordLog(at: folder.url.appending(path: "\u{301}log")).append(1)
      #expect(throws: SystemError(operation: "open folder", code: ENOENT)) {
        try SystemDisk().synchronizeFolder(of: folder.url.path + "/missing/\u{301}log")
      }
    }

    @Test("opening a pipe or a folder as a log fails without waiting")
    func pipe() throws {
      #expect(mkfifo(folder.log.path, 0o600) == 0)
      #expect { try RecordLogReader(at: folder.log) } throws: { reason($0) == .notALog }
      #expect { try RecordLog(at: folder.log) } throws: { reason($0) == .notALog }
      #expect(throws: RecordLogError.self) { try RecordLogReader(at: folder.url) }
      #expect(throws: RecordLogError.self) { try RecordLog(at: folder.url) }
    }

    @Test("zeros and a hole of a terabyte are skipped at the start of a file, within it and at its end")
    func hole() throws {
      let log = try RecordLog(at: folder.log)
      try log.append(contentsOf: (0..<100).map { Event($0, size: 3_000) })
      try log.close()
      let bytes = try Data(contentsOf: folder.log)
      let file = try FileHandle(forWritingTo: folder.log)
      let size = 1 << 40
      func grow() throws {
        try file.seekToEnd()
        try file.write(contentsOf: Data(count: 1 << 20))
        try file.truncate(atOffset: UInt64(size))
      }
      try grow()
      do {
        let reader = try RecordLogReader(at: folder.log)
        #expect(reader.count == 100 && reader.recovery.bytes == bytes.count..<size)
        #expect(try reader.decode(Event.self, at: 99) == Event(99, size: 3_000))
        #expect(try reader.verify().isEmpty)
      }
      try file.seek(toOffset: UInt64(size))
      try file.write(contentsOf: Data("garbage".utf8))
      let again = try RecordLog(at: folder.log)
      #expect(again.count == 100 && again.recovery.bytes == bytes.count..<(size + 7))
      #expect(try again.append(Event(100)) == 100)
      try again.close()
      // Only the first block and the last are left; what is between is lost.
      try file.truncate(atOffset: UInt64(BlockHead.blockSize))
      try grow()
      let index = size / BlockHead.blockSize
      var far = MadeUpLogBlock(bytes: Array(bytes.prefix(BlockHead.size)), index: index, first: 1_000)
      far.append([1, 0x91])
      try file.seek(toOffset: UInt64(size))
      try file.write(contentsOf: Data(far.bytes))
      let reader = try RecordLogReader(at: folder.log)
      #expect(reader.count == 1_001 && reader.records.map(\.number).last == 1_000)
      #expect(try reader.decode(Int.self, at: 1_000) == 1)
      #expect(throws: RecordLogError.self) { try reader.record(at: 500) }
      #expect(try reader.verify().count == 1)
    }

    @Test("opening a file of any size succeeds or throws")
    func largestFile() throws {
      let log = try RecordLog(at: folder.log)
      try log.append(1)
      try log.close()
      let bytes = try Data(contentsOf: folder.log)
      // Where no file system has such files, there is nothing to see.
      let url = URL(filePath: "/dev/shm/\(UUID().uuidString)")
      guard (try? bytes.write(to: url)) != nil else { return }
      defer { try? FileManager.default.removeItem(at: url) }
      for size in [UInt64(Int.max) - 65_536, UInt64(Int.max)] {
        let file = try FileHandle(forWritingTo: url)
        if (try? file.truncate(atOffset: size)) == nil { continue }
        if let reader = try? RecordLogReader(at: url) { #expect(try reader.decode(Int.self, at: 0) == 1) }
        #expect((try? RecordLog(at: url)).map { $0.count == 1 } ?? true)
      }
    }

    @Test("a dangling link in place of the last segment is an error")
    func danglingSegment() throws {
      try RecordLog(at: folder.log, segmentSize: 65_536).close()
      let link = folder.log.appending(path: "00000000000000000100.stowlog")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url.appending(path: "missing"))
      #expect { try RecordLogReader(at: folder.log) } throws: { reason($0) == .notALog }
      #expect(throws: RecordLogError.self) { try RecordLog(at: folder.log) }
    }

    @Test("a compaction follows no link and empties no foreign file at its temporary name")
    func plantedFiles() throws {
      let log = try RecordLog(at: folder.log)
      try log.append(contentsOf: 0..<10)
      let target = folder.url.appending(path: "target")
      let new = URL(filePath: folder.log.path + ".stowlog-new")
      try Data("precious".utf8).write(to: target)
      for plant in [
        { try FileManager.default.createSymbolicLink(at: new, withDestinationURL: target) },
        {
          try FileManager.default.createSymbolicLink(
            at: new, withDestinationURL: target.appendingPathExtension("missing"))
        },
        { try RecordLog(at: new).close() },
      ] as [() throws -> Void] {
        try plant()
        #expect(throws: RecordLogError.self) { try log.compact { _ in true } }
        #expect(try String(contentsOf: target, encoding: .utf8) == "precious")
        #expect(try names().count == 3)
        try FileManager.default.removeItem(at: new)
      }
      #expect(log.count == 10)
      // What nobody knows is kept under another name.
      for number in 1...2 {
        try Data("mine \(number)".utf8).write(to: new)
        try log.compact { _ in true }
        #expect(try String(contentsOfFile: new.path + "-\(number)", encoding: .utf8) == "mine \(number)")
      }
      // An opening leaves it alone, too: before it is known whether there is a log, and afterwards.
      try Data("mine".utf8).write(to: new)
      try log.close()
      try RecordLog(at: folder.log).close()
      #expect(try String(contentsOf: new, encoding: .utf8) == "mine")
    }

    @Test("a second name of the log that a crash left during a compaction is removed")
    func secondName() throws {
      for segmentSize in [nil, 65_536] as [Int?] {
        let url = folder.url.appending(path: "\(segmentSize ?? 0)")
        let log = try RecordLog(at: url, segmentSize: segmentSize)
        try log.append(1)
        try log.close()
        let file = segmentSize == nil ? url : url.appending(path: "00000000000000000000.stowlog")
        let new = file.path + ".stowlog-new"
        #expect(link(file.path, new) == 0)
        let again = try RecordLog(at: url)
        #expect(!FileManager.default.fileExists(atPath: new))
        #expect(link(file.path, new) == 0)
        try again.compact { _ in true }
        #expect(try again.append(2) == 1 && again.records.map { try $0.decode(Int.self) } == [1, 2])
        #expect(!FileManager.default.fileExists(atPath: new))
      }
    }

    @Test("opening a log removes the file of an interrupted compaction")
    func leftover() throws {
      struct Stop: Error {}
      let log = try RecordLog(at: folder.log)
      for id in 0..<100 { try log.append(Event(id, size: 3_000)) }
      let new = URL(filePath: folder.log.path + ".stowlog-new")
      var left = Data()
      #expect(throws: Stop.self) {
        try log.compact { record in
          if record.number == 90 {
            left = try Data(contentsOf: new)
            throw Stop()
          }
          return true
        }
      }
      #expect(left.count > 100_000)
      try log.close()
      for count in [0, 1, 5, 31, 32, 40, 54, 60, left.count] {
        try left.prefix(count).write(to: new)
        try RecordLog(at: folder.log).close()
        #expect(try names() == ["test.stowlog"], "\(count)")
      }
    }

    @Test("opening a log for appending fails if its name is too long for that of a new file")
    func longNameOfLog() throws {
      try RecordLog(at: folder.log).close()
      let url = folder.url.appending(path: String(repeating: "n", count: 255))
      try FileManager.default.moveItem(at: folder.log, to: url)
      #expect { try RecordLog(at: url) } throws: { reason($0) == .system(operation: "look up", code: ENAMETOOLONG) }
      #expect(try RecordLogReader(at: url).count == 0)
    }

    @Test(
      "a compacted file keeps its owner, group and permissions",
      .enabled(if: getuid() == 0, "needs the rights of root"))
    func owner() throws {
      let log = try RecordLog(at: folder.log)
      try log.append(1)
      #expect(chown(folder.log.path, 12, 34) == 0 && chmod(folder.log.path, 0o2640) == 0)
      try log.compact { _ in true }
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.log.path)
      #expect(attributes[.ownerAccountID] as? Int == 12 && attributes[.groupOwnerAccountID] as? Int == 34)
      #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o7777 } == 0o2640)
    }

    @Test("a new file is private until it gets the permissions of the file that it replaces")
    func permissionsOfNewFile() throws {
      for segmentSize in [nil, 65_536] as [Int?] {
        let path = folder.url.appending(path: "\(segmentSize ?? 0)").path
        let disk = NotingDisk()
        let log = try RecordLog(at: path, on: disk, segmentSize: segmentSize)
        let made = disk.made.count
        let file = segmentSize == nil ? path : path + "/00000000000000000000.stowlog"
        #expect(chmod(file, 0o640) == 0)
        try log.append(1)
        try log.compact { _ in true }
        #expect(disk.made.count > made && disk.made[made...].allSatisfy { $0 == 0o600 })
        #expect(try disk.status(of: file)?.permissions == 0o640)
      }
    }

    @Test("a new log has the permissions of any new file")
    func permissionsOfNewLog() throws {
      let other = folder.url.appending(path: "other").path
      let descriptor = open(other, O_CREAT | O_WRONLY, 0o666)
      #expect(descriptor >= 0 && close(descriptor) == 0)
      let expected = try SystemDisk().status(of: other)?.permissions
      for segmentSize in [nil, 65_536] as [Int?] {
        let path = folder.url.appending(path: "\(segmentSize ?? 0)").path
        try RecordLog(at: URL(filePath: path), segmentSize: segmentSize).close()
        let file = segmentSize == nil ? path : path + "/00000000000000000000.stowlog"
        #expect(try SystemDisk().status(of: file)?.permissions == expected)
      }
    }

    #if canImport(Glibc)
      /// Does something as another user: this thread alone, for what concerns files.
      private func asUser(_ user: uid_t, _ body: () throws -> Void) throws {
        typealias SetUser = @convention(c) (uid_t) -> CInt
        let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        _ = setUser(user)
        defer { _ = setUser(0) }
        try body()
      }

      @Test(
        "a file whose owner cannot be set is not compacted",
        .enabled(if: getuid() == 0, "needs the rights of root"))
      func ownerThatCannotBeSet() throws {
        let log = try RecordLog(at: folder.log)
        try log.append(1)
        #expect(chmod(folder.url.path, 0o777) == 0 && chmod(folder.log.path, 0o666) == 0)
        try asUser(12) {
          #expect { try log.compact { _ in false } } throws: {
            reason($0) == .system(operation: "set the owner", code: EPERM)
          }
        }
        #expect(try log.append(2) == 1 && log.records.map { try $0.decode(Int.self) } == [1, 2])
        #expect(try names() == ["test.stowlog"])
      }

      @Test(
        "a new segment belongs to its creator if it cannot be given the previous segment's owner",
        .enabled(if: getuid() == 0, "needs the rights of root"))
      func ownerOfSegment() throws {
        let path = folder.url.appending(path: "log")
        let log = try RecordLog(at: path, segmentSize: 1 << 20)
        try log.append(Data(count: 1 << 20))
        func segments() throws -> [String] {
          try FileManager.default.contentsOfDirectory(atPath: path.path).filter { $0.hasSuffix(".stowlog") }
            .sorted().map { path.appending(path: $0).path }
        }
        let first = try segments()[0]
        #expect(chmod(path.path, 0o777) == 0 && chmod(first, 0o660) == 0)
        try asUser(12) { _ = try log.append(1) }
        let new = try segments()
        try #require(new.count == 2)
        let attributes = try FileManager.default.attributesOfItem(atPath: new[1])
        #expect(attributes[.ownerAccountID] as? Int == 12 && attributes[.groupOwnerAccountID] as? Int == 0)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o7777 } == 0o660)
      }

      @Test(
        "a new segment that cannot be given the previous one's group drops the rights of that group",
        .enabled(if: getuid() == 0, "needs the rights of root"),
        arguments: [(0o660, 0o600), (0o664, 0o644), (0o646, 0o646), (0o2666, 0o666)])
      func groupOfSegment(_ permissions: mode_t, _ expected: Int) throws {
        let path = folder.url.appending(path: "log")
        let log = try RecordLog(at: path, segmentSize: 1 << 20)
        try log.append(Data(count: 1 << 20))
        let first = path.appending(path: "00000000000000000000.stowlog").path
        #expect(chmod(path.path, 0o777) == 0 && chown(first, 12, 34) == 0 && chmod(first, permissions) == 0)
        try asUser(12) { _ = try log.append(1) }
        let second = path.appending(path: "00000000000000000001.stowlog").path
        let attributes = try FileManager.default.attributesOfItem(atPath: second)
        #expect(attributes[.ownerAccountID] as? Int == 12 && attributes[.groupOwnerAccountID] as? Int == 0)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o7777 } == expected)
        try log.close()
      }
    #endif

    @Test("a call that the file system does not support is replaced")
    func unsupportedCalls() throws {
      func result(failingWith code: Int32) throws -> Int {
        func fail() -> Int {
          errno = code
          return -1
        }
        return try PosixFile.result(of: "call", fail, ifUnsupported: { 7 })
      }
      for code in [EINVAL, ENOSYS, ENOTSUP, ENOTTY, EOPNOTSUPP] {
        #expect(try result(failingWith: code) == 7)
      }
      for code in [EIO, ENOSPC, ENXIO] {
        #expect(throws: SystemError(operation: "call", code: code)) { try result(failingWith: code) }
      }
    }

    @Test("output of a process that closed its standard streams does not go into its log")
    func closedStreams() throws {
      let log = try RecordLog(at: folder.log)
      try log.append(0)
      try log.close()
      _ = try Worker("silent", folder.log.path).lines()
      let reader = try RecordLogReader(at: folder.log)
      #expect(try reader.records.map { try $0.decode(Int.self) } == [0, 1, 2])
      #expect(try reader.verify().isEmpty)
    }

    @Test("a log in a global variable is written when the process exits")
    func exit() throws {
      #expect(try Worker("exit", folder.log.path, "1000").lines() == ["1000"])
      #expect(try RecordLogReader(at: folder.log).records.map { try $0.decode(Int.self) } == Array(0..<1000))
    }
  }

  /// The disk of the system, which notes the permissions with which new files are made.
  private final class NotingDisk: Disk, @unchecked Sendable {
    private let system = SystemDisk()
    private(set) var made: [UInt32] = []

    func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
      let file = try system.open(path, purpose)
      if purpose.isMaking { made.append(try file.status().permissions) }
      return file
    }

    func status(of path: String) throws -> FileStatus? { try system.status(of: path) }
    func names(in folder: String) throws -> [String] { try system.names(in: folder) }
    func makeFolder(_ path: String) throws { try system.makeFolder(path) }
    func rename(_ path: String, to newPath: String, replacing: Bool) throws {
      try system.rename(path, to: newPath, replacing: replacing)
    }
    func remove(_ path: String) throws { try system.remove(path) }
    func openFolder(of path: String) throws -> () throws -> Void { try system.openFolder(of: path) }
  }

  /// A block of a real log, far after the others.
  private struct MadeUpLogBlock {
    private(set) var bytes: [UInt8]
    private let identity: UInt64
    private let index: Int
    private let first: Int

    init(bytes: [UInt8], index: Int, first: Int) {
      identity = bytes.littleEndian(at: 8, size: 8)
      (self.index, self.first) = (index, first)
      self.bytes = BlockHead(identity: identity, firstRecord: first, index: index).bytes
    }

    mutating func append(_ records: [UInt8]) {
      var frame = [UInt8](repeating: 0, count: Frame.headSize)
      Varint.append(first, to: &frame)
      frame += records
      let offset = index * BlockHead.blockSize + bytes.count
      Frame.seal(&frame, from: 0, .records, at: offset, identity: identity)
      bytes += frame
    }
  }
#endif
