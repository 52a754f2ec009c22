import Foundation
import Stow

/// What a message stands for, with its kinds kept apart; and how it is to be written, where calls differ.
///
/// `Conformance/README.md` describes the notation.
indirect enum Meaning: Equatable, Sendable {
  case null(level: Int)
  case bool(Bool)
  case integer(Int128)
  /// An integer beyond `Int128`.
  case unsigned(UInt128)
  case float(bits: UInt64)
  /// A NaN of 4 bytes.
  case singleNaN(bits: UInt32)
  case string(ExactString)
  case data(Data)
  case date(seconds: UInt64)
  case uuid(UUID)
  case url(String)
  case decimal(Decimal)
  /// A decimal number that `Decimal` does not hold.
  case largeDecimal(StowValue)
  case array([Meaning])
  case object(MeaningObject)

  static func double(_ value: Double) -> Meaning { .float(bits: value.bitPattern) }
  static func text(_ value: String) -> Meaning { .string(ExactString(value)) }

  /// The part of this value that stands at `path`.
  func part(at path: [any CodingKey]) -> Meaning? {
    path.reduce(self) { (part: Meaning?, key) in
      switch part {
      case .array(let elements)?:
        key.intValue.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      case .object(let object)?: object.values[ExactString(key.stringValue)]
      default: nil
      }
    }
  }
}

/// An object, and the calls that write it.
struct MeaningObject: Equatable, Sendable {
  enum Keys: Sendable {
    case free
    /// The first, second or third of the types of fixed keys.
    case fixed(Int)
    /// The first key of the first type, all others of the second: a subclass that shares a container.
    case inherited
    /// No calls at all.
    case nothing
  }

  var keys = Keys.free
  /// In the order of the calls. A key without a value is asked for by `encodeIfPresent`.
  var entries: [(key: String, value: Meaning?)]

  init(_ entries: [(key: String, value: Meaning?)], keys: Keys = .free) {
    self.entries = entries
    self.keys = keys
  }

  /// What a reader finds: of several values for a key the last.
  var values: [ExactString: Meaning] {
    Dictionary(
      entries.compactMap { entry in entry.value.map { (ExactString(entry.key), $0) } },
      uniquingKeysWith: { $1 })
  }

  static func == (a: MeaningObject, b: MeaningObject) -> Bool { a.values == b.values }
}
