import Foundation

@testable import StowRecords

/// A disk in memory that can fail at any call, have no room left, and crash. In a crash each write that was not
/// synchronized is there, is not there, or is there in parts; and of the changed names of each folder some first ones
/// are, any removed ones, and all if the folder was synchronized. A synchronization that fails forgets what it had to
/// write: it stays in the memory of the system, until a crash.
@dynamicMemberLookup
final class SimulatedDisk: Disk, @unchecked Sendable {
  enum Change {
    case write([UInt8], at: Int)
    case truncate(Int)
  }

  enum Naming {
    case made(String, Content)
    case renamed(String, to: String)
    case removed(String)

    var path: String {
      switch self {
      case .made(let path, _), .renamed(let path, _), .removed(let path): path
      }
    }
  }

  /// What goes wrong.
  struct Faults {
    /// The calls that fail.
    var failing: Range<Int> = 0..<0
    /// The calls of this name fail.
    var failingOperation: String?
    /// The error of the calls that fail.
    var code: Int32 = 5
    /// How many files the process may have open.
    var mostFiles = Int.max
    /// Renaming fails, and is done all the same, as over a network.
    var renamesAndFails = false
    /// How many bytes all files may have together.
    var capacity = Int.max
    /// Reads give no bytes from this offset on.
    var readingEnd = Int.max
    /// The system takes all bytes from this offset on for a hole.
    var holeStart = Int.max
    /// The error of reads that reach this offset.
    var unreadable: (offset: Int, code: Int32)?

    func fails(_ call: Int, _ operation: String) -> SystemError? {
      let fails = failing.contains(call) || operation == failingOperation
      return fails ? SystemError(operation: operation, code: code) : nil
    }
  }

  /// What a file holds.
  final class Content {
    let number: UInt64
    let isFolder: Bool
    var bytes: [UInt8] = []
    /// What a crash does not reach.
    var durable: [UInt8] = []
    var changes: [Change] = []
    /// How often changes were lost because they could not be brought to the disk.
    fileprivate var losses = 0
    var holder: ObjectIdentifier?
    /// When it was last written to, or got or lost a name, in milliseconds.
    var changed: UInt64 = 0

    init(number: UInt64, isFolder: Bool = false) {
      self.number = number
      self.isFolder = isFolder
    }

    var status: FileStatus {
      FileStatus(
        place: FilePlace(device: 1, number: number), size: bytes.count, isRegular: !isFolder,
        isFolder: isFolder, changed: changed * 1_000_000, permissions: 0o644)
    }
  }

  private let mutex = NSRecursiveLock()
  private var names: [String: Content] = [:]
  private var durableNames: [String: Content] = [:]
  private var namings: [Naming] = []
  private var nextNumber: UInt64 = 1
  /// These grow when all processes end, and when those end that write: what they have open is closed.
  private var (epoch, writingEpoch) = (0, 0)
  private(set) var calls = 0
  /// How many files are open.
  fileprivate(set) var openFiles = 0
  var faults = Faults()
  /// What somebody else does before a call. The calls that this makes do not fail, and do not lead here again.
  var beforeCall: ((String) -> Void)?
  /// An open file that has no name any more cannot be used, as on a file server.
  var forgetsNameless = false
  /// What the clock says.
  var now: UInt64 = 1_000
  /// Names that a list of a folder leaves out.
  var unlisted: Set<String> = []

  subscript<Value>(dynamicMember fault: WritableKeyPath<Faults, Value>) -> Value {
    get { faults[keyPath: fault] }
    set { faults[keyPath: fault] = newValue }
  }

  func locked<Result>(_ body: () throws -> Result) rethrows -> Result { try mutex.withLock(body) }

  private func call(_ operation: String) throws {
    if let body = beforeCall {
      let (before, faults) = (calls, faults)
      (beforeCall, self.faults) = (nil, Faults())
      body(operation)
      (beforeCall, self.faults, calls) = (body, faults, before)
    }
    defer { calls += 1 }
    if openFiles >= faults.mostFiles, ["open", "read folder", "open folder"].contains(operation) {
      throw SystemError(operation: operation, code: 24)
    }
    if let error = faults.fails(calls, operation) { throw error }
  }

  // MARK: - Names

  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
    try locked {
      try call("open")
      if let content = names[path] {
        if purpose.isMaking { throw SystemError(operation: "open", code: 17) }
        return file(content, purpose)
      }
      if !purpose.isMaking { throw SystemError(operation: "open", code: 2) }
      let content = Content(number: nextNumber)
      nextNumber += 1
      names[path] = content
      namings.append(.made(path, content))
      return file(content, purpose)
    }
  }

  private func file(_ content: Content, _ purpose: OpeningPurpose) -> SimulatedFile {
    let isWriting = purpose == .appending || purpose.isMaking
    return SimulatedFile(self, content, isWriting: isWriting, isWriting ? writingEpoch : epoch)
  }

  func status(of path: String) throws -> FileStatus? {
    try locked {
      try call("look up")
      return names[path]?.status
    }
  }

  func names(in folder: String) throws -> [String] {
    try locked {
      try call("read folder")
      guard names[folder]?.isFolder == true else { throw SystemError(operation: "read folder", code: 2) }
      return names.keys.filter { Self.folder(of: $0) == folder && !unlisted.contains($0) }
        .map { String($0.dropFirst(folder.count + 1)) }
    }
  }

  func makeFolder(_ path: String) throws {
    try locked {
      try call("make folder")
      if names[path] != nil { throw SystemError(operation: "make folder", code: 17) }
      let content = Content(number: nextNumber, isFolder: true)
      nextNumber += 1
      names[path] = content
      namings.append(.made(path, content))
    }
  }

  private static func folder(of path: String) -> Substring { path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }

  func rename(_ path: String, to newPath: String, replacing: Bool) throws {
    try locked {
      try call("rename")
      if !replacing, names[newPath] != nil { throw SystemError(operation: "rename", code: 17) }
      guard let content = names.removeValue(forKey: path) else { throw SystemError(operation: "rename", code: 2) }
      names[newPath]?.changed = now
      content.changed = now
      names[newPath] = content
      namings.append(.renamed(path, to: newPath))
      if self.renamesAndFails { throw SystemError(operation: "rename", code: 5) }
    }
  }

  func remove(_ path: String) throws {
    try locked {
      try call("remove")
      guard let content = names.removeValue(forKey: path) else { return }
      content.changed = now
      namings.append(.removed(path))
    }
  }

  func openFolder(of path: String) throws -> () throws -> Void {
    let folder = try locked {
      try call("open folder")
      return SimulatedFile(self, Content(number: 0, isFolder: true), isWriting: false, epoch)
    }
    return { [self] in
      defer { withExtendedLifetime(folder) {} }
      try locked {
        try call("synchronize folder")
        let name = Self.folder(of: path)
        for naming in namings where Self.folder(of: naming.path) == name { takeDurable(naming) }
        namings.removeAll { Self.folder(of: $0.path) == name }
      }
    }
  }

  // MARK: - The end of processes

  /// All processes end, as if they were killed, or only those that write. What they have written stays.
  func stop(onlyWriters: Bool = false) {
    locked {
      if !onlyWriters { epoch += 1 }
      writingEpoch += 1
      for content in names.values { content.holder = nil }
    }
  }

  /// The system stops.
  func crash(_ random: inout SeededGenerator) {
    locked {
      epoch += 1
      writingEpoch += 1
      for namings in Dictionary(grouping: namings, by: { Self.folder(of: $0.path) }).sorted(by: {
        $0.key < $1.key
      }) {
        let first = random.below(namings.value.count + 1)
        for naming in namings.value.prefix(first) { takeDurable(naming) }
        for case .removed(let path) in namings.value.dropFirst(first) where random.oneIn(2) {
          takeDurable(.removed(path))
        }
      }
      let lost = names.filter { $0.value.isFolder && durableNames[$0.key] == nil }.keys
      durableNames = durableNames.filter { name in !lost.contains { name.key.hasPrefix("\($0)/") } }
      namings = []
      names = durableNames
      for content in names.values { content.crash(&random) }
    }
  }

  private func takeDurable(_ naming: Naming) {
    switch naming {
    case .made(let path, let content): durableNames[path] = content
    case .renamed(let path, let newPath): durableNames[newPath] = durableNames.removeValue(forKey: path)
    case .removed(let path): durableNames[path] = nil
    }
  }

  /// The paths of all files in a folder, in their order.
  func files(in folder: String) -> [String] { locked { names.keys.filter { Self.folder(of: $0) == folder }.sorted() } }

  /// How many bytes all files have.
  var used: Int { locked { names.values.reduce(0) { $0 + $1.bytes.count } } }

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
      names[path]?.changed = now
    }
  }

  /// The files whose paths begin with this one, and their bytes.
  func contents(of path: String) -> [String: [UInt8]] {
    locked { names.filter { $0.key.hasPrefix(path) }.mapValues(\.bytes) }
  }

  // MARK: - What somebody else does

  /// Renames a file, or a folder with all that is in it. The new name is on the disk.
  func move(_ path: String, to newPath: String) {
    locked {
      for naming in namings { takeDurable(naming) }
      namings = []
      for name in names.keys where name == path || name.hasPrefix(path + "/") {
        names[newPath + name.dropFirst(path.count)] = names.removeValue(forKey: name)
      }
      durableNames = names
    }
  }

  /// Makes a copy of a file, or of a folder with all that is in it, on the disk.
  func duplicate(_ path: String, as newPath: String) {
    locked {
      for (name, content) in names where name == path || name.hasPrefix(path + "/") {
        let new = Content(number: nextNumber, isFolder: content.isFolder)
        (new.bytes, new.durable, new.changed) = (content.bytes, content.bytes, now)
        nextNumber += 1
        names[newPath + name.dropFirst(path.count)] = new
        durableNames[newPath + name.dropFirst(path.count)] = new
      }
    }
  }

  /// Changes a bit of a file, if it is on the disk, and nothing is to be written there any more.
  func flipBit(_ bit: Int, at offset: Int, of path: String) -> Bool {
    locked {
      guard let content = names[path], content.changes.isEmpty, offset < content.durable.count else { return false }
      content.bytes[offset] ^= 1 << bit
      content.durable[offset] ^= 1 << bit
      return true
    }
  }

  /// Cuts a file off.
  func cutOff(_ path: String, to size: Int) {
    locked {
      names[path]?.apply(.truncate(size))
      names[path]?.changed = now
    }
  }

  func copy() -> SimulatedDisk {
    locked {
      let copy = SimulatedDisk()
      for (path, content) in names {
        let new = Content(number: content.number, isFolder: content.isFolder)
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
      guard file.epoch == (file.isWriting ? writingEpoch : epoch) else {
        throw SystemError(operation: operation, code: 9)
      }
      if forgetsNameless, !names.values.contains(where: { $0 === file.content }) {
        throw SystemError(operation: operation, code: ESTALE)
      }
      return try body(file.content)
    }
  }

  fileprivate func closed(_ file: SimulatedFile) {
    locked {
      openFiles -= 1
      if file.content.holder == ObjectIdentifier(file) { file.content.holder = nil }
    }
  }

  /// Writes what there is room for.
  fileprivate func write(_ bytes: [UInt8], at offset: Int, to content: Content) throws {
    let growth = max(0, offset + bytes.count - content.bytes.count)
    let missing = max(0, growth - max(0, self.capacity - used))
    let written = bytes.dropLast(missing)
    content.changed = now
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
    losses += 1
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
        for sector in Self.sectors(of: new, at: offset) where random.oneIn(2) { Self.apply(sector, to: &durable) }
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
  fileprivate let isWriting: Bool
  fileprivate let epoch: Int
  /// The losses of the file that this descriptor was told of.
  private var knownLosses: Int

  fileprivate init(_ disk: SimulatedDisk, _ content: SimulatedDisk.Content, isWriting: Bool, _ epoch: Int) {
    self.disk = disk
    self.content = content
    knownLosses = content.losses
    self.isWriting = isWriting
    self.epoch = epoch
    disk.openFiles += 1
  }

  deinit { disk.closed(self) }

  func status() throws -> FileStatus { try disk.access(self, "look up") { $0.status } }

  func takeOwner(of other: FileStatus, mayKeepOwner: Bool) throws { try disk.access(self, "set the owner") { _ in } }

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
      content.bytes.prefix(disk.holeStart).dropFirst(offset).firstIndex { $0 != 0 }
        .map { max(offset, $0 / 4096 * 4096) }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    try disk.access(self, "write") { try disk.write(Array(bytes), at: offset, to: $0) }
  }

  func synchronize() throws {
    do {
      if try disk.access(self, "synchronize", { synchronize($0) }) { return }
    } catch {
      disk.locked {
        content.forgetWrites()
        knownLosses = content.losses
      }
      throw error
    }
    throw SystemError(operation: "synchronize", code: EIO)
  }

  /// Brings changes to the disk. As on Linux, tells each descriptor once that earlier ones were lost.
  private func synchronize(_ content: SimulatedDisk.Content) -> Bool {
    guard knownLosses == content.losses else {
      knownLosses = content.losses
      return false
    }
    content.synchronize()
    return true
  }

  func truncate(to size: Int) throws {
    try disk.access(self, "truncate") {
      $0.apply(.truncate(size))
      $0.changed = disk.now
    }
  }

  func lock() throws -> Bool {
    try disk.access(self, "lock") {
      if let holder = $0.holder, holder != ObjectIdentifier(self) { return false }
      $0.holder = ObjectIdentifier(self)
      return true
    }
  }

  func unlock() throws { try disk.access(self, "unlock") { $0.holder = nil } }
}
