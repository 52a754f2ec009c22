/// What an encoder or a decoder hands to every value.
///
/// There is mostly none, and then handing it on counts no reference.
@usableFromInline
struct UserInfo: Sendable {
  private var some: [CodingUserInfoKey: any Sendable]?

  @inline(__always)
  var isEmpty: Bool { some == nil }

  var values: [CodingUserInfoKey: any Sendable] {
    get { some ?? [:] }
    set { some = newValue.isEmpty ? nil : newValue }
  }

  init() {}

  init(_ values: [CodingUserInfoKey: any Sendable]) { self.values = values }
}

@usableFromInline
typealias SharedUserInfo = SharedOption<UserInfo>

extension SharedOption<UserInfo> {
  /// Sets one entry, while no other thread sets another.
  func set(_ value: any Sendable, for key: CodingUserInfoKey) {
    update { userInfo in
      var entries = userInfo?.values ?? [:]
      entries[key] = value
      userInfo = UserInfo(entries)
    }
  }
}
