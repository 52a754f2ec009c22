#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of one call of `encode`: the stages of a pipeline, each of which takes what the one before made.
///
///     a value        ┌──────────┐ tape, strings,  ┌─────────┐ shapes,   ┌─────────┐
///     encodes ──────→│ Recorder │────────────────→│ Planner │──────────→│ Emitter │──→ bytes
///     itself         └──────────┘ keys (Recording)└─────────┘ symbols   └─────────┘
///                     Containers/   Recording/      Planning/  (Plan)     Emitting/, from the end
///
/// Sessions are used again, by all encoders of the process.
final class EncodingSession: PooledSession {
  private var recorder: Recorder
  private var planner = Planner()
  private var emitter = Emitter()
  /// Whether maps are sorted by their keys.
  private var sortsKeys = false

  /// Sessions that are free.
  private static let pool = SessionPool<EncodingSession>()

  /// Whether encoding containers can be used again.
  private static let reusesContainers = ContainerReuse.isPossible {
    Recorder(reusesContainers: false).nestedKeyedContainer(PathKey.self, key: TokenKey(), parent: -1)
  }

  private init() { recorder = Recorder(reusesContainers: Self.reusesContainers) }

  /// Runs one message in a session of its own.
  @inline(__always)
  static func run<Result>(
    sortsKeys: Bool, maximumDepth: Int, _ userInfo: borrowing SharedUserInfo,
    _ body: (EncodingSession) throws -> Result
  ) rethrows -> Result {
    let pool = pool
    let session = pool.take() ?? .passRetained(EncodingSession())
    defer { pool.takeBack(session) }
    return try session._withUnsafeGuaranteedRef {
      $0.sortsKeys = sortsKeys
      $0.recorder.begin(maximumDepth: maximumDepth, userInfo)
      return try body($0)
    }
  }

  /// Records the whole message.
  @inline(__always)
  func record<Value: Encodable>(_ value: Value) throws { try recorder.record(value) }

  /// Turns what was recorded into bytes.
  func finish() -> Data {
    planner.makePlan(&recorder.recording, sortsKeys: sortsKeys)
    return emitter.emit(recorder.recording, planner.plan)
  }

  /// The same, and lends the bytes to `body`.
  func withMessage<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    planner.makePlan(&recorder.recording, sortsKeys: sortsKeys)
    emitter.write(recorder.recording, planner.plan)
    defer { emitter.trim() }
    return try body(emitter.written)
  }

  // MARK: being used again

  @inline(__always)
  func takeContainersBack() -> Bool {
    recorder.types.takeContainersBack() && isKnownUniquelyReferenced(&recorder)
  }

  @inline(__always)
  func reset() { recorder.reset() }

  func outlive() { recorder.detach() }
}
