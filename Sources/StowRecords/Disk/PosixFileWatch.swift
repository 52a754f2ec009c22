import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux) && _pointerBitWidth(_64)
  extension SystemDisk {
    func watch(_ path: String, onChange: @escaping @Sendable () -> Void) -> (any FileWatch)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      // A compaction that replaces the file changes its number of names (`IN_ATTRIB`). New files get their
      // names in a folder by being renamed (`IN_MOVED_TO`).
      let events = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_MOVED_TO)
      guard inotify_add_watch(descriptor, path, events) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global(qos: .utility))
      return PosixFileWatch(source, descriptor) {
        // The events are only drained: the file shows what happened. Unread events would keep triggering the
        // source.
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
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename],
        queue: .global(qos: .utility))
      return PosixFileWatch(source, descriptor, onEvent: onChange)
    }
  }
#endif

/// A source of events from a descriptor, which is closed when this is released. Sources may be used from any
/// thread.
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
