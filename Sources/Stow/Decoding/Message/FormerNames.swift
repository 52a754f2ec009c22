/// Coding keys that had other names in earlier versions of a program.
///
/// ```swift
/// enum CodingKeys: String, CodingKey, StowFormerNames {
///   case customer, total
///   static let formerNames: [CodingKeys: [String]] = [.customer: ["customerName", "client"]]
/// }
/// ```
///
/// If an object lacks a key, a `StowDecoder` takes the value of the first former name that the object has. If the object has
/// the key, that counts, and former names are unknown keys. Encoders write present names only, and paths know no others. The
/// cases of an enumeration with associated values are keys, too. With other coders the protocol does nothing.
public protocol StowFormerNames: CodingKey, Hashable {
  /// The former names of keys, by the keys, those that are looked for first in front.
  ///
  /// Each must belong to one key, and must not be the name of another. Otherwise decoding an object that lacks a key of this
  /// type throws the error of ``checkFormerNames()``.
  static var formerNames: [Self: [String]] { get }
}

extension StowFormerNames {
  /// Checks in a test that each former name belongs to one key.
  ///
  /// ```swift
  /// @Test func formerNames() throws { try Order.CodingKeys.checkFormerNames() }
  /// ```
  ///
  /// - Throws: `DecodingError.dataCorrupted`, whose description names the keys, if two keys have one former name, or if a
  ///   former name is the name of another key.
  public static func checkFormerNames() throws {
    if let conflict = FormerNames(Self.self).conflict { throw DecodingError.corrupted(conflict, path: []) }
  }
}

/// The former names of the keys of one type.
package final class FormerNames: Sendable {
  private let names: [ExactString: [String]]
  /// Why the names are ambiguous; nil if they are not.
  package let conflict: String?

  /// Returns nil for a type without former names.
  package convenience init?(of keyType: any CodingKey.Type) {
    guard let type = keyType as? any StowFormerNames.Type else { return nil }
    self.init(type)
  }

  fileprivate init<Key: StowFormerNames>(_ type: Key.Type) {
    let former = Key.formerNames.sorted { $0.key.stringValue < $1.key.stringValue }
    names = Dictionary(former.map { (ExactString($0.key.stringValue), $0.value) }) { first, _ in first }
    // A type that makes a key of any string does not say which names its keys have.
    let areNamesKnown = Key(stringValue: "") == nil
    var (keys, flaw) = ([ExactString: Key](), String?.none)
    for (key, names) in former {
      for name in names where name != key.stringValue {
        let other =
          areNamesKnown ? Key(stringValue: name) : former.map(\.key).first { $0.stringValue == name }
        if let other, other != key {
          flaw = "\"\(name)\" is a former name of \"\(key.stringValue)\", and the name of another key."
        } else if let other = keys.updateValue(key, forKey: ExactString(name)), other != key {
          flaw = "\"\(name)\" is a former name of both \"\(other.stringValue)\" and \"\(key.stringValue)\"."
        }
      }
    }
    conflict = flaw.map { "The former names of \(String(reflecting: Key.self)) are ambiguous: \($0)" }
  }

  func names(of name: String) -> [String] { names[ExactString(name)] ?? [] }

  /// Returns the names of an object's keys, with the present name in place of each former one whose value counts.
  package func present(_ names: [String]) -> [String] {
    let there = Set(names.map(ExactString.init))
    var present: [ExactString: String] = [:]
    for (key, formerNames) in self.names where !there.contains(key) {
      if let name = formerNames.lazy.map(ExactString.init).first(where: there.contains) {
        present[name] = key.string
      }
    }
    return names.map { present[ExactString($0)] ?? $0 }
  }
}
