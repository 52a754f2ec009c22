/// The way from a value to what is inside it: keys of objects and indices of arrays.
///
/// ```swift
/// let path: StowPath = ["people", 3, "name"]
/// let names: StowPath = ["people", .each, "name"]
/// ```
///
/// A path without steps leads to the whole value. As text the two are `people[3].name` and `people[].name`, which
/// ``init(_:)-(String)`` reads. Making, comparing and hashing a path takes time in proportion to its steps.
public struct StowPath: Hashable, Sendable {
  /// One step of the way.
  public enum Step: Hashable, Sendable {
    /// To the value for a key of an object.
    case key(String)
    /// To an element of an array; 0 is the first.
    ///
    /// In an object, to the value for the key that says the number: `Codable` writes the key 3 of an `[Int: Station]` as
    /// `"3"`.
    case index(Int)
    /// To all elements of an array, or all values of an object in the order of their keys. What the rest of the path
    /// finds in each of them is an element of an array.
    case each

    /// Whether both lead to the same: keys are the same if their bytes are, as in `StowObject`.
    public static func == (left: Step, right: Step) -> Bool {
      switch (left, right) {
      case (.key(let left), .key(let right)): left.hasSameBytes(as: right)
      case (.index(let left), .index(let right)): left == right
      case (.each, .each): true
      default: false
      }
    }
  }

  /// The steps, from the outermost on.
  ///
  /// ```swift
  /// path.steps.append("name")
  /// ```
  public var steps: [Step]

  /// Makes a path of some steps; without any, to the whole value.
  ///
  /// ```swift
  /// let path = StowPath(keys.map { .key($0) })
  /// ```
  public init(_ steps: some Sequence<Step> = []) { self.steps = Array(steps) }

  /// The path of a step that follows another path.
  ///
  /// ```swift
  /// let name = person.appending("name")
  /// ```
  public func appending(_ step: Step) -> StowPath { StowPath(steps + [step]) }

  /// The path that goes on along another path.
  ///
  /// ```swift
  /// let name = people.appending([3, "name"])
  /// ```
  public func appending(_ path: StowPath) -> StowPath { StowPath(steps + path.steps) }

  /// The path up to where it leads to several values.
  var untilEach: StowPath { StowPath(steps.prefix { $0 != .each }) }
}

extension StowPath: ExpressibleByArrayLiteral {
  /// The path of the steps in the literal: a string is a key, and an integer an index.
  public init(arrayLiteral steps: Step...) { self.steps = steps }
}

extension StowPath.Step: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// The step to the value for a key.
  public init(stringLiteral key: String) { self = .key(key) }

  /// The step to an element of an array.
  public init(integerLiteral index: Int) { self = .index(index) }
}
