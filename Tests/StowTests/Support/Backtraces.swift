import Foundation
import Testing

/// Has the testing library take no backtrace of errors that are thrown. The tests throw millions and catch them again,
/// and the backtraces would take more time than all else. It asks for this when it has made all tests and their traits,
/// and before it runs any.
///
/// One suite of the process needs to have it.
struct NoBacktraces: SuiteTrait {
  init() {
    #if !os(Windows)
      setenv("SWT_SWIFT_ERROR_BACKTRACING_ENABLED", "0", 0)
    #endif
  }
}

extension Trait where Self == NoBacktraces {
  static var noBacktraces: Self { Self() }
}
