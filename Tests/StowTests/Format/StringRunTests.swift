import Foundation
import Stow
import Testing

/// Arrays of strings of which none repeats are written at once; what they hold must not show that.
@Suite("Arrays of distinct strings")
struct StringRunTests {
  /// A string of so many bytes, unlike any other with another number.
  private func text(_ length: Int, _ number: Int) -> String {
    let name = String(number, radix: 36)
    return length <= name.count
      ? String(name.suffix(length))
      : String(repeating: "é", count: (length - name.count) / 2)
        + String(repeating: ".", count: (length - name.count) % 2) + name
  }

  /// The elements as they are written one by one: a message of one string is the string as a value.
  private func expectElements(_ strings: [String]) throws {
    let elements = try strings.map { try StowEncoder().encode($0) }.reduce(Data(), +)
    let message = try StowEncoder().encode(strings)
    #expect(message.suffix(elements.count) == elements)
    #expect(message.count - elements.count <= 6)
    #expect(try StowDecoder().decode([String].self, from: message) == strings)
    // After other strings, and before more.
    expectRoundTrip([["first"], strings, ["last", "of", "all"]])
    expectRoundTrip([[strings[0]], strings, strings])
  }

  @Test("strings of lengths around header boundaries are written in full and decoded unchanged")
  func lengths() throws {
    let lengths = [4, 15, 16, 17, 31, 32, 33, 64, 223, 224, 225, 300, 6400, 5, 30, 250, 251, 6]
    try expectElements(lengths.enumerated().map { text($1, 1000 + $0) })
    for length in lengths { try expectElements((0..<5).map { text(length, 1000 + $0) }) }
  }

  @Test("distinct strings of random lengths are written in full and decoded unchanged")
  func random() throws {
    var random = SeededGenerator(seed: 21)
    for count in [2, 17, 300, 20_000] {
      try expectElements(
        (0..<count).map { text(Int.random(in: 4...(count % 3 == 0 ? 400 : 70), using: &random), 2000 + $0) })
    }
  }

  @Test("repeated strings too short to be symbols are decoded unchanged in another order")
  func neighboursThatWereNone() throws {
    // "b" and "c" are new one after the other, but stood apart.
    let arrays = [["a", "b", "a", "c"], ["b", "c"], ["c", "b"], ["b", "d"]]
    expectRoundTrip(arrays)
  }

  @Test("arrays of distinct strings with other strings between them are decoded unchanged")
  func mixed() throws {
    struct Group: Codable, Equatable {
      var name: String
      var members: [String]
      var notes: [String: [String]]
    }
    expectRoundTrip(
      (0..<40).map { group in
        Group(
          name: "group \(group)", members: (0..<group).map { "member \($0) of \(group)" },
          notes: [
            "note \(group)": ["n\(group)", "m\(group)"], "member 1 of 2": ["member 1 of 2", "x\(group)"],
          ])
      })
  }
}
