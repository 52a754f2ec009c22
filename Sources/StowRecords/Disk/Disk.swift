#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a log asks of the system that keeps its files. Every call that has to do with files goes through these two
/// protocols, so that tests can put a disk in their place which tears writes, fills up and fails.
protocol Disk: Sendable {
  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile
  /// The file or folder that a path leads to; nil if there is none.
  func status(of path: String) throws -> FileStatus?
  /// The names of what is in a folder, in no order. Of what gets a name or loses it meanwhile, some may be among them.
  func names(in folder: String) throws -> [String]
  /// Makes a folder. An error if the name is taken.
  func makeFolder(_ path: String) throws
  /// Gives a file another name. A file that has it is replaced, at one moment for everybody.
  func rename(_ path: String, to newPath: String) throws
  /// Removes a file, if there is one.
  func remove(_ path: String) throws
  /// Makes the names of the files last that stand beside this one.
  func synchronizeFolder(of path: String) throws
  /// What the clock of the system says: milliseconds since 1970.
  var now: UInt64 { get }
  /// Calls `onChange` when the file that is at a path now was written, or got another name, and for a folder when names in it
  /// have changed, until the result is let go of; nil if the system does not tell. It may be called without reason, on any
  /// thread.
  func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)?
}

extension Disk {
  /// The file that a path leads to; nil if there is none.
  func place(of path: String) throws -> FilePlace? { try status(of: path)?.place }

  var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

  func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? { nil }
}

/// Whoever keeps one is told about changes of a file.
protocol FileWatch: AnyObject, Sendable {}

/// A file that is open. It is closed when nobody refers to it.
protocol DiskFile: AnyObject, Sendable {
  func status() throws -> FileStatus
  /// Fills the buffer from `offset` on, as far as the file goes, and returns how many bytes there were.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int
  /// Where the next bytes are that are not part of a hole, from `offset` on; nil if no more are. A system that knows no
  /// holes gives `offset`.
  func nextData(from offset: Int) throws -> Int?
  /// Writes all of the bytes, or throws after having written some or none of them.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws
  /// Returns when everything that was written is where a crash does not reach it.
  func synchronize() throws
  func truncate(to size: Int) throws
  /// Gives the file the owner and the permissions of another.
  func takeOwner(of other: FileStatus) throws
  /// Takes the lock of the file, unless somebody else has it.
  func lock() throws -> Bool
  func unlock() throws
}

/// What a file is opened for.
enum OpeningPurpose: Sendable, Hashable {
  case reading
  /// Reading, but not what a link leads to.
  case inspecting
  /// Reading and writing.
  case appending
  /// Reading and writing a new file. An error if the name is taken, even by a link that leads nowhere.
  case making
}

/// What tells one file from all others, whatever its name: a device, and a number on it.
struct FilePlace: Sendable, Hashable {
  let device: UInt64
  let number: UInt64
}

/// What the system knows of an open file.
struct FileStatus: Sendable {
  var place: FilePlace
  /// In bytes.
  var size: Int
  /// Whether it is a file of bytes, and not a folder, a pipe or a device.
  var isRegular = true
  var isFolder = false
  /// When it was last written to, or got or lost a name, by the clock of the system: nanoseconds since 1970.
  var changed: UInt64 = 0
  var permissions: UInt32 = 0
  var owner: UInt32 = 0
  var group: UInt32 = 0
}

/// A system call that failed.
struct SystemError: Error, Hashable {
  /// What was to be done, as a verb.
  let operation: String
  /// The `errno` of the system.
  let code: Int32

  /// Stands for the error of a platform on which logs are not supported; no system has it.
  static let notSupported: Int32 = -1
  /// The error of a system that gives fewer bytes than it says there are: EIO.
  static let shortRead: Int32 = 5
}
