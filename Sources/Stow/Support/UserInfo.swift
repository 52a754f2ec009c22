import Synchronization

/// What an encoder or a decoder hands to every value.
///
/// There is mostly none, and then handing it on counts no reference.
struct UserInfo: Sendable {
  private var some: [CodingUserInfoKey: any Sendable]?

  @inline(__always)
  var isEmpty: Bool { some == nil }

  var values: [CodingUserInfoKey: any Sendable] {
    get { some ?? [:] }
    set { some = newValue.isEmpty ? nil : newValue }
  }
}

/// What an encoder or a decoder shares between threads for every value.
///
/// While there is none, a call takes no lock and writes nothing that other threads read.
struct SharedUserInfo: ~Copyable, Sendable {
  private let userInfo = Mutex(UserInfo())
  private let isEmpty = Atomic<Bool>(true)

  var current: UserInfo {
    isEmpty.load(ordering: .relaxed) ? UserInfo() : userInfo.withLock { $0 }
  }

  /// Hands it on, if there is any.
  @inline(__always)
  func hand(to other: inout UserInfo) {
    // Assigning none calls the runtime twice.
    if !isEmpty.load(ordering: .relaxed) { other = current }
  }

  func set(_ values: [CodingUserInfoKey: any Sendable]) {
    userInfo.withLock {
      $0.values = values
      isEmpty.store(values.isEmpty, ordering: .relaxed)
    }
  }
}
