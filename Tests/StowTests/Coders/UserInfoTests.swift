import Foundation
import Stow
import Testing

#if canImport(Combine)
  import Combine
#endif

extension CodingUserInfoKey {
  fileprivate static let note = CodingUserInfoKey(rawValue: "note")!
}

@Suite("User information")
struct UserInfoTests {
  private struct Leaf: Codable, Equatable {
    var note: String

    init() { note = "" }

    init(from decoder: any Decoder) throws {
      #expect(try decoder.readSingle(String.self) == "encoded \(decoder.userInfo[.note] ?? "")")
      note = decoder.userInfo[.note] as? String ?? "missing"
    }

    func encode(to encoder: any Encoder) throws {
      try encoder.writeSingle("encoded \(encoder.userInfo[.note] ?? "missing")")
    }
  }

  private struct Tree: Codable, Equatable {
    var leaf = Leaf()
    var list = [Leaf(), Leaf()]
    var dictionary = ["k": [Leaf()]]
    var optional: Leaf? = Leaf()
  }

  @Test("user information is available at every level")
  func everyLevel() throws {
    let encoder = StowEncoder()
    encoder.userInfo[.note] = "here"
    let decoder = StowDecoder()
    decoder.userInfo[.note] = "here"
    let tree = try decoder.decode([Tree].self, from: encoder.encode([Tree()]))[0]
    let notes = [tree.leaf] + tree.list + (tree.dictionary["k"] ?? []) + [tree.optional].compactMap { $0 }
    #expect(notes.map(\.note) == [String](repeating: "here", count: 5))
  }

  @Test("super encoders and super decoders have the user information")
  func supers() throws {
    let encoder = StowEncoder()
    encoder.userInfo[.note] = 7
    let data = try encoder.encode(
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        #expect(container.superEncoder().userInfo[.note] as? Int == 7)
        var list = container.nestedUnkeyedContainer(forKey: "list")
        #expect(list.superEncoder().userInfo[.note] as? Int == 7)
      })
    #expect(try StowDecoder().decode(JSONValue.self, from: data) == ["super": [:], "list": [[:]]])
    try read(["super": [1]]) { decoder in
      let count = decoder.userInfo.count
      let parent = try decoder.container(keyedBy: AnyKey.self).superDecoder()
      #expect(parent.userInfo.count == count)
      var list = try parent.unkeyedContainer()
      #expect(try list.superDecoder().userInfo.count == count)
    }
  }

  @Test("user information is empty unless set, and can change between messages")
  func changes() throws {
    let encoder = StowEncoder()
    #expect(encoder.userInfo.isEmpty)
    #expect(StowDecoder().userInfo.isEmpty)
    for note in ["one", "two"] {
      encoder.userInfo[.note] = note
      #expect(try StowDecoder().decode(String.self, from: encoder.encode(Leaf())) == "encoded \(note)")
    }
    encoder.userInfo = [:]
    #expect(try StowDecoder().decode(String.self, from: encoder.encode(Leaf())) == "encoded missing")
  }

  private final class Witness: Sendable {}

  private struct Trace {
    weak var witness: Witness?
  }

  /// Coders that were used, and traces of what each was given.
  private static func usedCoders() throws -> (encoder: StowEncoder, decoder: StowDecoder, traces: [Trace]) {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    let witnesses = [Witness(), Witness()]
    encoder.userInfo[.note] = witnesses[0]
    decoder.userInfo[.note] = witnesses[1]
    #expect(try decoder.decode([Int].self, from: encoder.encode([1])) == [1])
    return (encoder, decoder, witnesses.map { Trace(witness: $0) })
  }

  @Test("a coder holds its user information until the coder is released")
  func lifetime() throws {
    var coders = Optional(try Self.usedCoders())
    let traces = try #require(coders).traces
    #expect(traces.allSatisfy { $0.witness != nil })
    coders = nil
    #expect(traces.allSatisfy { $0.witness == nil })
  }

  @Test("user information is released when it is replaced")
  func replacement() throws {
    let (encoder, decoder, traces) = try Self.usedCoders()
    encoder.userInfo = [:]
    decoder.userInfo[.note] = "other"
    #expect(traces.allSatisfy { $0.witness == nil })
    withExtendedLifetime((encoder, decoder)) {}
  }

  @Test("of user information set by several threads at once, one is kept and the others are released")
  func setByThreads() {
    for _ in 0..<2000 {
      let encoder = StowEncoder()
      func set() -> [Trace] {
        let witnesses = (0..<4).map { _ in Witness() }
        DispatchQueue.concurrentPerform(iterations: 4) { encoder.userInfo = [.note: witnesses[$0]] }
        return witnesses.map { Trace(witness: $0) }
      }
      let traces = set()
      #expect(traces.count { $0.witness != nil } == 1)
      encoder.userInfo = [:]
      #expect(encoder.userInfo.isEmpty && traces.allSatisfy { $0.witness == nil })
    }
  }

  @Test("coders can be passed between threads")
  func sendable() {
    func check(_ value: some Sendable) {}
    check(StowEncoder())
    check(StowDecoder())
  }

  @Test("a message is plain Data")
  func types() throws {
    let data: Data = try StowEncoder().encode(1)
    #expect(!data.isEmpty)
    #expect(try StowEncoder().encode(1).count == 1)
    let formatting: StowEncoder.OutputFormatting = [.sortedKeys]
    #expect(formatting.contains(.sortedKeys))
    #expect(StowEncoder().outputFormatting == [])
  }

  #if canImport(Combine)
    @Test("Combine accepts the coders as top-level coders")
    func combine() throws {
      func transcode<E: TopLevelEncoder, D: TopLevelDecoder>(_ encoder: E, _ decoder: D) throws -> [Int]
      where E.Output == Data, D.Input == Data { try decoder.decode([Int].self, from: encoder.encode([1, 2])) }
      #expect(try transcode(StowEncoder(), StowDecoder()) == [1, 2])
    }
  #endif
}
