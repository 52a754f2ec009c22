/// One call of `decode`, and what calls after it use again: the message, where in it decoding is, and what was found
/// out about types.
final class DecodingSession {
  let message = Message()
  // Used for every value. Every access is a few loads and stores that call nothing of the user's.
  @exclusivity(unchecked) var path = DecodingPath()
  @exclusivity(unchecked) var types = KnownDecodingTypes()
  @exclusivity(unchecked) var calls = CallDepth()
  var countedArrays = CountedArrays()
  private(set) var userInfo = UserInfo()
  private var errors = ErrorMaker()
  /// Whether containers are handed out again; no longer when one escaped its message.
  private(set) var reusesContainers: Bool

  init(reusesContainers: Bool) { self.reusesContainers = reusesContainers }

  /// Takes the options of a decoder and opens a message, by `open`.
  func begin(
    _ sharedUserInfo: borrowing SharedUserInfo, _ open: (Message) throws(FormatError) -> Void
  ) throws {
    sharedUserInfo.hand(to: &userInfo)
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
    countedArrays.removeAll()
    errors.reset()
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

  /// Notes a fault that was met in a call of `Codable` that cannot throw.
  @inline(never)
  func note(_ error: FormatError, path: [any CodingKey]) { errors.note(error, path: path, message) }

  /// Throws the fault that was noted first, if there is one.
  func throwNotedFault() throws {
    if let fault = errors.notedFault { throw fault }
  }
}
