#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The disk of the system.
struct SystemDisk {
  /// The errors that say that there is no room.
  static func isFull(_ code: Int32) -> Bool {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
      code == ENOSPC || code == EDQUOT
    #else
      false
    #endif
  }

  /// Whether there is no file of the name.
  static func isMissing(_ code: Int32) -> Bool {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
      code == ENOENT
    #else
      false
    #endif
  }

  /// What the system says about an error.
  static func description(of code: Int32) -> String {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
      strerror(code).map { String(cString: $0) } ?? "error \(code)"
    #else
      "error \(code)"
    #endif
  }
}

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
  extension SystemDisk: Disk {
    func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
      switch purpose {
      case .reading: PosixFile(try descriptor("open", path, O_RDONLY))
      case .appending: PosixFile(try descriptor("open", path, O_RDWR | O_CREAT))
      case .making(let permissions):
        try PosixFile(
          descriptor("open", path, O_RDWR | O_CREAT | O_TRUNC),
          permissions: mode_t(truncatingIfNeeded: permissions))
      }
    }

    private func descriptor(_ operation: String, _ path: String, _ flags: Int32) throws -> Int32 {
      try repeating(operation) { openFile(path, flags | O_CLOEXEC, 0o666) }
    }

    func place(of path: String) throws -> FilePlace? {
      var status = stat()
      while stat(path, &status) != 0 {
        if errno == ENOENT { return nil }
        if errno != EINTR { throw SystemError(operation: "look up", code: errno) }
      }
      return FilePlace(status)
    }

    func rename(_ path: String, to newPath: String) throws {
      try repeating("rename") { renameFile(path, newPath) }
    }

    func remove(_ path: String) throws {
      do {
        try repeating("remove") { unlink(path) }
      } catch let error as SystemError where error.code == ENOENT {}
    }

    func synchronizeFolder(of path: String) throws {
      let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let file = PosixFile(try descriptor("open folder", folder, O_RDONLY))
      do {
        try file.synchronize()
      } catch let error as SystemError where error.code == EINVAL {
        // Some file systems keep no folders that could be synchronized.
      }
    }
  }

  /// An open file, as a descriptor.
  private final class PosixFile: DiskFile {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
    }

    convenience init(_ descriptor: Int32, permissions: mode_t) throws {
      self.init(descriptor)
      try repeating("set permissions") { fchmod(descriptor, permissions) }
    }

    deinit { close(descriptor) }

    private func status() throws -> stat {
      var status = stat()
      try repeating("look up") { fstat(descriptor, &status) }
      return status
    }

    func place() throws -> FilePlace { FilePlace(try status()) }

    func permissions() throws -> UInt32 { UInt32(try status().st_mode) & 0o7777 }

    func size() throws -> Int {
      guard let size = Int(exactly: try status().st_size) else {
        throw SystemError(operation: "look up", code: EFBIG)
      }
      return size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
      var done = 0
      while done < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = try repeating("read") {
          pread(descriptor, rest.baseAddress!, rest.count, off_t(offset + done))
        }
        if count == 0 { break }
        done += count
      }
      return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = try repeating("write") {
          pwrite(descriptor, rest.baseAddress!, rest.count, off_t(offset + done))
        }
        if count == 0 { throw SystemError(operation: "write", code: ENOSPC) }
        done += count
      }
    }

    func synchronize() throws {
      #if canImport(Darwin)
        // What leaves the computer for good: fsync alone ends in the cache of the drive.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
      #endif
      try repeating("synchronize") { fsync(descriptor) }
    }

    func truncate(to size: Int) throws {
      try repeating("truncate") { ftruncate(descriptor, off_t(size)) }
    }

    func lock() throws -> Bool {
      do {
        try repeating("lock") { flock(descriptor, LOCK_EX | LOCK_NB) }
        return true
      } catch let error as SystemError where error.code == EAGAIN {
        return false
      }
    }

    func unlock() throws {
      try repeating("unlock") { flock(descriptor, LOCK_UN) }
    }
  }

  extension FilePlace {
    fileprivate init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  // The functions of the C library have the names of methods above.
  private func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 {
    open(path, flags, permissions)
  }

  private func renameFile(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

  /// The result of a call, which is made again where a signal broke it off.
  @discardableResult
  private func repeating<Result: SignedInteger>(_ operation: String, _ call: () -> Result) throws -> Result {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw SystemError(operation: operation, code: errno) }
    }
  }
#else
  extension SystemDisk: Disk {
    private var notSupported: SystemError { SystemError(operation: "open", code: SystemError.notSupported) }

    func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile { throw notSupported }
    func place(of path: String) throws -> FilePlace? { throw notSupported }
    func rename(_ path: String, to newPath: String) throws { throw notSupported }
    func remove(_ path: String) throws { throw notSupported }
    func synchronizeFolder(of path: String) throws { throw notSupported }
  }
#endif

extension SystemError {
  /// Stands for the error of a platform on which logs are not supported; no system has it.
  static let notSupported: Int32 = -1
}
