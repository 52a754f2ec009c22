// Compiled into each module: declarations that only Apple's Dispatch has, and types that only Linux has, as
// unavailable.

import Dispatch
import Foundation

#if canImport(Darwin)
  protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
    var handle: Int32 { get }
    var data: DispatchSource.FileSystemEvent { get }
    var mask: DispatchSource.FileSystemEvent { get }
  }

  extension DispatchSource {
    class func makeFileSystemObjectSource(
      fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError() }
  }
#endif

@available(*, unavailable)
struct Float80 {}

#if os(macOS) && arch(x86_64)
  @available(*, unavailable)
  struct Float16 {}
#endif

#if os(iOS)
  @available(*, unavailable)
  final class Process {}
#endif
