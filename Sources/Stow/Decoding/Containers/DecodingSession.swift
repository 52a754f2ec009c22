/// One call of `decode`, and what calls after it use again: the message, where in it decoding is, and what was found
/// out about types.
final class DecodingSession {
  let message = Message()
  // Used for every value. Every access is a few loads and stores that call nothing of the user's.
  @exclusivity(unchecked) var path = DecodingPath()
  @exclusivity(unchecked) var types = KnownDecodingTypes()
  @exclusivity(unchecked) var calls = CallDepth()
  /// The arrays of the message that were counted while they were read; nil as long as there are none.
  private var countedArrays: CountedArrays?
  private(set) var userInfo = UserInfo()
  private var errors = ErrorMaker()
  /// The first fault that was met where none can be thrown.
  private var notedFault: (any Error)?
  /// Whether containers are handed out again; no longer when one escaped its message.
  private(set) var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  /// Takes the options of a decoder and opens a message, by `open`.
  func begin(
    _ userInfo: UserInfo, _ open: (Message) throws(FormatError) -> Void
  ) throws {
    // Assigning none calls the runtime twice.
    if !userInfo.isEmpty { self.userInfo = userInfo }
    do throws(FormatError) {
      try open(message)
    } catch {
      throw self.error(error, path: [], expected: nil)
    }
  }

  /// Forgets the message.
  func reset() {
    message.close()
    path.reset()
    types.reset()
    if countedArrays != nil { countedArrays = nil }
    if notedFault != nil { notedFault = nil }
    if !userInfo.isEmpty { userInfo = UserInfo() }
    calls = CallDepth()
  }

  /// Gets ready to be used when the message is over, because a container escaped: it may read on when the bytes are
  /// gone, and whatever containers are made from now on hold the session themselves.
  func detach() {
    calls.isDetached = true
    reusesContainers = false
    message.detach()
  }

  // MARK: paths and errors

  /// Returns the coding path of a container or decoder, which reads what stands at `offset`.
  func codingPath(_ node: PathNode, at offset: Int? = nil) -> [any CodingKey] {
    path.codingPath(to: node, at: offset, message)
  }

  /// Returns the coding path of a value that has no step of its own, one step below `node`.
  func codingPath(_ step: PathStep, of node: PathNode) -> [any CodingKey] {
    path.codingPath(to: step, of: node, message)
  }

  /// Returns what a `FormatError` means for somebody who asked for a value of type `expected`.
  @inline(never)
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> any Error {
    errors.error(error, path: path, expected: expected, message)
  }

  /// Returns the same for somebody who reads the value at `offset`, at a place of the path.
  @inline(never)
  func error(_ error: FormatError, at node: PathNode, _ offset: Int? = nil, expected: Any.Type?) -> any Error
  {
    errors.error(error, path: codingPath(node, at: offset), expected: expected, message)
  }

  /// Notes a fault that was met in a call of `Codable` that cannot throw, as `allKeys`.
  ///
  /// The call of `decode` throws the first of them when it ends, so that nothing that could not be read is lost without
  /// a word.
  @inline(never)
  func note(_ error: FormatError, path: [any CodingKey]) {
    if notedFault == nil { notedFault = self.error(error, path: path, expected: nil) }
  }

  /// Throws the fault that was noted first, if there is one.
  func throwNotedFault() throws {
    if let notedFault { throw notedFault }
  }

  // MARK: counts

  /// Returns the number of elements of an array.
  ///
  /// - Parameters:
  ///   - elements: Those that are left.
  ///   - index: The number of the first of them.
  func count(_ elements: Range<Int>, from index: Int) throws(FormatError) -> Int {
    guard !elements.isEmpty else { return index }
    // Most arrays are asked once, at the beginning.
    guard index > 0 else { return try Arrays.count(elements, message.reader) }
    let arrays = countedArrays ?? CountedArrays()
    countedArrays = arrays
    return try arrays.count(elements, from: index, message.reader)
  }
}
