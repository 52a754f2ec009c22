/// What the tests send.
struct Event: Codable, Equatable, Sendable {
  var number: Int
  var kind: String
  var detail: String?
}
