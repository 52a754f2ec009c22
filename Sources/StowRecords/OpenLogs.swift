import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The logs that are open for appending in this process, so that they are closed when it exits: nobody lets go of a
/// global variable.
enum OpenLogs {
  private struct Reference: Sendable {
    weak var log: RecordLog?
    let process = SystemDisk.process
  }

  private static let references = Mutex<[ObjectIdentifier: Reference]>([:])

  /// Has the exit of the process close what is open then. Once in a process.
  private static let closesAtExit: Void = {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
      _ = atexit { OpenLogs.closeAll() }
    #endif
  }()

  static func add(_ log: RecordLog) {
    _ = closesAtExit
    references.withLock { $0[ObjectIdentifier(log)] = Reference(log: log) }
  }

  static func remove(_ log: RecordLog) {
    references.withLock { $0[ObjectIdentifier(log)] = nil }
  }

  private static func closeAll() {
    // What `fork` has copied belongs to the parent.
    let logs = references.withLock { $0.values.filter { $0.process == SystemDisk.process }.compactMap(\.log) }
    for log in logs { log.closeAtExit() }
  }
}

extension RecordLog {
  /// Closes the log, unless a thread keeps using it. The one that ends the process may do so from within an `encode(to:)`
  /// that the log is running, and would wait for itself.
  fileprivate func closeAtExit() {
    for _ in 0..<100 {
      if state.withLockIfAvailable({ _ in true }) ?? false {
        try? close()
        return
      }
      usleep(10_000)
    }
  }
}
