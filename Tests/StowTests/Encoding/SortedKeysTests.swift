import Foundation
import Stow
import Testing

/// What `.sortedKeys` makes of the order in which a dictionary happens to be.
@Suite("Sorted keys")
struct SortedKeysTests {
  private struct P: Encodable { var alphaalpha = 1 }
  private struct Q: Encodable { var alphaalpha = 1 }
  private struct R: Encodable { var betabetabeta = 1 }
  private struct S: Encodable { var betabetabeta = 1 }

  @Test("sorted key types come in the order of their first objects")
  func keyTypes() throws {
    func bytes(_ order: [String]) throws -> Data {
      let values: [String: any Encodable] = ["a": P(), "b": Q(), "c": R(), "d": S()]
      return try message { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        for name in order {
          func encode(_ value: some Encodable) throws { try container.encode(value, forKey: AnyKey(name)) }
          if let value = values[name] { try encode(value) }
        }
      }
    }
    let sorted = try bytes(["a", "b", "c", "d"])
    for order in [["d", "c", "b", "a"], ["c", "a", "d", "b"], ["b", "d", "a", "c"]] {
      #expect(try bytes(order) == sorted)
    }
  }

  @Test("a key that was asked for by nil puts one with a lower slot out of turn", arguments: [false, true])
  func keysWithoutValues(isAsked: Bool) throws {
    enum Keys: CodingKey { case a, b }
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let message = try encoder.encode(
      Writes {
        var list = $0.unkeyedContainer()
        var first = list.nestedContainer(keyedBy: Keys.self)
        try first.encodeIfPresent(nil as Int?, forKey: .b)
        try first.encode(1, forKey: .a)
        var second = list.nestedContainer(keyedBy: Keys.self)
        if isAsked { try second.encodeIfPresent(nil as Int?, forKey: .a) }
        try second.encode(2, forKey: .b)
        var third = list.nestedContainer(keyedBy: Keys.self)
        try third.encode(3, forKey: .b)
        try third.encode(4, forKey: .a)
      })
    guard case .array(let objects) = try StowValue(from: message), case .object(let last)? = objects.last else {
      Issue.record("no array of objects")
      return
    }
    #expect(last.keys == (isAsked ? ["a", "b"] : ["b", "a"]))
  }
}
