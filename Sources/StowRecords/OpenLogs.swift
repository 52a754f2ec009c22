import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The logs that this process has open for appending. They are closed when it exits, because a global
/// variable is never released.
enum OpenLogs {
  private struct Reference: Sendable {
    weak var log: RecordLog?
    let process = SystemDisk.process
  }

  private static let references = Mutex<[ObjectIdentifier: Reference]>([:])

  /// Registers the closing of open logs when the process exits. Done once per process.
  private static let closesAtExit: Void = {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
      _ = atexit { OpenLogs.closeAll() }
    #endif
  }()

  static func add(_ log: RecordLog) {
    _ = closesAtExit
    references.withLock { $0[ObjectIdentifier(log)] = Reference(log: log) }
  }

  static func remove(_ log: RecordLog) { references.withLock { $0[ObjectIdentifier(log)] = nil } }
}

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
  extension OpenLogs {
    private static func closeAll() {
      // Logs that `fork` has copied belong to the parent.
      let logs = references.withLock { $0.values.filter { $0.process == SystemDisk.process }.compactMap(\.log) }
      for log in logs { log.closeAtExit() }
    }
  }

  extension RecordLog {
    /// Closes the log, unless a thread keeps using it: the thread that ends the process may be inside an `encode(to:)`
    /// that the log is running, and would wait for itself. If a signal has interrupted it while it waits for the disk
    /// or closes the log, the records are only written.
    fileprivate func closeAtExit() {
      let isBusy = busyThread.load(ordering: .relaxed) == SystemDisk.thread
      for _ in 0..<100 {
        let isFree = state.withLockIfAvailable { state in
          if isBusy { try? state.writer?.flush() }
          return true
        }
        if isFree ?? false {
          if !isBusy { try? close() }
          return
        }
        usleep(10_000)
      }
    }
  }
#endif
