import Dispatch

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The operations that a log needs from a file system. A log's files are reached through these protocols
/// only, so that tests can substitute a disk that tears writes, fills up and fails.
protocol Disk: Sendable {
  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile
  /// Returns the status of the file or folder that a path leads to, or nil.
  func status(of path: String) throws -> FileStatus?
  /// Returns the names in a folder, in no particular order. Names that appear or disappear meanwhile may or
  /// may not be among them.
  func names(in folder: String) throws -> [String]
  /// Makes a folder. Throws if the name is taken.
  func makeFolder(_ path: String) throws
  /// Renames a file. A file that has the new name is atomically replaced, or else an error, where the file system can
  /// tell.
  func rename(_ path: String, to newPath: String, replacing: Bool) throws
  /// Removes a file, if there is one.
  func remove(_ path: String) throws
  /// Opens the folder of a file, and returns what brings the names of all files in it to the disk.
  func openFolder(of path: String) throws -> () throws -> Void
  /// The time of the system clock, in milliseconds since 1970.
  var now: UInt64 { get }
  /// Calls `onChange` when the file now at a path is written or renamed, or when names in a folder at the
  /// path change, until the result is released. Returns nil if the system does not report changes. `onChange`
  /// may be called without reason, on any thread.
  func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)?
}

extension Disk {
  /// Returns the place of the file that a path leads to, or nil.
  func place(of path: String) throws -> FilePlace? { try status(of: path)?.place }

  /// Brings the names of all files in this file's folder to the disk.
  func synchronizeFolder(of path: String) throws { try openFolder(of: path)() }

  var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1000)) }

  func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? { nil }
}

/// A watch on a file, which reports changes for as long as it is kept.
protocol FileWatch: AnyObject, Sendable {}

/// An open file. It is closed when it is no longer referenced.
protocol DiskFile: AnyObject, Sendable {
  func status() throws -> FileStatus
  /// Fills the buffer from `offset` on, as far as the file goes, and returns the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int
  /// Returns the offset, from `offset` on, of the next bytes that are not part of a hole, or nil. A system
  /// that knows no holes returns `offset`.
  func nextData(from offset: Int) throws -> Int?
  /// Writes all of the bytes, or throws after having written some or none of them.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws
  /// Returns once everything that was written would survive a crash.
  func synchronize() throws
  func truncate(to size: Int) throws
  /// Gives the file the owner, the group and the permissions of another.
  ///
  /// - Parameter mayKeepOwner: Whether the file keeps its owner, and its group, if this process may not give files
  ///   away. The group then gets no rights that all others do not have.
  func takeOwner(of other: FileStatus, mayKeepOwner: Bool) throws
  /// Takes the lock of the file, and returns whether it was free.
  func lock() throws -> Bool
  func unlock() throws
}

/// What a file is opened for.
enum OpeningPurpose: Sendable, Hashable {
  case reading
  /// Reading, without following a link.
  case inspecting
  /// Reading and writing.
  case appending
  /// Reading and writing a new file. An error if the name is taken, even by a dangling link.
  case making
  /// The same, for a file that gets the permissions of another: until then, nobody but its owner may open it.
  case makingPrivately

  var isMaking: Bool { self == .making || self == .makingPrivately }
}

/// The identity of a file, whatever its name: a device, and a number on it.
struct FilePlace: Sendable, Hashable {
  let device: UInt64
  let number: UInt64
}

/// What the system knows about a file.
struct FileStatus: Sendable {
  var place: FilePlace
  /// The size in bytes.
  var size: Int
  /// Whether it is a regular file, and not a folder, a pipe or a device.
  var isRegular = true
  var isFolder = false
  /// How many names it has.
  var links: UInt64 = 1
  /// When its bytes or its names last changed, by the system clock, in nanoseconds since 1970.
  var changed: UInt64 = 0
  var permissions: UInt32 = 0
  var owner: UInt32 = 0
  var group: UInt32 = 0
}

/// A system call that failed.
struct SystemError: Error, Hashable {
  /// The operation that failed, as a verb.
  let operation: String
  /// The `errno` of the system.
  let code: Int32

  /// The code for a platform on which logs are not supported; no system uses it.
  static let notSupported: Int32 = -1
  /// The code for a name that no file can have: EINVAL.
  static let invalidName: Int32 = 22
  /// The code for a system that reads fewer bytes than it says there are: EIO.
  static let shortRead: Int32 = 5
}

// MARK: - Calls that wait

/// A serial queue for calls that wait for the disk. They must not block a thread of Swift's pool, which has
/// only as many as the machine has cores: all tasks of the process would wait, too.
struct BlockingCalls: Sendable {
  // A serial queue gets a thread even when all threads of the pool are busy.
  private let queue = DispatchQueue(label: "StowRecords", qos: .utility)

  /// Runs `body`, and returns its result.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Runs `body` without waiting for it.
  func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after an interval.
  func run(after interval: Duration, _ body: @escaping @Sendable () -> Void) {
    // Limits the interval to some decades, so that no sum of nanoseconds overflows.
    let seconds = max(0, min(interval, .seconds(1 << 30)) / .seconds(1))
    queue.asyncAfter(deadline: .now() + seconds, execute: body)
  }
}
