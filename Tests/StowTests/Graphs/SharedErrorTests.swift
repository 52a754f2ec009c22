import Foundation
import Stow
import Synchronization
import Testing

@Suite("Objects that cannot be shared")
struct SharedErrorTests {
  private struct People: Codable {
    @Shared var people: [Member]
  }

  /// How a graph that holds `value` fails.
  private func failureOfGraph(_ value: JSONValue, _ coder: any Coder) -> Failure? {
    failure { try coder.decode(SharedGraph<People>.self, from: coder.encode(value)) }
  }

  @Test("shared objects outside of graphs are refused")
  func outside() throws {
    for coder in coders(TypeRegistry()) {
      #expect(failure { try coder.encode(People(people: [Member("Ada")])) } == .invalidValue("people", 0))
      let data = try coder.encode(["people": [["shared": 0]]])
      #expect(failure { try coder.decode(People.self, from: data) } == .dataCorrupted("people", 0))
    }
  }

  /// Has a task that it starts decode something else, while it is being decoded itself.
  private struct Starter: Codable {
    @Shared var first: Member
    var outcome = "did not end"

    enum CodingKeys: CodingKey { case first }

    init(_ first: Member) { _first = Shared(wrappedValue: first) }

    init(from decoder: any Decoder) throws {
      _first = try decoder.container(keyedBy: CodingKeys.self).decode(Shared<Member>.self, forKey: .first)
      outcome = Self.outcomeOfTask(decoding: try StowEncoder().encode(["people": [["shared": 0]]]))
    }

    private static func outcomeOfTask(decoding bytes: Data) -> String {
      final class Outcome: Sendable { let text = Mutex("did not end") }
      let (outcome, ended) = (Outcome(), DispatchSemaphore(value: 0))
      // Before the other tests that wait for a thread.
      Task(priority: .high) {
        let people = try? StowDecoder().decode(People.self, from: bytes)
        outcome.text.withLock { $0 = people == nil ? "is refused" : "is read" }
        ended.signal()
      }
      ended.wait()
      return outcome.text.withLock { $0 }
    }
  }

  @Test("a task cannot decode shared objects of a graph that another thread is decoding")
  func otherThreads() async throws {
    let message = try StowEncoder().encode(SharedGraph(Starter(Member("Ada"))))
    // A thread of its own, because it waits for the task.
    let copy = try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Result { try StowDecoder().decode(SharedGraph<Starter>.self, from: message).root.outcome })
      }.start()
    }
    #expect(copy == "is refused")
  }

  /// Does something else after it was encoded.
  private struct Watched: Encodable {
    @Shared var first: Member
    let isEncoded: () -> Void

    func encode(to encoder: any Encoder) throws {
      try _first.encode(to: encoder)
      isEncoded()
    }
  }

  @Test("a task cannot encode shared objects to a graph that is complete")
  @MainActor
  func earlierGraphs() async throws {
    var tasks: [Task<Bool, Never>] = []
    let value = Watched(first: Member("Ada")) {
      tasks.append(Task { (try? StowEncoder().encode(People(people: [Member("Bob")]))) == nil })
    }
    for _ in 0..<3 { _ = try StowEncoder().encode(SharedGraph(value)) }
    _ = try StowContext(learningFrom: [value])
    #expect(tasks.count == 5)
    for task in tasks { #expect(await task.value) }
  }

  /// Starts a task that decodes a reference, while it is being decoded itself.
  private struct Reader: Decodable {
    final class Tasks: Sendable { let all = Mutex<[Task<Bool, Never>]>([]) }
    static let tasks = CodingUserInfoKey(rawValue: "tasks")!

    init(from decoder: any Decoder) throws {
      let reference = try StowEncoder().encode(["shared": 0])
      let tasks = try #require(decoder.userInfo[Self.tasks] as? Tasks)
      let task = Task { @MainActor in
        (try? StowDecoder().decode(ConditionallyShared<Member>.self, from: reference)) == nil
      }
      tasks.all.withLock { $0.append(task) }
    }
  }

  @Test("a task cannot decode shared objects of a graph that has been read")
  @MainActor
  func earlierReading() async throws {
    let (decoder, tasks) = (StowDecoder(), Reader.Tasks())
    decoder.userInfo[Reader.tasks] = tasks
    let message = try StowEncoder().encode(["root": 1])
    for _ in 0..<3 { _ = try decoder.decode(SharedGraph<Reader>.self, from: message) }
    for task in tasks.all.withLock({ $0 }) { #expect(await task.value) }
  }

  @Test("values that are not objects of classes cannot be shared")
  func values() {
    for coder in coders(TypeRegistry()) {
      #expect(failure { try coder.copy(Shared(wrappedValue: 1)) } == .invalidValue("root"))
      #expect(failure { try coder.copy(ConditionallyShared(wrappedValue: Date())) } == .invalidValue("root"))
    }
  }

  @Test("objects that lead to themselves are refused")
  func cycles() {
    let (ada, bob) = (Member("Ada"), Member("Bob"))
    (ada.chief, bob.chief) = (bob, ada)
    let eve = Member("Eve")
    eve.chief = eve
    let (parent, child) = (Member("Parent"), Member("Child"))
    (parent.chief, child.deputy) = (child, parent)
    defer { (ada.chief, eve.chief, parent.chief) = (nil, nil, nil) }
    for coder in coders(TypeRegistry()) {
      for person in [ada, eve, parent] {
        let found = failure { try coder.encode(SharedGraph(People(people: [Member("Zoe"), person]))) }
        #expect(found?.kind == .invalidValue && found?.path == ["objects", .key("1", 1)], "\(person.name)")
      }
    }
  }

  @Test("chains of more than 128 objects are refused")
  func chains() throws {
    func chain(_ count: Int) -> Member { (1..<count).reduce(Member("0")) { Member("\($1)", chief: $0) } }
    for coder in coders(TypeRegistry()) {
      #expect(try coder.copy(People(people: [chain(128)])).people[0].name == "127")
      #expect(failure { try coder.copy(People(people: [chain(129)])) }?.kind == .invalidValue)
      // However long, it is no matter of the stack.
      let long = chain(50_000)
      #expect(failure { try coder.copy(People(people: [long])) }?.kind == .invalidValue)
      dissolve(long)
    }
  }

  /// Lets go of a chain, one object after the other.
  private func dissolve(_ person: Member) {
    var next: Member? = person
    while let current = next {
      next = current.chief
      current.chief = nil
    }
  }

  @Test("made-up numbers that lead nowhere, to themselves or to two objects are refused")
  func madeUp() {
    for coder in coders(TypeRegistry()) {
      let root: JSONValue = ["people": [["shared": 0]]]
      #expect(failureOfGraph(["root": root], coder) == .dataCorrupted("root", "people", 0))
      let cycle: JSONValue = ["name": "Ada", "chief": ["shared": 0]]
      #expect(
        failureOfGraph(["root": root, "objects": ["0": cycle]], coder)
          == .dataCorrupted("objects", .key("0", 0), "chief"))
      #expect(
        failureOfGraph(["root": root, "objects": ["0": ["name": "Ada"]], "named": ["0": ["person": [:]]]], coder)
          == .dataCorrupted("root", "people", 0))
      #expect(
        failureOfGraph(["root": root, "named": ["0": ["person": [:]]]], coder)
          == .dataCorrupted("named", .key("0", 0), "person"))
      #expect(failureOfGraph(["root": root, "objects": [1]], coder) == .typeMismatch("objects"))
      #expect(
        failureOfGraph(["root": root, "objects": ["0": ["name": 1]]], coder)
          == .typeMismatch("objects", .key("0", 0), "name"))
      // What is not asked for is not looked at.
      let extra: JSONValue = ["root": ["people": []], "objects": ["0": cycle]]
      #expect(throws: Never.self) { try coder.decode(SharedGraph<People>.self, from: coder.encode(extra)) }
    }
  }

  @Test("a made-up chain of 20,000 objects is refused without overflowing the stack")
  func longChain() throws {
    var objects: [String: JSONValue] = [:]
    for number in 0..<20_000 { objects["\(number)"] = ["name": "n", "chief": ["shared": .int(Int64(number + 1))]] }
    let value = ["root": ["people": [["shared": 0]]] as JSONValue, "objects": .object(objects)]
    for coder in coders(TypeRegistry()) {
      let data = try coder.encode(value)
      let found = failure { try coder.decode(SharedGraph<People>.self, from: data) }
      #expect(found?.kind == .dataCorrupted)
    }
  }

  @Test("an object that is read as two classes is refused")
  func twoClasses() throws {
    struct Both: Codable {
      @Shared var person: Member
      @Shared var pet: Pet
    }
    let value: JSONValue = [
      "root": ["person": ["shared": 0], "pet": ["shared": 0]], "objects": ["0": ["name": "Ada"]],
    ]
    for coder in coders(TypeRegistry()) {
      let data = try coder.encode(value)
      #expect(failure { try coder.decode(SharedGraph<Both>.self, from: data) } == .typeMismatch("root", "pet"))
    }
  }

  @Test("an object that fails to decode is tried once, however many references lead to it")
  func failures() throws {
    final class Counted: Codable {
      nonisolated(unsafe) static var attempts = 0
      init(from decoder: any Decoder) throws {
        Self.attempts += 1
        throw Refusal()
      }
    }
    struct Counting: Codable {
      init(from decoder: any Decoder) throws { _ = try? Shared<Counted>(from: decoder) }
    }
    let value = [
      "root": JSONValue.array(Array(repeating: ["shared": 0], count: 500)), "objects": ["0": [:]],
    ]
    for coder in coders(TypeRegistry()) {
      Counted.attempts = 0
      _ = try coder.decode(SharedGraph<[Counting]>.self, from: coder.encode(value))
      #expect(Counted.attempts == 1)
    }
  }

  @Test("objects beyond the limit of one chain are decoded if a shorter chain leads to them")
  func failuresOfLongChains() throws {
    struct Tolerant: Decodable {
      let member: Member?
      init(from decoder: any Decoder) throws { member = try? Shared<Member>(from: decoder).wrappedValue }
    }
    var objects: [String: JSONValue] = ["128": ["name": "128"]]
    for number in 0..<128 {
      objects["\(number)"] = ["name": .string("\(number)"), "chief": ["shared": .int(Int64(number + 1))]]
    }
    let graph: JSONValue = ["root": [["shared": 0], ["shared": 1]], "objects": .object(objects)]
    for coder in coders(TypeRegistry()) {
      let members = try coder.decode(SharedGraph<[Tolerant]>.self, from: coder.encode(graph)).root.map(\.member)
      #expect(members.map { $0?.name } == [nil, "1"])
      for case let member? in members { dissolve(member) }
    }
  }

  @Test("a failed object is tried again only in shorter chains, and at most 128 times")
  func repeatedFailures() throws {
    final class Refused: Decodable {
      nonisolated(unsafe) static var attempts = 0
      init(from decoder: any Decoder) throws {
        Self.attempts += 1
        throw Refusal()
      }
    }
    final class Link: Decodable {
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        _ = try? container.decode(Shared<Link>.self, forKey: "next")
        for _ in 0..<3 { _ = try? container.decode(Shared<Refused>.self, forKey: "refused") }
      }
    }
    // Whatever refers to the refused object first, all that lead to it do so later.
    var objects: [String: JSONValue] = ["0": [:]]
    for number in 1...300 {
      objects["\(number)"] = ["next": ["shared": .int(Int64(number + 1))], "refused": ["shared": 0]]
    }
    let graph: JSONValue = [
      "root": .array((1...300).map { ["shared": .int($0)] }), "objects": .object(objects),
    ]
    for coder in coders(TypeRegistry()) {
      Refused.attempts = 0
      _ = try coder.decode(SharedGraph<[Shared<Link>]>.self, from: coder.encode(graph))
      #expect(Refused.attempts > 100 && Refused.attempts <= 128)
    }
  }

  @Test("changed bytes of a graph decode or throw a DecodingError")
  func mutations() throws {
    let decoder = StowDecoder()
    let data = [UInt8](try StowEncoder().encode(SharedGraph(SharedTests.project)))
    for index in data.indices {
      for byte in stride(from: UInt8.min, to: .max, by: 15) {
        var changed = data
        changed[index] ^= byte
        do { _ = try decoder.decode(SharedGraph<Project>.self, from: changed) } catch is DecodingError {
        } catch {
          Issue.record(error)
        }
      }
    }
  }

  @Test("values of unknown types that refer to shared objects are refused")
  func unregistered() throws {
    struct Scene: Codable {
      @Polymorphic var shapes: [any Shape]
    }
    var types = TypeRegistry()
    types.fallback = UnknownShape.self
    for coder in coders(types) {
      let plain: JSONValue = ["root": ["shapes": [["star": ["rays": 5]]]]]
      let data = try coder.encode(plain)
      #expect(try coder.decode(SharedGraph<Scene>.self, from: data).root.shapes.count == 1)
      let owned = try coder.encode(["root": ["shapes": [["star": ["owners": [["shared": 0]]]]]]] as JSONValue)
      #expect(
        failure { try coder.decode(SharedGraph<Scene>.self, from: owned) }
          == .dataCorrupted("root", "shapes", 0, "star"))
    }
  }

  @Test("graphs in a message are not filled in from a template")
  func defaults() throws {
    struct Team: Codable {
      var name = "team"
      var graph = SharedGraph(People(people: [Member("Ada"), Member("Bob")]))
    }
    let decoder = StowDecoder()
    let whole = try StowEncoder().encode(["graph": SharedGraph(People(people: [Member("Eve")]))])
    let team = try decoder.decode(Team.self, from: whole, defaults: Team())
    #expect(team.name == "team" && team.graph.root.people.map(\.name) == ["Eve"])
    let missing = try decoder.decode(Team.self, from: StowEncoder().encode(["name": "x"]), defaults: Team())
    #expect(missing.graph.root.people.map(\.name) == ["Ada", "Bob"])
    let partial = try StowEncoder().encode(["graph": ["root": [String: Int]()]])
    #expect(
      failure { try decoder.decode(Team.self, from: partial, defaults: Team()) }
        == .keyNotFound("people", "graph", "root"))
  }
}
