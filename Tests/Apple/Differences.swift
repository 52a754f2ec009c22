// Compiled into each module: declarations that only Apple's Dispatch has, and types that only Linux has, as unavailable.

import Dispatch
import Foundation

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

#if arch(x86_64)
  @available(*, unavailable, message: "Macs with processors of Intel do not have it")
  struct Float16 {}
#else
  @available(*, unavailable, message: "only processors of Intel have it")
  struct Float80 {}
#endif

#if !os(macOS)
  @available(*, unavailable, message: "only macOS has it")
  final class Process {}
#endif
