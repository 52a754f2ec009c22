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
      // The number of names changes when a compaction puts another file in the place of this one. New files get their
      // place in a folder by another name.
      let events = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_MOVED_TO)
      guard inotify_add_watch(descriptor, path, events) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global(qos: .utility))
      return PosixFileWatch(source, descriptor) {
        // What happened is seen in the file. Until it is read, the source would go on telling.
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

/// A source of events from a descriptor, which is closed when nobody keeps this. Sources may be used from any thread.
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
