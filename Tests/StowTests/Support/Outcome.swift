/// What came of reading a value: the value, to the bit, or how it failed.
enum Outcome: Equatable, CustomStringConvertible {
  case value(String)
  case failure(Failure)

  init(_ body: () throws -> some Exact) {
    self.init(text: { try body().exactly })
  }

  init(text body: () throws -> String) {
    do {
      self = .value(try body())
    } catch {
      self = .failure(Failure(error))
    }
  }

  /// Whether this is what JSON says too, which leaves the path of a number that does not fit empty, and calls nil
  /// for a Bool a mismatch.
  func isSame(asInJSON json: Outcome) -> Bool {
    guard case .failure(let own) = self, case .failure(let other) = json else { return self == json }
    if own.kind == .dataCorrupted, other.kind == .dataCorrupted, other.path.isEmpty { return true }
    return own == other
      || own == Failure(kind: .valueNotFound, path: other.path) && other.kind == .typeMismatch
  }

  var description: String {
    switch self {
    case .value(let text): text
    case .failure(let failure): "failure \(failure)"
    }
  }
}
