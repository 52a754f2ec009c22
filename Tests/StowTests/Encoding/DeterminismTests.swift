import Foundation
import Stow
import Testing

/// That debug and release builds write the same bytes follows from `VectorTests`, which pass in both.
@Suite("Determinism of encoding")
struct DeterminismTests {
  private struct Record: Codable, Sendable {
    var name = "name"
    var number: Int?
    var list = [0.5, 0.25]
    var inner = ["a", "a", "b"]
  }

  private static func sorted(_ value: some Encodable) throws -> Data {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(value)
  }

  @Test("the same value gives the same bytes twice, from one encoder and from another")
  func twice() throws {
    let encoder = StowEncoder()
    let first = try encoder.encode(Self.records)
    #expect(try encoder.encode(Self.records) == first)
    #expect(try StowEncoder().encode(Self.records) == first)
  }

  @Test("the same value gives the same bytes, whatever was encoded in between")
  func inBetween() throws {
    let encoder = StowEncoder()
    let value = [Record(), Record(number: 1)]
    let first = try encoder.encode(value)
    for i in 0..<50 {
      _ = try encoder.encode([Record](repeating: Record(name: "other \(i)"), count: i))
      _ = try? encoder.encode(Writes { _ in throw Refusal() })
    }
    #expect(try encoder.encode(value) == first)
  }

  @Test(".sortedKeys makes dictionaries deterministic, at every depth")
  func sortedKeys() throws {
    let keys = (0..<60).map { "key \($0)" }
    func dictionary(_ keys: [String]) -> [String: [String: Int]] {
      var result: [String: [String: Int]] = [:]
      for key in keys {
        var inner: [String: Int] = [:]
        for other in ["x", "y", "z", "u", "v", "w"] { inner[other + key] = key.count }
        result[key] = inner
      }
      return result
    }
    let first = try Self.sorted([dictionary(keys)])
    for count in 0..<5 {
      var other = dictionary(keys.reversed())
      other.reserveCapacity(100 << count)
      #expect(try Self.sorted([other]) == first)
    }
    #expect(try StowDecoder().decode([[String: [String: Int]]].self, from: first) == [dictionary(keys)])
  }

  @Test(".sortedKeys sorts objects with dynamic keys and integer keys")
  func sortedDynamicKeys() throws {
    func written(_ keys: [AnyKey]) -> Writes {
      Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for key in keys { try container.encode(key.stringValue, forKey: key) }
      }
    }
    let keys = ["b", "é", "a", "", "Z", "zz", "10", "9", "日本"] as [AnyKey]
    #expect(try Self.sorted(written(keys)) == Self.sorted(written(keys.reversed())))
    var integers = [Int: Int](minimumCapacity: 1000)
    for i in (0..<40).reversed() { integers[i] = i }
    #expect(try Self.sorted(integers) == Self.sorted(Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, $0) })))
  }

  @Test(".sortedKeys changes no value")
  func sameValues() throws {
    let value: JSONValue = ["b": [["y": 1, "x": 0.5], ["y": 2, "x": 1.5]], "a": ["d": nil, "c": [true]]]
    #expect(try StowDecoder().decode(JSONValue.self, from: Self.sorted(value)) == value)
    let records = [Record(number: 2), Record()]
    #expect(try StowDecoder().decode([Record].self, from: Self.sorted(records)).map(\.number) == [2, nil])
  }

  @Test("a decoded value is encoded to the bytes it came from")
  func again() throws {
    let data = try StowEncoder().encode(Self.records)
    #expect(try StowEncoder().encode(StowDecoder().decode([Record].self, from: data)) == data)
  }

  @Test("the same value gives the same bytes on many threads at once")
  func threads() async throws {
    let first = try Self.samples()
    let shared = StowEncoder()
    let records = try shared.encode(Self.records)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<5 {
            let again = try Self.samples()
            let others = try shared.encode(Self.records)
            #expect(again == first && others == records)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  #if os(macOS) || os(Linux) || os(Windows)
    @Test("the same value gives the same bytes in two processes whose hash seeds differ")
    func processes() async throws {
      let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
        try FileHandle.standardOutput.write(contentsOf: Data(Self.report().utf8))
      }
      let there = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n")
      let here = try Self.report().split(separator: "\n")
      #expect(here.count > 10)
      #expect(here.filter { $0.hasPrefix("sample ") } == there.filter { $0.hasPrefix("sample ") })
      // Otherwise the comparison would show nothing.
      if ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] == nil {
        #expect(here.filter { $0.hasPrefix("order ") } != there.filter { $0.hasPrefix("order ") })
      }
    }
  #endif

  /// What this process writes, and the order of a dictionary in it.
  private static func report() throws -> String {
    let samples = try samples().map { "sample \(VectorFile.hex($0))\n" }.joined()
    return samples + "order \(dictionary.keys.joined(separator: ","))\n"
  }

  /// Messages of all sorts, dictionaries of many keys among them.
  private static func samples() throws -> [Data] {
    let vectors = try VectorFile.all.get().filter { $0.kind == .canonical && $0.bytes.count < 1000 }
    return try [
      sorted(dictionary), sorted(Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, 0.5) })),
      sorted([dictionary, dictionary]), StowEncoder().encode(records),
    ] + vectors.compactMap(\.meaning).map(sorted)
  }

  private static let dictionary = Dictionary(
    uniqueKeysWithValues: (0..<60).map { number in
      ("key \(number)", Dictionary(uniqueKeysWithValues: (0..<8).map { ("\($0)", number * $0) }))
    })

  private static let records = (0..<30).map { Record(name: "n\($0 % 4)", number: $0 % 3 == 0 ? nil : $0) }
}
