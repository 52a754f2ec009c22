import Synchronization

/// What an encoder or a decoder passes to every value. It is mostly empty, and then passing it on counts no
/// reference.
struct UserInfo: Sendable {
  private var some: [CodingUserInfoKey: any Sendable]?

  var isEmpty: Bool { some == nil }

  var values: [CodingUserInfoKey: any Sendable] {
    get { some ?? [:] }
    set { some = newValue.isEmpty ? nil : newValue }
  }

  init(_ values: [CodingUserInfoKey: any Sendable] = [:]) { self.values = values }
}

extension Mutex where Value: Sendable {
  /// Changes options that threads share.
  ///
  /// The old options are released after the lock, because a `deinit` may use the same coder.
  func update(_ body: (inout Value) throws -> Void) rethrows {
    let old = try withLock { value in
      let old = value
      try body(&value)
      return old
    }
    withExtendedLifetime(old) {}
  }
}
