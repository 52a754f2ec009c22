/// Compares what a call did with what it should have done.
struct Outcomes {
  /// Whether paths are compared: a container that outlived its value knows its path only roughly.
  var comparesPaths = true

  /// Checks a call that reads a value.
  func check<Value: Equatable>(_ expected: Expected<Value>, at path: [Step], _ body: () throws -> Value) throws {
    guard let value = try accept(expected, at: path, body) else { return }
    guard case .value(let wanted) = expected, value == wanted else {
      throw Finding("\(Value.self) is \(value), not \(expected), at \(path)")
    }
  }

  /// Checks a call that hands something out, and returns it; nil if it failed as it should.
  func accept<Wanted, Result>(
    _ expected: Expected<Wanted>, at path: [Step], _ body: () throws -> Result
  ) throws -> Result? {
    do {
      let result = try body()
      if case .failure = expected { throw Finding("\(result) instead of \(expected), at \(path)") }
      return result
    } catch let error as DecodingError {
      guard case .failure(let failure, let rest) = expected else {
        throw Finding("\(error) instead of \(expected), at \(path)")
      }
      try compare(error, failure, path + rest)
      return nil
    }
  }

  private func compare(_ error: DecodingError, _ expected: Failure, _ path: [Step]) throws {
    let (kind, context): (Failure, DecodingError.Context)
    switch error {
    case .typeMismatch(_, let found): (kind, context) = (.typeMismatch, found)
    case .valueNotFound(_, let found): (kind, context) = (.valueNotFound, found)
    case .keyNotFound(_, let found): (kind, context) = (.keyNotFound, found)
    case .dataCorrupted(let found): (kind, context) = (.dataCorrupted, found)
    @unknown default: throw Finding("an unknown error: \(error)")
    }
    guard kind == expected, !comparesPaths || context.codingPath.map({ Step($0) }) == path else {
      throw Finding("\(error) instead of \(expected) at \(path)")
    }
  }

  func check(_ path: [any CodingKey], is expected: [Step]) throws {
    if comparesPaths { try expect(path, is: expected) }
  }
}
