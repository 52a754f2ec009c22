/// References to objects that somebody else keeps for as long as the list is used, without counting them.
///
/// Small messages list their types, and would spend much of their time on counting references.
struct BorrowedList<Object: AnyObject>: ~Copyable {
  private var references = GrowableBuffer<Unmanaged<Object>>(capacity: 4)

  init() {}

  @inline(__always)
  var count: Int { references.count }

  @inline(__always)
  mutating func append(_ object: Object) { references.append(.passUnretained(object)) }

  @inline(__always)
  mutating func removeAll() { references.truncate(to: 0) }

  /// Lends one of the objects.
  @inline(__always)
  func borrow<Result>(_ index: Int, _ body: (Object) throws -> Result) rethrows -> Result {
    try references[index]._withUnsafeGuaranteedRef { try body($0) }
  }

  @inline(__always)
  func borrowEach(_ body: (Object) -> Void) {
    for index in 0..<references.count { references.base[index]._withUnsafeGuaranteedRef { body($0) } }
  }

  @inline(__always)
  func allSatisfy(_ predicate: (Object) -> Bool) -> Bool {
    for index in 0..<references.count {
      guard references.base[index]._withUnsafeGuaranteedRef({ predicate($0) }) else { return false }
    }
    return true
  }
}
