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
  private let scalarPlan: (Any.Type) -> Handler?
  private let genericPlan: (Any.Type) -> Handler?

  /// - Parameters:
  ///   - scalarPlan: The plan of a type that may be a scalar; nil if it has none.
  ///   - genericPlan: The plan of a type that may be generic; nil if it has none.
  init(
    ofScalar scalarPlan: @escaping (Any.Type) -> Handler?,
    ofGeneric genericPlan: @escaping (Any.Type) -> Handler?
  ) {
    self.scalarPlan = scalarPlan
    self.genericPlan = genericPlan
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
    var plan = scalarPlan(type)
    if plan == nil, let kind = ValueKind(type) { return Entry(kind: kind, plan: nil) }
    plan = plan ?? genericPlan(type)
    guard let plan else { return Entry(kind: .plain, plan: nil) }
    plans.append(plan)
    return Entry(kind: .planned, plan: .passUnretained(plan))
  }
}
