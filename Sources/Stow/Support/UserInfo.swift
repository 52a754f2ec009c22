/// What an encoder or a decoder hands to every value.
///
/// There is mostly none, and then handing it on counts no reference.
struct UserInfo: Sendable {
  private var some: [CodingUserInfoKey: any Sendable]?

  var values: [CodingUserInfoKey: any Sendable] {
    get { some ?? [:] }
    set { some = newValue.isEmpty ? nil : newValue }
  }
}
