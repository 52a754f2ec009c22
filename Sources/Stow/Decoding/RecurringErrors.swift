/// The errors of values that are not of the type asked for.
///
/// Reading a value as one type after another until one fits throws an error for each, which `try?` drops at once. So
/// errors are kept, by the type that was asked for and what was found: as many as there are types that fail to
/// decode, times the findings that there are. One that nobody else holds is thrown again, with another path and another
/// offset.
struct RecurringErrors: ~Copyable {
  private struct Entry: BitwiseCopyable {
    let type: UnsafeRawPointer
    /// The next of the same finding, in a ring.
    var next: Int
    var box: ErrorBox?
    /// Whether the error has the path that is lent.
    var hasPath = false
  }

  private var entries = GrowableBuffer<Entry>(capacity: 16)
  /// The description of each up to the offset. The name of a type takes longer to find out than all else about an
  /// error.
  private var beginnings: [String] = []
  /// The entry of each finding that was used last: types are tried in turns.
  private var last = GrowableBuffer<Int>(capacity: Finding.count)
  /// The path that is lent to errors, and the entries that have it.
  private var path: [any CodingKey] = []
  private var borrowers = GrowableBuffer<Int>(capacity: 16)

  /// The last offset: errors at one place come in turns.
  private var digits = DecimalDigits(0)

  private static let none = -1

  init() {
    for _ in 0..<Finding.count { last.append(Self.none) }
  }

  deinit {
    for entry in entries.buffer {
      if entry.hasPath { entry.box?.keepPath() }
      entry.box?.release()
    }
  }

  /// An error with the path that is lent.
  @inline(__always)
  mutating func error(_ type: Any.Type, found finding: Finding, at offset: Int) -> any Error {
    let index = index(type, finding)
    if digits.number != offset { digits = DecimalDigits(offset) }
    guard entries.base[index].box?.setOffset(digits) == true, let box = entries.base[index].box else {
      return makeError(type, finding, offset, index)
    }
    noteBorrower(index)
    return box.error(ErrorBox.path(path))
  }

  @inline(__always)
  private mutating func index(_ type: Any.Type, _ finding: Finding) -> Int {
    let identity = TypeTable<Int>.identity(type)
    let last = last.base[Int(finding.rawValue)]
    var index = last
    while index != Self.none {
      index = entries.base[index].next
      if entries.base[index].type == identity {
        self.last.base[Int(finding.rawValue)] = index
        return index
      }
      if index == last { break }
    }
    return add(type, finding)
  }

  @inline(never)
  private mutating func add(_ type: Any.Type, _ finding: Finding) -> Int {
    let index = entries.count
    let last = last[Int(finding.rawValue)]
    var next = index
    if last != Self.none {
      next = entries[last].next
      entries[last].next = index
    }
    entries.append(Entry(type: TypeTable<Int>.identity(type), next: next))
    beginnings.append("Expected a value of type \(type), but found \(finding.name) at offset ")
    self.last[Int(finding.rawValue)] = index
    return index
  }

  @inline(never)
  private mutating func makeError(
    _ type: Any.Type, _ finding: Finding, _ offset: Int, _ index: Int
  ) -> any Error {
    let description = beginnings[index] + String(offset)
    let error = Self.error(
      type, finding, DecodingError.Context(codingPath: path, debugDescription: description))
    guard ErrorBox.isKnown else { return error }
    let box = ErrorBox(error, digitsFrom: beginnings[index].utf8.count)
    drop(index)
    entries[index].box = box
    noteBorrower(index)
    return box.error
  }

  private static func error(
    _ type: Any.Type, _ finding: Finding, _ context: DecodingError.Context
  ) -> DecodingError {
    switch finding {
    case .null: .valueNotFound(type, context)
    case .misfit: .dataCorrupted(context)
    default: .typeMismatch(type, context)
    }
  }

  // MARK: paths

  /// Whether a path is the one that is lent.
  @inline(__always)
  func lends(_ path: ErrorBox.Path) -> Bool { path == ErrorBox.path(self.path) }

  /// Lends a path to the errors to come.
  @inline(never)
  mutating func lend(_ path: consuming [any CodingKey]) {
    takePath()
    self.path = path
  }

  @inline(__always)
  private mutating func noteBorrower(_ index: Int) {
    if entries.base[index].hasPath { return }
    entries.base[index].hasPath = true
    borrowers.append(index)
  }

  /// Takes the path from the errors, so that it can be changed where it is. One that somebody keeps holds it then.
  mutating func takePath() {
    for index in borrowers.buffer {
      if entries.base[index].box?.takePath() == false { drop(index) }
      entries.base[index].hasPath = false
    }
    borrowers.truncate(to: 0)
    if !path.isEmpty { path = [] }
  }

  /// Lets go of an error that somebody else may keep.
  @inline(never)
  private mutating func drop(_ index: Int) {
    if entries[index].hasPath { entries[index].box?.keepPath() }
    entries[index].box?.release()
    entries[index].box = nil
  }
}
