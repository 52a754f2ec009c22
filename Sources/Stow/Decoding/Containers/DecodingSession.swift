/// The state of one call of `decode`, which later calls reuse.
///
///     run ─▶ open the message ─▶ decode(type) ─▶ init(from:) … ─▶ throw what was noted ─▶ back into the pool
final class DecodingSession: PooledSession {
  let message = Message()
  /// What is used for every value.
  struct State: ~Copyable {
    var path = DecodingPath()
    var plans: DecodingPlans
    var pools = DecoderPools(reusesContainers: true)
    var calls = CallDepth()
  }
  // Unchecked because each access is a few loads and stores, and runs no user code.
  @exclusivity(unchecked) var state: State
  private(set) var userInfo = UserInfo()
  private var errors = ErrorMaker()
  /// Finds the keys that paths name.
  private(set) lazy var nameReader = ObjectReader(self, DecodingKeyTable(PathKey.self))
  /// The first fault that was met where nothing can be thrown, which the call of `decode` throws when it ends.
  private var notedFault: (any Error)?
  /// Is told what types ask for, in a session of its own.
  var observer: (any DecodingObserver)?

  /// - Parameter makePlan: Makes the plan of a type; nil if its own `init(from:)` decodes values.
  init(_ makePlan: @escaping (Any.Type) -> AnyDecodingPlan?) { state = State(plans: DecodingPlans(makePlan)) }

  // MARK: one call

  /// Runs `body` with a message that `open` opens, in a free session of a pool, or in a given one.
  @inline(__always)
  static func run<Value>(
    in pool: SessionPool<DecodingSession>, _ userInfo: UserInfo, session: DecodingSession? = nil,
    open: (Message) throws(FormatError) -> Void, _ body: (DecodingSession) throws -> Value
  ) throws -> Value {
    var taken: DecodingSession? = session ?? pool.take()
    defer { if let session { session.detach() } else { pool.takeBack(&taken) } }
    // `taken` holds the session, so that no more references need to be counted.
    return try Unmanaged.passUnretained(taken.unsafelyUnwrapped)._withUnsafeGuaranteedRef { session in
      // Assigning an empty dictionary would take two calls of the runtime.
      if !userInfo.isEmpty { session.userInfo = userInfo }
      session.calls = CallDepth()
      do throws(FormatError) { try open(session.message) } catch {
        throw session.error(error, path: [], expected: nil)
      }
      let value = try body(session)
      if let notedFault = session.notedFault { throw notedFault }
      return value
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decode(type, plan(of: type), at: OpenPlace(at: message.body), .top)
  }

  @inline(__always)
  func plan(of type: Any.Type) -> DecodingPlans.Entry { state.plans[type] ?? addPlan(of: type) }

  @inline(never)
  private func addPlan(of type: Any.Type) -> DecodingPlans.Entry {
    let makePlan = state.plans.makePlan
    return state.plans.add(type, makePlan(type))
  }

  // MARK: paths and errors

  var path: DecodingPath {
    @inline(__always) _read { yield state.path }
    @inline(__always) _modify { yield &state.path }
  }

  var calls: CallDepth {
    @inline(__always) _read { yield state.calls }
    @inline(__always) _modify { yield &state.calls }
  }

  func codingPath(_ node: PathNode, at offset: Int? = nil) -> [any CodingKey] {
    path.codingPath(to: node, at: offset, message)
  }

  @inline(never)
  func error(_ error: FormatError, path: [any CodingKey], expected: Any.Type?) -> any Error {
    errors.error(error, path: path, expected: expected, message)
  }

  @inline(never)
  func error(_ error: FormatError, at node: PathNode, _ offset: Int? = nil, expected: Any.Type?) -> any Error {
    self.error(error, path: codingPath(node, at: offset), expected: expected)
  }

  /// Returns the result of `body`, and turns an error of the format into that of a request for `expected`.
  @inline(__always)
  func attempt<Result>(
    at node: PathNode, expected: @autoclosure () -> Any.Type?, _ body: () throws(FormatError) -> Result
  ) throws -> Result {
    do throws(FormatError) { return try body() } catch {
      throw self.error(error, at: node, expected: expected())
    }
  }

  /// Notes a fault that was met in a call of `Codable` that cannot throw, such as `allKeys`.
  @inline(never)
  func note(_ error: any Error) { if notedFault == nil { notedFault = error } }

  /// Pops the steps of containers that were taken from kept ones after the message, once they are many.
  func leaveKeptPlaces() {
    if calls.isDetached, calls.count == 0, path.count > DecodingPath.mostTaken { path.pop(to: 1) }
  }

  // MARK: used again

  override func takeContainersBack() -> Bool { state.pools.takeContainersBack { $0.finish() } }

  override func reset() {
    message.close()
    path.reset()
    state.pools.removeUses()
    if notedFault != nil { notedFault = nil }
    if !userInfo.isEmpty { userInfo = UserInfo() }
  }

  /// Prepares for a container that escaped: it may read when the bytes are gone, and new ones hold the session.
  override func detach() {
    calls.isDetached = true
    observer = nil
    // Steps refer to the tables of keys that are released here.
    path.pop(to: 1)
    state.pools.keepHeld()
    state.plans = DecodingPlans(state.plans.makePlan)
    message.detach()
  }
}

/// How deeply calls of `init(from:)` are nested, which the options and the stack limit.
struct CallDepth {
  private(set) var count = 0
  private var stack = StackGuard()
  /// Whether a container escaped its message, and may be read on any thread.
  var isDetached = false

  /// Counts a call, or returns why it would be one too many.
  @inline(__always)
  mutating func enter(maximumDepth: Int) -> String? {
    let address = StackBounds.address
    if count > 2 &* maximumDepth || stack.isDue(at: address), let reason = refusal(maximumDepth, at: address) {
      return reason
    }
    count &+= 1
    return nil
  }

  @inline(never)
  private mutating func refusal(_ maximumDepth: Int, at address: UInt) -> String? {
    guard count <= 2 &* maximumDepth else {
      return "Decoding calls itself more than \(2 * maximumDepth) levels deep (see maximumDepth)."
    }
    guard stack.isLow(at: address, isElsewhere: isDetached) else { return nil }
    return "Decoding calls itself \(count) levels deep, and no more fit on the stack of this thread."
  }

  mutating func leave() { count &-= 1 }
}

/// Is told what a type asks for.
package protocol DecodingObserver: AnyObject {
  /// A value is decoded as a type, or an object has a type of keys.
  func note(_ type: Any.Type, at path: [any CodingKey])
  /// An object that was asked for a key lacks it.
  func noteMissing(_ path: [any CodingKey])
}
