/// The kinds of the types met so far, and the plans of those that have one.
struct TypePlans<Handler: AnyObject>: ~Copyable {
  struct Entry: BitwiseCopyable {
    let kind: ValueKind
    /// Of a `planned` type.
    private let plan: Unmanaged<Handler>?

    fileprivate init(kind: ValueKind, plan: Unmanaged<Handler>?) {
      self.kind = kind
      self.plan = plan
    }

    /// Calls the plan of a planned type, which made it of class `typed`.
    @inline(__always)
    func withPlan<Typed: AnyObject, Result>(
      as typed: Typed.Type, _ body: (Typed) throws -> Result
    ) rethrows -> Result {
      guard let plan else { preconditionFailure("a planned type without a plan") }
      return try plan._withUnsafeGuaranteedRef { try body(unsafeDowncast($0, to: typed)) }
    }
  }

  private var table = TypeTable<Entry>()
  /// Keeps the plans that the table names.
  private var plans: [Handler] = []
  private let makePlan: (Any.Type) -> Handler?
  private let makeFirstPlan: ((Any.Type) -> Handler?)?

  /// - Parameters:
  ///   - makeFirstPlan: The plan of a type, whatever kind it would be of; nil if it has none.
  ///   - makePlan: The plan of a type that is of no other kind; nil if it has none.
  init(first makeFirstPlan: ((Any.Type) -> Handler?)? = nil, _ makePlan: @escaping (Any.Type) -> Handler?) {
    self.makeFirstPlan = makeFirstPlan
    self.makePlan = makePlan
  }

  @inline(__always)
  mutating func entry(for type: Any.Type) -> Entry {
    table[TypeTable<Entry>.identity(type)] ?? add(type)
  }

  @inline(never)
  private mutating func add(_ type: Any.Type) -> Entry {
    let entry = newEntry(type)
    table.insert(entry, for: TypeTable<Entry>.identity(type))
    return entry
  }

  private mutating func newEntry(_ type: Any.Type) -> Entry {
    if let plan = makeFirstPlan?(type) { return entry(plan) }
    if let kind = ValueKind(type) { return Entry(kind: kind, plan: nil) }
    guard let plan = makePlan(type) else { return Entry(kind: .plain, plan: nil) }
    return entry(plan)
  }

  private mutating func entry(_ plan: Handler) -> Entry {
    plans.append(plan)
    return Entry(kind: .planned, plan: .passUnretained(plan))
  }
}
