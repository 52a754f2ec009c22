import Foundation

@testable import StowRecords

/// A disk in memory that can fail at any call, have no room left, and crash. In a crash each write that was not
/// synchronized is there, is not there, or is there in parts; and of the names that were changed some first ones are.
/// A synchronization that fails forgets what it had to write: it stays in the memory of the system, until a crash.
final class SimulatedDisk: Disk, @unchecked Sendable {
  enum Change {
    case write([UInt8], at: Int)
    case truncate(Int)
  }

  enum Naming {
    case made(String, Content)
    case renamed(String, to: String)
    case removed(String)
  }

  /// What a file holds.
  final class Content {
    let number: UInt64
    var bytes: [UInt8] = []
    /// What a crash does not reach.
    var durable: [UInt8] = []
    var changes: [Change] = []
    var holder: ObjectIdentifier?

    init(number: UInt64) { self.number = number }
  }

  private let mutex = NSRecursiveLock()
  private var names: [String: Content] = [:]
  private var durableNames: [String: Content] = [:]
  private var namings: [Naming] = []
  private var nextNumber: UInt64 = 1
  /// Grows when all processes end: what is open then is closed.
  private var epoch = 0
  private(set) var calls = 0
  /// The calls that fail.
  var failing: Range<Int> = 0..<0
  /// How many bytes all files may have together.
  var capacity = Int.max
  /// The calls of this name fail.
  var failingOperation: String?
  /// Renaming fails, and is done all the same, as over a network.
  var renamesAndFails = false
  /// Reads give no bytes from this offset on.
  var readingEnd = Int.max
  /// The error of reads that reach this offset.
  var unreadable: (offset: Int, code: Int32)?

  private static let sector = 512

  func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    try mutex.withLock(body)
  }

  private func call(_ operation: String) throws {
    defer { calls += 1 }
    if failing.contains(calls) || operation == failingOperation {
      throw SystemError(operation: operation, code: 5)
    }
  }

  // MARK: - Names

  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
    try locked {
      try call("open")
      if let content = names[path] {
        if purpose == .making { throw SystemError(operation: "open", code: 17) }
        return SimulatedFile(self, content, epoch)
      }
      if purpose != .making { throw SystemError(operation: "open", code: 2) }
      let content = Content(number: nextNumber)
      nextNumber += 1
      names[path] = content
      namings.append(.made(path, content))
      return SimulatedFile(self, content, epoch)
    }
  }

  func place(of path: String) throws -> FilePlace? {
    try locked {
      try call("look up")
      return names[path].map { FilePlace(device: 1, number: $0.number) }
    }
  }

  func rename(_ path: String, to newPath: String) throws {
    try locked {
      try call("rename")
      guard let content = names.removeValue(forKey: path) else {
        throw SystemError(operation: "rename", code: 2)
      }
      names[newPath] = content
      namings.append(.renamed(path, to: newPath))
      if renamesAndFails { throw SystemError(operation: "rename", code: 5) }
    }
  }

  func remove(_ path: String) throws {
    try locked {
      try call("remove")
      if names.removeValue(forKey: path) != nil { namings.append(.removed(path)) }
    }
  }

  func synchronizeFolder(of path: String) throws {
    try locked {
      try call("synchronize folder")
      durableNames = names
      namings = []
    }
  }

  // MARK: - The end of processes

  /// All processes end, as if they were killed. What they have written stays.
  func stop() {
    locked {
      epoch += 1
      for content in names.values { content.holder = nil }
    }
  }

  /// The system stops.
  func crash(_ random: inout SeededGenerator) {
    locked {
      epoch += 1
      for naming in namings.prefix(random.below(namings.count + 1)) {
        switch naming {
        case .made(let path, let content): durableNames[path] = content
        case .renamed(let path, let newPath): durableNames[newPath] = durableNames.removeValue(forKey: path)
        case .removed(let path): durableNames[path] = nil
        }
      }
      namings = []
      names = durableNames
      for content in names.values { content.crash(&random) }
    }
  }

  /// The bytes of a file as all processes see them.
  func bytes(of path: String) -> [UInt8]? { locked { names[path]?.bytes } }

  /// Puts bytes into a file, which is made if it is not there.
  func setBytes(_ bytes: [UInt8], of path: String) {
    locked {
      if names[path] == nil {
        names[path] = Content(number: nextNumber)
        durableNames[path] = names[path]
        nextNumber += 1
      }
      names[path]?.bytes = bytes
      names[path]?.durable = bytes
      names[path]?.changes = []
    }
  }

  func copy() -> SimulatedDisk {
    locked {
      let copy = SimulatedDisk()
      for (path, content) in names {
        let new = Content(number: content.number)
        (new.bytes, new.durable, new.changes) = (content.bytes, content.durable, content.changes)
        copy.names[path] = new
        copy.durableNames[path] = new
      }
      copy.nextNumber = nextNumber
      return copy
    }
  }

  // MARK: - Files

  fileprivate func access<Result>(
    _ file: SimulatedFile, _ operation: String, _ body: (Content) throws -> Result
  ) throws -> Result {
    try locked {
      try call(operation)
      guard file.epoch == epoch else { throw SystemError(operation: operation, code: 9) }
      return try body(file.content)
    }
  }

  fileprivate func closed(_ file: SimulatedFile) {
    locked { if file.content.holder == ObjectIdentifier(file) { file.content.holder = nil } }
  }

  /// Writes what there is room for.
  fileprivate func write(_ bytes: [UInt8], at offset: Int, to content: Content) throws {
    let used = names.values.reduce(0) { $0 + $1.bytes.count }
    let growth = max(0, offset + bytes.count - content.bytes.count)
    let missing = max(0, growth - max(0, capacity - used))
    let written = bytes.dropLast(missing)
    if !written.isEmpty { content.apply(.write(Array(written), at: offset)) }
    if missing > 0 { throw SystemError(operation: "write", code: 28) }
  }
}

extension SimulatedDisk.Content {
  func apply(_ change: SimulatedDisk.Change) {
    Self.apply(change, to: &bytes)
    changes.append(change)
  }

  func synchronize() {
    for change in changes { Self.apply(change, to: &durable) }
    changes = []
  }

  /// What was written stays where all processes see it, and is not brought to the disk any more.
  fileprivate func forgetWrites() {
    for case .truncate(let size) in changes { Self.apply(.truncate(size), to: &durable) }
    changes = []
  }

  private static func apply(_ change: SimulatedDisk.Change, to bytes: inout [UInt8]) {
    switch change {
    case .truncate(let size):
      bytes.removeLast(max(0, bytes.count - size))
      bytes += [UInt8](repeating: 0, count: size - bytes.count)
    case .write(let new, let offset):
      let end = offset + new.count
      if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(offset..<end, with: new)
    }
  }

  fileprivate func crash(_ random: inout SeededGenerator) {
    for change in changes {
      switch (random.below(3), change) {
      case (0, _): Self.apply(change, to: &durable)
      case (1, .write(let new, let offset)):
        for sector in Self.sectors(of: new, at: offset) where random.oneIn(2) {
          Self.apply(sector, to: &durable)
        }
        // The size may be there without the bytes.
        if random.oneIn(2), durable.count < offset + new.count {
          Self.apply(.truncate(offset + new.count), to: &durable)
        }
      default: break
      }
    }
    bytes = durable
    changes = []
    holder = nil
  }

  private static func sectors(of bytes: [UInt8], at offset: Int) -> [SimulatedDisk.Change] {
    var changes: [SimulatedDisk.Change] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, ((offset + start) / 512 + 1) * 512 - offset)
      changes.append(.write(Array(bytes[start..<end]), at: offset + start))
      start = end
    }
    return changes
  }
}

final class SimulatedFile: DiskFile, @unchecked Sendable {
  fileprivate let disk: SimulatedDisk
  fileprivate let content: SimulatedDisk.Content
  fileprivate let epoch: Int

  fileprivate init(_ disk: SimulatedDisk, _ content: SimulatedDisk.Content, _ epoch: Int) {
    self.disk = disk
    self.content = content
    self.epoch = epoch
  }

  deinit { disk.closed(self) }

  func status() throws -> FileStatus {
    try disk.access(self, "look up") {
      FileStatus(place: FilePlace(device: 1, number: $0.number), size: $0.bytes.count, permissions: 0o644)
    }
  }

  func takeOwner(of other: FileStatus) throws { try disk.access(self, "set the owner") { _ in } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    try disk.access(self, "read") {
      if let (place, code) = disk.unreadable, offset <= place, place < offset + buffer.count {
        throw SystemError(operation: "read", code: code)
      }
      let part = $0.bytes.prefix(disk.readingEnd).dropFirst(offset).prefix(buffer.count)
      part.withUnsafeBytes { buffer.copyMemory(from: $0) }
      return part.count
    }
  }

  /// Blocks of zeros are holes.
  func nextData(from offset: Int) throws -> Int? {
    try disk.access(self, "look for data") { content in
      content.bytes[min(offset, content.bytes.count)...].firstIndex { $0 != 0 }
        .map { max(offset, $0 / 4096 * 4096) }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try disk.access(self, "write") { try disk.write(Array(bytes), at: offset, to: $0) }
  }

  func synchronize() throws {
    do {
      try disk.access(self, "synchronize") { $0.synchronize() }
    } catch {
      disk.locked { content.forgetWrites() }
      throw error
    }
  }

  func truncate(to size: Int) throws { try disk.access(self, "truncate") { $0.apply(.truncate(size)) } }

  func lock() throws -> Bool {
    try disk.access(self, "lock") {
      if let holder = $0.holder, holder != ObjectIdentifier(self) { return false }
      $0.holder = ObjectIdentifier(self)
      return true
    }
  }

  func unlock() throws { try disk.access(self, "unlock") { $0.holder = nil } }
}
