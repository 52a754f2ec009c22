#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of one call of `encode`: the stages of a pipeline, each takes what the one before made.
///
///     a value ──→ Recorder ──→ Recording ──→ Planner ──→ MessagePlan ──→ Emitter ──→ bytes
///
///     Containers/    Recorder, and the encoders and containers that write to it
///     Recording/     what they leave: a tape, strings, key tables
///     Planning/      has the tape put in order, and chooses what stands in the prelude
///     Emitting/      writes the message from its end to its beginning, so that every length is known
///
/// Sessions are used again, by all encoders of the process.
final class EncodingSession: PooledSession {
  // Optional, because it must be known to be the only reference (`ContainerPool`).
  private var recorder: Recorder?
  /// The same, for messages.
  private let reference: RecorderReference
  // Both are used once for each message, and call nothing that comes back here.
  @exclusivity(unchecked) private var stages = Stages()
  private var options = PlanningOptions()
  /// What the message relies on, which the encoder may let go of meanwhile.
  private var context: StowContext?

  /// What turns a recording into bytes.
  private struct Stages: ~Copyable {
    var planner = Planner()
    var emitter = Emitter()

    mutating func write(_ recording: inout Recording, _ options: PlanningOptions) {
      planner.makePlan(&recording, options)
      emitter.write(&recording, planner.plan)
      options.definitions?._withUnsafeGuaranteedRef {
        if $0.grows { $0.add(recording, planner.plan) }
      }
    }
  }

  /// Sessions that are free.
  private static let pool = SessionPool<EncodingSession>()

  /// Whether encoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    Recorder(reusesContainers: false).nestedKeyedContainer(PathKey.self, key: TokenKey(), parent: -1)
  }

  private init() {
    let recorder = Recorder(reusesContainers: Self.reusesContainers)
    self.recorder = recorder
    reference = RecorderReference(recorder)
  }

  /// Runs one message in a session of its own.
  @inline(__always)
  static func run<Result>(
    _ options: PlanningOptions, maximumDepth: Int, _ userInfo: UserInfo,
    _ body: (EncodingSession) throws -> Result
  ) rethrows -> Result {
    let pool = pool
    var session: EncodingSession? = pool.take() ?? EncodingSession()
    defer { pool.takeBack(&session) }
    return try session.unsafelyUnwrapped.run(options, maximumDepth: maximumDepth, userInfo, body)
  }

  @inline(__always)
  private func run<Result>(
    _ options: PlanningOptions, maximumDepth: Int, _ userInfo: UserInfo,
    _ body: (EncodingSession) throws -> Result
  ) rethrows -> Result {
    self.options = options
    reference.lend { $0.begin(maximumDepth: maximumDepth, userInfo) }
    return try body(self)
  }

  /// Lets the message rely on a context, whose id it names or not.
  func rely(on context: StowContext, isNamed: Bool) {
    self.context = context
    options.definitions = .passUnretained(context.encoding)
    options.context = isNamed ? context.id : nil
  }

  /// Records the whole message.
  @inline(__always)
  func record<Value: Encodable>(_ value: Value) throws {
    try reference.lend { try $0.record(value) }
  }

  /// Turns what was recorded into bytes.
  func finish() -> Data {
    reference.lend { stages.write(&$0.recording, options) }
    return stages.emitter.finish()
  }

  /// The same, and lends the bytes to `body`.
  func withMessage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    reference.lend { stages.write(&$0.recording, options) }
    defer { stages.emitter.trim() }
    return try body(stages.emitter.written)
  }

  @inline(__always)
  func takeContainersBack() -> Bool {
    let (areComplete, isReused) = reference.lend {
      ($0.types.takeContainersBack(), $0.types.reusesContainers)
    }
    // Containers that are not used again hold the recorder.
    return areComplete && (isReused || isKnownUniquelyReferenced(&recorder))
  }

  @inline(__always)
  func reset() {
    reference.lend { $0.reset() }
    if context != nil { context = nil }
  }

  func detach() { reference.lend { $0.detach() } }
}
