import Stow
import Testing

/// An encoder keeps what it learnt of key types from message to message. Nobody must be able to tell from the bytes
/// which keys the messages before had.
@Suite("Keys that recur from message to message")
struct RecurringKeysTests {
  fileprivate enum Key: CodingKey, CaseIterable {
    case alpha, beta, category, description, explanation

    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  private enum OtherKey: CodingKey, CaseIterable {
    case explanation, description, category, beta, alpha
  }

  /// What an `encode(to:)` does, one after the other.
  fileprivate indirect enum Step {
    case value(Key)
    /// The name of another key, which is a symbol only if that is there, too.
    case text(Key)
    case absent(Key)
    case `nil`(Key)
    /// An object of the same keys, as a value, in an array, in a nested container or through a super encoder: as it is,
    /// in an array or an optional, and one that throws.
    case object(Key, [Step])
    case objects(Key, [Step])
    case nested(Key, [Step])
    case list(Key, [Step])
    case `super`(Int, [Step])
    /// A value that throws in the end, which is swallowed.
    case refused(Key, [Step])
    /// Into a container that is asked for again, and one of other keys.
    case again([Step])
    case other([Step])
  }

  private struct Script: Encodable {
    let steps: [Step]
    var throwsAtEnd = false
    /// Whether no container is kept from one step to the next.
    var renews = false

    func encode(to encoder: any Encoder) throws {
      if renews {
        for step in steps {
          if case .super(let kind, let steps) = step {
            try fill(Self.superEncoder(of: encoder), kind, steps)
          } else {
            var container = encoder.container(keyedBy: Key.self)
            try take(step, encoder, &container)
          }
        }
      } else {
        var container = encoder.container(keyedBy: Key.self)
        for step in steps { try take(step, encoder, &container) }
      }
      if throwsAtEnd { throw Refusal() }
    }

    private func take(_ step: Step, _ encoder: any Encoder, _ container: inout KeyedEncodingContainer<Key>) throws {
      switch step {
      case .value(let key): try container.encode(7, forKey: key)
      case .text(let key):
        let other = Key.allCases[(key.index + 1) % 5].stringValue
        try container.encodeIfPresent(other as String?, forKey: key)
      case .absent(let key): try container.encodeIfPresent(nil as Int?, forKey: key)
      case .nil(let key): try container.encodeNil(forKey: key)
      case .object(let key, let steps): try container.encode(Script(steps: steps), forKey: key)
      case .objects(let key, let steps):
        try container.encode([Script(steps: steps), Script(steps: steps.reversed())], forKey: key)
      case .nested(let key, let steps):
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: key)
        for step in steps { try take(step, encoder, &nested) }
      case .list(let key, let steps):
        var list = container.nestedUnkeyedContainer(forKey: key)
        try list.encode(Script(steps: steps))
        try? list.encode(Script(steps: steps, throwsAtEnd: true))
      case .super(let kind, let steps): try fill(container.superEncoder(), kind, steps)
      case .refused(let key, let steps):
        try? container.encode(Script(steps: steps, throwsAtEnd: true), forKey: key)
      case .again(let steps):
        var again = encoder.container(keyedBy: Key.self)
        for step in steps where step.isScalar { try take(step, encoder, &again) }
      case .other(let steps):
        var other = encoder.container(keyedBy: OtherKey.self)
        for number in steps.indices { try other.encode(number, forKey: OtherKey.allCases[number % 5]) }
      }
    }

    /// One whose container is gone.
    private static func superEncoder(of encoder: any Encoder) -> any Encoder {
      var container = encoder.container(keyedBy: Key.self)
      return container.superEncoder()
    }

    private func fill(_ encoder: any Encoder, _ kind: Int, _ steps: [Step]) throws {
      var container = encoder.singleValueContainer()
      let script = Script(steps: steps, renews: kind > 4)
      switch kind % 5 {
      case 0: try script.encode(to: encoder)
      case 1: try container.encode([script, script])
      case 2: try container.encode(Optional(script))
      case 3: try? container.encode([Script(steps: steps, throwsAtEnd: true)])
      default: try? container.encode(Optional(Script(steps: steps, throwsAtEnd: true)))
      }
    }
  }

  /// Tries one value, and if it throws another, as the only value of the message.
  private struct Either: Encodable {
    let first: Script
    let second: Script

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      do { try container.encode(first) } catch { try container.encode(second) }
    }
  }

  private static func steps(_ depth: Int, _ random: inout SeededGenerator) -> [Step] {
    (0..<Int.random(in: 0...5, using: &random)).map { _ in
      let key = Key.allCases[Int.random(in: 0..<5, using: &random)]
      // No key may be continued as a container of another kind.
      let (objectKey, arrayKey) = (Key.allCases[key.index % 2], Key.allCases[2 + key.index % 3])
      switch Int.random(in: 0..<(depth > 0 ? 14 : 6), using: &random) {
      case 0, 1: return .value(key)
      case 2, 3: return .text(key)
      case 4: return .absent(key)
      case 5: return .nil(key)
      case 6: return .object(objectKey, steps(depth - 1, &random))
      case 7: return .objects(arrayKey, steps(depth - 1, &random))
      case 8: return .nested(objectKey, steps(depth - 1, &random).filter(\.isScalar))
      case 9: return .list(arrayKey, steps(depth - 1, &random))
      case 10: return .refused(key, steps(depth - 1, &random))
      case 11: return .super(Int.random(in: 0..<10, using: &random), steps(1, &random).filter(\.isSimple))
      case 12: return .again(steps(0, &random))
      default: return .other(steps(0, &random))
      }
    }
  }

  @Test("recurring keys give the same bytes after any other message")
  func bytes() {
    forEachCase(of: 0..<4 as Range<UInt64>) { (seed: UInt64) in
      var random = SeededGenerator(seed: seed)
      let ordered = [
        Step.value(.alpha), .text(.beta), .value(.category), .absent(.description), .text(.explanation),
      ]
      var scripts = [Script(steps: ordered), Script(steps: ordered.reversed())]
      for _ in 0..<12 {
        scripts.append(Script(steps: Array(ordered.prefix(2)) + Self.steps(2, &random)))
        scripts.append(Script(steps: Self.steps(2, &random)))
        scripts.append(Script(steps: [.value(.beta)] + Self.steps(1, &random), renews: true))
      }
      let other = Writes { encoder in
        var container = encoder.container(keyedBy: OtherKey.self)
        for key in OtherKey.allCases { try container.encode(1, forKey: key) }
      }
      var messages = scripts.map { script in { try StowEncoder().encode(script) } }
      messages += scripts.prefix(6).map { script in { try StowEncoder().encode([script]) } }
      messages.append { try StowEncoder().encode(other) }
      let expected = try messages.map { try $0() }
      for before in messages {
        for (message, bytes) in zip(messages, expected) {
          _ = try before()
          #expect(try message() == bytes)
        }
      }
    }
  }

  @Test("keys are forgotten with the value that threw, and do not affect the next message")
  func thrown() throws {
    let encoder = StowEncoder()
    let refused = Script(steps: [.value(.alpha), .text(.beta)], throwsAtEnd: true)
    for second in [
      [Step.value(.beta), .value(.alpha)], [.value(.explanation)],
      [.text(.beta), .absent(.alpha), .value(.category)],
    ] {
      let alone = try encoder.encode(Script(steps: second))
      for before in [[Step.value(.alpha), .text(.beta), .value(.category)], second, [.value(.category)]] {
        _ = try encoder.encode(Script(steps: before))
        #expect(try encoder.encode(Either(first: refused, second: Script(steps: second))) == alone)
        #expect(throws: Refusal.self) { try encoder.encode(refused) }
        #expect(try encoder.encode(Script(steps: second)) == alone)
      }
    }
  }

  @Test("keys are forgotten with the value that threw, even if its container is kept")
  func keptContainer() throws {
    let encoder = StowEncoder()
    let alone = try encoder.encode(Script(steps: [.value(.beta), .value(.alpha)]))
    for _ in 0..<3 {
      _ = try encoder.encode(Script(steps: [.value(.alpha), .value(.beta), .value(.category)]))
      var kept: [KeyedEncodingContainer<Key>] = []
      let refused = Writes { encoder in
        var container = encoder.container(keyedBy: Key.self)
        for key in [Key.alpha, .beta] { try container.encode(7, forKey: key) }
        kept.append(container)
        throw Refusal()
      }
      let message = try encoder.encode(
        Writes { encoder in
          var single = encoder.singleValueContainer()
          try? single.encode(refused)
          try single.encode(Script(steps: [.value(.beta), .value(.alpha)]))
        })
      #expect(message == alone)
      #expect(kept.count == 1)
    }
  }

  private enum TwinKey: CodingKey {
    case one, two, third

    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
    var stringValue: String { self == .third ? "third" : "same" }
    var intValue: Int? { nil }
  }

  @Test("recurring keys can have the same name")
  func twins() throws {
    let messages = [[TwinKey.one, .third], [.two, .third], [.third, .two], [.two, .one, .third]].map { keys in
      Writes { encoder in
        var container = encoder.container(keyedBy: TwinKey.self)
        for key in keys { try container.encode(1, forKey: key) }
      }
    }
    for before in messages {
      for message in messages {
        _ = try StowEncoder().encode(before)
        let entries = try transcode(message, to: [String: Int].self)
        #expect(entries == ["same": 1, "third": 1])
      }
    }
  }

  @Test("recurring keys are those of the object, in its order")
  func order() throws {
    struct Forwards: Encodable { var alpha = 7, beta = "category", category = 7 }
    struct Backwards: Encodable { var category = 7, beta = "category", alpha = 7 }
    struct Without: Encodable { var alpha = 7, category = 7 }
    let encoder = StowEncoder()
    let steps = [Step.value(.alpha), .text(.beta), .value(.category)]
    for _ in 0..<3 {
      #expect(try encoder.encode(Script(steps: steps)) == encoder.encode(Forwards()))
      #expect(try encoder.encode(Script(steps: steps.reversed())) == encoder.encode(Backwards()))
      #expect(try encoder.encode(Script(steps: steps)) == encoder.encode(Forwards()))
      #expect(try encoder.encode(Script(steps: [steps[0], steps[2]])) == encoder.encode(Without()))
      let absent = Script(steps: [steps[0], .absent(.beta), steps[2]])
      #expect(try encoder.encode(absent) == encoder.encode(Without()))
    }
  }

  @Test("recurring keys are in the paths of errors")
  func path() throws {
    let encoder = StowEncoder()
    for keys in [
      [Key.alpha, .beta, .category], [.alpha, .beta, .category], [.alpha, .category], [.category],
    ] {
      var path: [String] = []
      _ = try encoder.encode(
        Writes { encoder in
          var container = encoder.container(keyedBy: Key.self)
          for key in keys { try container.encode(1, forKey: key) }
          try container.encode(Writes { path = $0.codingPath.map(\.stringValue) }, forKey: .explanation)
        })
      #expect(path == ["explanation"])
    }
  }
}

extension RecurringKeysTests.Step {
  /// Scalars, and values that hold others.
  fileprivate var isSimple: Bool {
    switch self {
    case .object, .refused: true
    default: isScalar
    }
  }

  fileprivate var isScalar: Bool {
    switch self {
    case .value, .text, .absent, .nil: true
    default: false
    }
  }
}
