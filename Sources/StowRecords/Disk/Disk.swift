/// What a log asks of the system that keeps its files. Every system call of this module is behind these two
/// protocols, so that tests can put a disk in their place which tears writes, fills up and fails.
protocol Disk: Sendable {
  func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile
  /// The file that a path leads to; nil if there is none.
  func place(of path: String) throws -> FilePlace?
  /// Gives a file another name. A file that has it is replaced, at one moment for everybody.
  func rename(_ path: String, to newPath: String) throws
  /// Removes a file, if there is one.
  func remove(_ path: String) throws
  /// Makes the names of the files last that stand beside this one.
  func synchronizeFolder(of path: String) throws
}

/// A file that is open. It is closed when nobody refers to it.
protocol DiskFile: AnyObject, Sendable {
  func place() throws -> FilePlace
  func permissions() throws -> UInt32
  func size() throws -> Int
  /// Fills the buffer from `offset` on, as far as the file goes, and returns how many bytes there were.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int
  /// Writes all of the bytes, or throws after having written some or none of them.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws
  /// Returns when everything that was written is where a crash does not reach it.
  func synchronize() throws
  func truncate(to size: Int) throws
  /// Takes the lock of the file, unless somebody else has it.
  func lock() throws -> Bool
  func unlock() throws
}

/// What a file is opened for.
enum OpeningPurpose: Sendable, Hashable {
  case reading
  /// Reading and writing; the file is made if it is not there.
  case appending
  /// Reading and writing a new file; one of this name is emptied.
  case making(permissions: UInt32)
}

/// What tells one file from all others, whatever its name: a device, and a number on it.
struct FilePlace: Sendable, Hashable {
  let device: UInt64
  let number: UInt64
}

/// A system call that failed.
struct SystemError: Error, Hashable {
  /// What was to be done, as a verb.
  let operation: String
  /// The `errno` of the system.
  let code: Int32
}
