@testable import StowRecords

/// A simulated disk that runs something before it reads, writes, synchronizes, lists a folder, watches a file and says
/// what time it is. What throws there makes the call fail.
final class HookedDisk: Disk, @unchecked Sendable {
  let simulated = SimulatedDisk()
  var beforeWriting: () throws -> Void = {}
  var beforeReading: () throws -> Void = {}
  var beforeSynchronizing: () throws -> Void = {}
  var beforeListing: () -> Void = {}
  var beforeWatching: () -> Void = {}
  var beforeTellingTheTime: () -> Void = {}
  /// Whether files stay open, as in a process that `fork` has made meanwhile.
  var keepsFiles = false
  private var kept: [any DiskFile] = []

  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
    let file = try simulated.open(path, purpose)
    if keepsFiles { kept.append(file) }
    return HookedFile(disk: self, file: file)
  }

  var now: UInt64 {
    beforeTellingTheTime()
    return simulated.now
  }

  func status(of path: String) throws -> FileStatus? { try simulated.status(of: path) }
  func names(in folder: String) throws -> [String] {
    beforeListing()
    return try simulated.names(in: folder)
  }

  func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? {
    beforeWatching()
    return nil
  }

  func makeFolder(_ path: String) throws { try simulated.makeFolder(path) }
  func rename(_ path: String, to newPath: String, replacing: Bool) throws {
    try simulated.rename(path, to: newPath, replacing: replacing)
  }
  func remove(_ path: String) throws { try simulated.remove(path) }
  func openFolder(of path: String) throws -> () throws -> Void { try simulated.openFolder(of: path) }
}

private final class HookedFile: DiskFile {
  let disk: HookedDisk
  let file: any DiskFile

  init(disk: HookedDisk, file: any DiskFile) {
    self.disk = disk
    self.file = file
  }

  func status() throws -> FileStatus { try file.status() }
  func takeOwner(of other: FileStatus, mayKeepOwner: Bool) throws {
    try file.takeOwner(of: other, mayKeepOwner: mayKeepOwner)
  }
  func nextData(from offset: Int) throws -> Int? { try file.nextData(from: offset) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    try disk.beforeReading()
    return try file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try disk.beforeWriting()
    try file.write(bytes, at: offset)
  }

  func synchronize() throws {
    try disk.beforeSynchronizing()
    try file.synchronize()
  }

  func truncate(to size: Int) throws { try file.truncate(to: size) }
  func lock() throws -> Bool { try file.lock() }
  func unlock() throws { try file.unlock() }
}
