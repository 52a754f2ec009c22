import Synchronization
import Testing

/// Runs `body` for each case. After the issues of a case stands another that names it.
///
/// The arguments of a test say the same, but each takes a task and a line of output. This is for cases by the dozen.
///
/// - Returns: How many passed.
@discardableResult
func forEachCase<Case>(
  of cases: some Sequence<Case>, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Case) throws -> Void
) -> Int {
  var passed = 0
  for one in cases where check(String(describingForTest: one), sourceLocation, { try body(one) }) { passed += 1 }
  return passed
}

/// The same for each case with each of the others.
func forEachCase<Case, Other>(
  of cases: some Sequence<Case>, _ others: some Collection<Other>,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (Case, Other) throws -> Void
) {
  for one in cases {
    for other in others {
      check("\(String(describingForTest: one)), \(String(describingForTest: other))", sourceLocation) {
        try body(one, other)
      }
    }
  }
}

/// Whether no issue came.
@discardableResult
private func check(
  _ name: @autoclosure () -> String, _ sourceLocation: SourceLocation, _ body: () throws -> Void
) -> Bool {
  let hasFailed = Flag()
  do {
    // No issue is taken for a known one: this only looks at what comes along.
    try withKnownIssue(isIntermittent: true) {
      try body()
    } matching: { _ in
      hasFailed.set()
      return false
    }
  } catch {
    hasFailed.set()
    Issue.record(error, sourceLocation: sourceLocation)
  }
  if hasFailed.isSet { Issue.record("The case was \(name())", sourceLocation: sourceLocation) }
  return !hasFailed.isSet
}

private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}
