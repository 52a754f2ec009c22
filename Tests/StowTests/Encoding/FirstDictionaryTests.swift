import Stow
import Testing

/// The keys of the first dictionary of a message are new; what comes after it may repeat them.
@Suite("Dictionaries before other strings")
struct FirstDictionaryTests {
  /// What a dictionary encodes, key by key.
  private struct Entries<Value: Encodable>: Encodable {
    let dictionary: [String: Value]

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      for (key, value) in dictionary { try container.encode(value, forKey: AnyKey(stringValue: key)) }
    }
  }

  private struct Message<Counts: Encodable>: Encodable {
    var counts: Counts
    var names: [String]
    var more: [Counts]
  }

  /// A dictionary of so many keys, some of them long and some not ASCII.
  private static func dictionary(_ count: Int) -> [String: Int] {
    let names = ["", "key ", "a key of more than 15 bytes, ", "ключ "]
    return Dictionary(uniqueKeysWithValues: (0..<count).map { (names[$0 % names.count] + String($0), $0) })
  }

  @Test("dictionaries write the same bytes as their entries", arguments: [0, 1, 4, 300, 10_000])
  func sameBytes(count: Int) throws {
    let dictionary = Self.dictionary(count)
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(try encoder.encode(dictionary) == encoder.encode(Entries(dictionary: dictionary)))
    if count > 300 { return }
    let names = dictionary.keys.sorted() + ["another", "another"]
    let entries = Entries(dictionary: dictionary)
    #expect(
      try encoder.encode(Message(counts: dictionary, names: names, more: [dictionary]))
        == encoder.encode(Message(counts: entries, names: names, more: [entries])))
  }

  @Test("dictionaries share symbols between keys and earlier values, and values and earlier keys")
  func keysAndValues() throws {
    let names = (1...3).map { "a key of more than 15 bytes, number \($0)" }
    let dictionary = Dictionary(uniqueKeysWithValues: zip(names, names[1...] + names[..<1]))
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let message = try encoder.encode(dictionary)
    #expect(try message == encoder.encode(Entries(dictionary: dictionary)))
    // Each is written once, in some 40 bytes, and both uses refer to it.
    #expect(message.count < 150)
  }

  @Test("dictionaries are read back with strings that repeat their keys", arguments: [0, 1, 4, 300, 10_000])
  func repeated(count: Int) throws {
    let dictionary = Self.dictionary(count)
    struct Copy: Codable, Equatable {
      var counts: [String: Int]
      var names: [String]
      var more: [[String: Int]]
    }
    let names = Array(dictionary.keys)
    let copy = Copy(counts: dictionary, names: names + names, more: [dictionary, [:], dictionary])
    #expect(try roundTrip(copy) == copy)
    // A reference takes at most three bytes; without one a key of the second dictionary would be longer.
    let once = try StowEncoder().encode(dictionary).count
    #expect(try StowEncoder().encode([dictionary, dictionary]).count <= once + 8 * dictionary.count + 16)
  }
}
