#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of one call of `encode`: the stages of a pipeline, each of which takes the result of the one
/// before.
///
///     a value ──→ Recorder ──→ Recording ──→ Planner ──→ MessagePlan ──→ Emitter ──→ bytes
///
///     Containers/    Recorder, and the encoders and containers that write to it
///     Recording/     what they leave: a tape, strings, key tables
///     Planning/      has the tape put in order, and chooses what stands in the prelude
///     Emitting/      writes the message from its end to its beginning, so that every length is known
///
/// Sessions are reused by all encoders of the process.
final class EncodingSession: PooledSession {
  // Optional, as `isKnownUniquelyReferenced` wants it in builds without optimization (`ContainerPool`).
  private var recorder: Recorder?
  private let reference: RecorderReference
  // Unchecked because it is used once for each message, and calls nothing that comes back here.
  @exclusivity(unchecked) private var stages = Stages()

  /// The stages that turn a recording into bytes.
  private struct Stages: ~Copyable {
    var planner = Planner()
    var emitter = Emitter()

    mutating func write(_ recording: inout Recording, _ options: PlanningOptions) {
      planner.makePlan(&recording, options)
      emitter.write(&recording, planner.plan)
      if let definitions = options.definitions, definitions.grows {
        definitions.add(recording, planner.plan)
      }
    }
  }

  private static let pool = SessionPool<EncodingSession>()

  private override init() {
    let recorder = Recorder(reusesContainers: true)
    self.recorder = recorder
    reference = RecorderReference(recorder)
  }

  /// Records a value in a session of its own, and passes the session to `body`.
  @inline(__always)
  static func run<Value: Encodable, Result>(
    _ value: Value, maximumDepth: Int, _ userInfo: UserInfo, _ body: (EncodingSession) throws -> Result
  ) throws -> Result {
    let pool = pool
    var session: EncodingSession? = pool.take() ?? EncodingSession()
    defer { pool.takeBack(&session) }
    try session.unsafelyUnwrapped.reference.lend {
      $0.begin(maximumDepth: maximumDepth, userInfo)
      try $0.record(value)
    }
    return try body(session.unsafelyUnwrapped)
  }

  /// Turns what was recorded into bytes.
  func finish(_ options: PlanningOptions) -> Data {
    reference.lend { stages.write(&$0.recording, options) }
    return stages.emitter.finish()
  }

  /// Turns what was recorded into bytes, and lends them to `body`.
  func finish<Result>(
    _ options: PlanningOptions, lendingTo body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    reference.lend {
      stages.write(&$0.recording, options)
      $0.finish()
    }
    defer { stages.emitter.trim() }
    return try body(stages.emitter.written)
  }

  override func takeContainersBack() -> Bool {
    let (areComplete, isReused) = reference.lend {
      ($0.types.takeContainersBack(), $0.types.reusesContainers)
    }
    // Containers that are not reused hold the recorder.
    return areComplete && (isReused || isKnownUniquelyReferenced(&recorder))
  }

  override func reset() { reference.lend { $0.reset() } }

  override func detach() { reference.lend { $0.detach() } }
}
