#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state of one call of `encode`: the stages of a pipeline. Each takes the result of the one before.
///
///     a value ──→ TapeBuilder ──→ RecordedMessage ──→ Planner ──→ MessagePlan ──→ Emitter ──→ bytes
///
/// Sessions are reused by all encoders of the process.
final class EncodingSession: PooledSession {
  // Optional, as `isKnownUniquelyReferenced` wants it in builds without optimization (`ContainerPool`).
  private var builder: TapeBuilder?
  private let reference: BuilderReference
  // Unchecked because they are used once for each message, and call nothing that comes back here.
  @exclusivity(unchecked) private var planner = Planner()
  @exclusivity(unchecked) private var emitter = Emitter()

  /// - Parameter makePlan: Makes the plan of a type; nil if its own `encode(to:)` encodes values.
  init(_ makePlan: @escaping (Any.Type) -> AnyEncodingPlan?) {
    let builder = TapeBuilder(reusesContainers: true, makePlan)
    self.builder = builder
    reference = BuilderReference(builder)
  }

  /// Writes a value in a session of a pool that is free, and passes the session to `finish`.
  @inline(__always)
  static func run<Value: Encodable, Result>(
    in pool: SessionPool<EncodingSession>, _ value: Value, maximumDepth: Int, _ userInfo: UserInfo,
    _ options: PlanningOptions, _ finish: (EncodingSession) throws -> Result
  ) throws -> Result {
    var taken: EncodingSession? = pool.take()
    defer { pool.takeBack(&taken) }
    // `taken` holds the session, so that no more references need to be counted.
    return try Unmanaged.passUnretained(taken.unsafelyUnwrapped)._withUnsafeGuaranteedRef { session in
      try session.reference.lend { builder in
        let entry = builder.plan(of: Value.self)
        // A flat object takes no tape.
        if options.definitions == nil, maximumDepth > 0, !entry.isPlain,
          entry.withPlan(as: EncodingPlan<Value>.self, { $0.write(value, by: &session.emitter) })
        {
          return
        }
        try builder.record(value, by: entry, maximumDepth: maximumDepth, userInfo)
        session.write(&builder.recorded, options)
      }
      return try finish(session)
    }
  }

  private func write(_ message: inout RecordedMessage, _ options: PlanningOptions) {
    planner.makePlan(&message, options)
    emitter.write(&message, &planner.plan)
    if let definitions = options.definitions, definitions.grows { definitions.add(message, planner.plan) }
  }

  func finish() -> Data { emitter.finish() }

  /// Lends the bytes to `body`.
  func finish<Result>(lendingTo body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    reference.lend { $0.finish() }
    defer { emitter.writer.trim() }
    return try body(emitter.writer.written)
  }

  override func takeContainersBack() -> Bool {
    guard reference.lend({ $0.pools.takeContainersBack() }) else { return false }
    // Containers that are not reused hold the builder.
    return reference.lend { $0.pools.reusesContainers } || isKnownUniquelyReferenced(&builder)
  }

  override func reset() { reference.lend { $0.reset() } }

  override func detach() { reference.lend { $0.detach() } }
}
