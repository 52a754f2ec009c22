import Foundation
import Stow
import Synchronization
import Testing

/// What `stringValue` of keys says at the moment.
private let suffix = Mutex("")

/// A key type of one byte, as that of a type without a `CodingKeys` of its own.
private enum ByteKey: CodingKey, CaseIterable {
  case first, second

  init?(intValue: Int) { nil }
  init?(stringValue: String) {
    guard let key = Self.allCases.first(where: { $0.stringValue == stringValue }) else { return nil }
    self = key
  }
  var intValue: Int? { nil }
  var stringValue: String { (self == .first ? "first" : "second") + suffix.withLock { $0 } }
}

/// The same, in more than a byte.
private struct WideKey: CodingKey, CaseIterable {
  static let allCases = [WideKey(key: .first, rest: 0), WideKey(key: .second, rest: 0)]

  let key: ByteKey
  let rest: Int

  init(key: ByteKey, rest: Int) { (self.key, self.rest) = (key, rest) }
  init?(intValue: Int) { nil }
  init?(stringValue: String) {
    guard let key = ByteKey(stringValue: stringValue) else { return nil }
    self.init(key: key, rest: 0)
  }
  var intValue: Int? { nil }
  var stringValue: String { key.stringValue }
}

private struct Pair<Key: CodingKey & CaseIterable>: Codable, Equatable {
  var values = [1, 2]

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    values = try Key.allCases.map { try container.decode(Int.self, forKey: $0) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for (key, value) in zip(Key.allCases, values) { try container.encode(value, forKey: key) }
  }
}

/// In a process of its own, where no other thread has asked for the keys.
#if os(macOS) || os(Linux)
  @Suite("Keys whose names change")
  struct ChangingKeysTests {
    /// Codes a pair while its keys are called one thing, and then another: what they were called when they were
    /// written, and what they are read as.
    private static func names<Key: CodingKey & CaseIterable>(_: Pair<Key>.Type) throws -> [[String]] {
      try ["", " later"].map { name in
        suffix.withLock { $0 = name }
        let message = try StowEncoder().encode(Pair<Key>())
        let read = try StowDecoder().decode(Pair<Key>.self, from: message)
        guard read == Pair() else { throw Refusal() }
        return try StowDecoder().decode([String: Int].self, from: message).keys.sorted()
      }
    }

    @Test("keys of a type of one byte keep their first names")
    func bytes() async {
      await #expect(processExitsWith: .success) {
        let names = try Self.names(Pair<ByteKey>.self)
        guard names == [["first", "second"], ["first", "second"]] else { exit(EXIT_FAILURE) }
      }
    }

    @Test("names of wider keys are requested again for every message")
    func others() async {
      await #expect(processExitsWith: .success) {
        let names = try Self.names(Pair<WideKey>.self)
        guard names == [["first", "second"], ["first later", "second later"]] else { exit(EXIT_FAILURE) }
      }
    }
  }
#endif
