extension StowFields {
  /// Makes the plan of the type; nil if its keys are not known by their bytes, if the table does not name them, or if
  /// their former names are ambiguous. Then its own `init(from:)` decodes it.
  static func makeFieldsDecodingPlan() -> AnyDecodingPlan? {
    let table = stowFields
    guard let fields = try? FieldProgram(table), FormerNames(of: fields.keyType)?.conflict == nil else { return nil }
    return FieldsDecodingPlan<Self>(DecodingProgram(table, fields))
  }

  /// Returns the program of the type; nil if it is decoded otherwise.
  static func decodingProgram(in session: DecodingSession) -> DecodingProgram? {
    let entry = session.plan(of: Self.self)
    if entry.isPlain { return nil }
    return entry.withPlan(as: AnyDecodingPlan.self) { ($0 as? FieldsDecodingPlan<Self>)?.program }
  }
}

/// Decodes the values of a type with a table of fields, by a program that does not know the type.
final class FieldsDecodingPlan<Value: StowFields>: DecodingPlan<Value> {
  let program: DecodingProgram
  /// Memory for a value that no call uses.
  @exclusivity(unchecked) private var spare: UnsafeMutablePointer<Value>?

  init(_ program: DecodingProgram) { self.program = program }

  deinit { spare?.deallocate() }

  override func decode(at place: OpenPlace, from session: DecodingSession, _ node: PathNode) throws -> Value {
    let memory = spare ?? .allocate(capacity: 1)
    spare = nil
    defer {
      // A value may be decoded while another of its type is.
      spare?.deallocate()
      spare = memory
    }
    try program.decode(at: place, into: memory, session, node)
    return memory.move()
  }

  override func decode(
    into target: UnsafeMutablePointer<Value>, at place: OpenPlace, from session: DecodingSession,
    _ node: PathNode
  ) throws {
    try program.decode(at: place, into: target, session, node)
  }

  override func decode(_ count: Int, from start: Int, session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    try .filled(count: count) { first, done in
      try program.withElements(from: start, session, node) { next in
        while done < count {
          try next(first + done)
          done &+= 1
        }
      }
    }
  }

  override func decode(rows: Elements, from session: DecodingSession, _ node: PathNode) throws -> [Value]? {
    // The first value shows whether fields make up a whole value. An error in it is found again.
    if program.isWhole == nil, rows.count > 0 {
      _ = try? decode(at: OpenPlace(.element(0), of: rows), from: session, node)
    }
    let result = [Value].filled(count: rows.count) { first, done in
      if program.decode(rows: rows, into: first, session, node) { done = rows.count }
    }
    return result.isEmpty ? nil : result
  }
}
