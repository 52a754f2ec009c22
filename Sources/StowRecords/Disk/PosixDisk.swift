import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The disk of the system.
struct SystemDisk {
  /// The process that opens files through this value.
  let process = Self.process
}

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
  extension SystemDisk {
    /// The identifier of this process.
    static var process: Int32 { getpid() }

    /// The identifier of this thread, which is not 0.
    static var thread: UInt {
      #if canImport(Glibc)
        pthread_self()
      #else
        UInt(bitPattern: pthread_self())
      #endif
    }

    /// Returns whether an error says that the disk is full.
    static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    /// Returns whether an error says that there is no file of the name.
    static func isMissing(_ code: Int32) -> Bool { code == ENOENT }

    /// Returns whether an error says that a file server does not know an open file any more.
    static func isForgotten(_ code: Int32) -> Bool { code == ESTALE }

    /// Returns whether an error says that the name of a new file is taken.
    static func isTaken(_ code: Int32) -> Bool { code == EEXIST || code == ELOOP }

    /// Returns the system's description of an error.
    static func description(of code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
  }
#else
  extension SystemDisk {
    static var process: Int32 { 0 }
    static var thread: UInt { 1 }
    static func isFull(_ code: Int32) -> Bool { false }
    static func isMissing(_ code: Int32) -> Bool { false }
    static func isForgotten(_ code: Int32) -> Bool { false }
    static func isTaken(_ code: Int32) -> Bool { false }
    static func description(of code: Int32) -> String { "error \(code)" }
  }
#endif

// Record numbers and file offsets do not fit in integers of 32 bits.
#if (canImport(Darwin) || canImport(Glibc) || canImport(Musl)) && _pointerBitWidth(_64)
  extension SystemDisk: Disk {
    /// Throws in a child that `fork` made of the process that opened the log: the child does not know what
    /// its parent has written since.
    fileprivate static func checkProcess(_ process: Int32) throws {
      if process != Self.process {
        throw SystemError(operation: "write or synchronize in a child of the process", code: EPERM)
      }
    }

    func open(_ path: String, _ purpose: OpeningPurpose) throws -> any DiskFile {
      if purpose.isMaking { try Self.checkProcess(process) }
      // Without `O_NONBLOCK`, opening a pipe would wait for its other end.
      let flags =
        switch purpose {
        case .reading: O_RDONLY | O_NONBLOCK
        case .inspecting: O_RDONLY | O_NONBLOCK | O_NOFOLLOW
        case .appending: O_RDWR | O_NONBLOCK
        case .making, .makingPrivately: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        }
      return PosixFile(try descriptor("open", path, flags, purpose == .makingPrivately ? 0o600 : 0o666))
    }

    private func descriptor(
      _ operation: String, _ path: String, _ flags: Int32, _ permissions: mode_t = 0
    ) throws -> Int32 {
      let descriptor = try repeating(operation) { openFile(path, flags | O_CLOEXEC, permissions) }
      if descriptor > STDERR_FILENO { return descriptor }
      // A process that has closed its standard streams would print into the log.
      defer { close(descriptor) }
      return try repeating(operation) { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    func status(of path: String) throws -> FileStatus? {
      var status = stat()
      while stat(path, &status) != 0 {
        if errno == ENOENT { return nil }
        if errno != EINTR { throw SystemError(operation: "look up", code: errno) }
      }
      return try FileStatus(status)
    }

    func names(in folder: String) throws -> [String] {
      var opened = opendir(folder)
      while opened == nil, errno == EINTR { opened = opendir(folder) }
      guard let stream = opened else { throw SystemError(operation: "open folder", code: errno) }
      defer { closedir(stream) }
      var names: [String] = []
      while true {
        errno = 0
        guard let entry = readdir(stream) else {
          if errno == EINTR { continue }
          break
        }
        // The entry may be shorter than its type, and must not be copied.
        let name = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
        names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
      }
      if errno != 0 { throw SystemError(operation: "read folder", code: errno) }
      return names
    }

    func makeFolder(_ path: String) throws { try repeating("make folder") { mkdir(path, 0o777) } }

    func rename(_ path: String, to newPath: String, replacing: Bool) throws {
      if !replacing {
        do {
          try repeating("rename") { link(path, newPath) }
          // If this fails, the file keeps two names, of which the next opening removes this one.
          unlink(path)
          return
        } catch let error as SystemError where [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(error.code) {
          // Some file systems give a file only one name.
        }
      }
      try repeating("rename") { renameFile(path, newPath) }
    }

    func remove(_ path: String) throws {
      try Self.checkProcess(process)
      do {
        try repeating("remove") { unlink(path) }
      } catch let error as SystemError where error.code == ENOENT {}
    }

    func openFolder(of path: String) throws -> () throws -> Void {
      // A mark at the beginning of a name is one character with the slash before it.
      let end = path.unicodeScalars.lastIndex(of: "/")
      let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let file = PosixFile(try descriptor("open folder", folder, O_RDONLY))
      return {
        do {
          try file.synchronize()
        } catch let error as SystemError where error.isUnsupported {
          // Some file systems cannot synchronize folders.
        }
      }
    }
  }

  /// An open file, as a descriptor.
  final class PosixFile: DiskFile {
    private let descriptor: Int32
    /// The process that has opened it.
    private let process = SystemDisk.process

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func status() throws -> FileStatus {
      var status = stat()
      try repeating("look up") { fstat(descriptor, &status) }
      return try FileStatus(status)
    }

    func takeOwner(of other: FileStatus, mayKeepOwner: Bool) throws {
      let status = try status()
      var permissions = other.permissions
      if (status.owner, status.group) != (other.owner, other.group) {
        do {
          try repeating("set the owner") { fchown(descriptor, other.owner, other.group) }
        } catch let error as SystemError where mayKeepOwner && error.code == EPERM {
          do {
            try repeating("set the group") { fchown(descriptor, status.owner, other.group) }
          } catch let error as SystemError where error.code == EPERM {
            // The group of this process had the rights of all others in the other file, unless that gave its own group
            // fewer.
            permissions &= ~0o2070 | (permissions & 0o7) << 3
          }
        }
      }
      // Set last, because a new owner clears some permissions. A new file has none of those.
      if status.permissions != permissions {
        try repeating("set permissions") { fchmod(descriptor, mode_t(truncatingIfNeeded: permissions)) }
      }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
      var done = 0
      while done < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        let count = try repeating("read") { pread(descriptor, rest.baseAddress!, rest.count, off_t(offset + done)) }
        if count == 0 { break }
        done += count
      }
      return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
      try SystemDisk.checkProcess(process)
      var done = 0
      while done < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        let count = try repeating("write") { pwrite(descriptor, rest.baseAddress!, rest.count, off_t(offset + done)) }
        if count == 0 { throw SystemError(operation: "write", code: ENOSPC) }
        done += count
      }
    }

    #if canImport(Darwin)
      private static let seekData = SEEK_DATA
    #else
      /// `SEEK_DATA`, which the headers declare only if extensions are requested.
      private static let seekData: Int32 = 3
    #endif

    func nextData(from offset: Int) throws -> Int? {
      do {
        let data = try Self.result(
          of: "look for data", { lseek(descriptor, off_t(offset), Self.seekData) },
          ifUnsupported: { off_t(offset) })
        return Int(exactly: data)
      } catch let error as SystemError where error.code == ENXIO {
        return nil
      }
    }

    func synchronize() throws {
      // The system reports a failure once for an open file, and a child shares those of its parent.
      try SystemDisk.checkProcess(process)
      #if canImport(Darwin)
        // `fsync` alone reaches only the cache of the drive.
        _ = try Self.result(of: "synchronize", { fcntl(descriptor, F_FULLFSYNC) }, ifUnsupported: { fsync(descriptor) })
      #else
        try repeating("synchronize") { fsync(descriptor) }
      #endif
    }

    func truncate(to size: Int) throws {
      try SystemDisk.checkProcess(process)
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
      // A child shares the lock of its parent.
      if process != SystemDisk.process { return }
      try repeating("unlock") { flock(descriptor, LOCK_UN) }
    }
  }

  extension PosixFile {
    /// Returns the result of a call, or of the other one if the file system does not support the first. A call that
    /// failed for another reason is not replaced by one that promises less.
    static func result<Result: SignedInteger>(
      of operation: String, _ call: () -> Result, ifUnsupported other: () -> Result
    ) throws -> Result {
      do {
        return try repeating(operation, call)
      } catch let error as SystemError where error.isUnsupported {
        return try repeating(operation, other)
      }
    }
  }

  extension SystemError {
    /// Whether a file system does not support a call on a file or folder. Each of them has its own code for that.
    fileprivate var isUnsupported: Bool { [EINVAL, ENOSYS, ENOTSUP, ENOTTY, EOPNOTSUPP].contains(code) }
  }

  extension FileStatus {
    fileprivate init(_ status: stat) throws {
      // Readers add up to a block to an offset, which must not overflow.
      guard let size = Int(exactly: status.st_size), size <= .max - BlockHead.blockSize else {
        throw SystemError(operation: "look up", code: EFBIG)
      }
      let place = FilePlace(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
      #if canImport(Darwin)
        let changed = status.st_ctimespec
      #else
        let changed = status.st_ctim
      #endif
      self.init(
        place: place, size: size, isRegular: status.st_mode & S_IFMT == S_IFREG,
        isFolder: status.st_mode & S_IFMT == S_IFDIR, links: UInt64(status.st_nlink),
        changed: UInt64(clamping: changed.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: changed.tv_nsec),
        permissions: UInt32(status.st_mode) & 0o7777, owner: status.st_uid, group: status.st_gid)
    }
  }

  // Functions of the C library share names with methods above.
  private func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 {
    open(path, flags, permissions)
  }

  private func renameFile(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

  /// Returns the result of a call, which is repeated if a signal interrupts it.
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
    func status(of path: String) throws -> FileStatus? { throw notSupported }
    func names(in folder: String) throws -> [String] { throw notSupported }
    func makeFolder(_ path: String) throws { throw notSupported }
    func rename(_ path: String, to newPath: String, replacing: Bool) throws { throw notSupported }
    func remove(_ path: String) throws { throw notSupported }
    func openFolder(of path: String) throws -> () throws -> Void { throw notSupported }
  }
#endif

#if os(Linux) && _pointerBitWidth(_64)
  extension SystemDisk {
    func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      // A compaction that replaces the file changes its number of names (`IN_ATTRIB`). New files get their
      // names in a folder by being renamed (`IN_MOVED_TO`), or as a second name (`IN_CREATE`).
      let events = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_MOVED_TO | IN_CREATE)
      guard inotify_add_watch(descriptor, path, events) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global(qos: .utility))
      return PosixFileWatch(source, descriptor) {
        // The events are only drained: the file shows what happened. Unread events would keep triggering the source.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
          while read(descriptor, buffer.baseAddress!, buffer.count) > 0 {}
        }
        onChange()
      }
    }
  }
#elseif canImport(Darwin) && _pointerBitWidth(_64)
  extension SystemDisk {
    func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? {
      guard let descriptor = try? self.descriptor("watch", path, O_EVTONLY) else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename],
        queue: .global(qos: .utility))
      // The system begins to watch some time after the source is made.
      source.setRegistrationHandler(handler: onChange)
      return PosixFileWatch(source, descriptor, onEvent: onChange)
    }
  }
#endif

#if (os(Linux) || canImport(Darwin)) && _pointerBitWidth(_64)
  /// A source of events from a descriptor, which is closed when this is released. Sources may be used from any thread.
  private final class PosixFileWatch: FileWatch, @unchecked Sendable {
    private let source: any DispatchSourceProtocol

    init(_ source: any DispatchSourceProtocol, _ descriptor: Int32, onEvent: @escaping @Sendable () -> Void) {
      self.source = source
      source.setEventHandler(handler: onEvent)
      source.setCancelHandler { close(descriptor) }
      source.resume()
    }

    deinit { source.cancel() }
  }
#endif
