/// A path from a value to something inside it: keys of objects and indices of arrays.
///
/// ```swift
/// let path: StowPath = ["people", 3, "name"]
/// let names: StowPath = ["people", .each, "name"]
/// ```
///
/// A path without steps leads to the whole value. As text the two are `people[3].name` and `people[].name`, which
/// ``init(_:)-(String)`` reads. Making, comparing and hashing a path takes time in proportion to its steps.
public struct StowPath: Hashable, Sendable, ExpressibleByArrayLiteral, LosslessStringConvertible {
  /// One step of the way.
  public enum Step: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// To the value for a key of an object.
    case key(String)
    /// To an element of an array; 0 is the first.
    ///
    /// In an object, to the value whose key is the number as text: `Codable` writes the key 3 of an `[Int:
    /// Station]` as `"3"`.
    case index(Int)
    /// To all elements of an array, or all values of an object in the order of their keys. What the rest of
    /// the path finds in each of them becomes an element of an array.
    case each

    /// The step to the value for a key.
    public init(stringLiteral key: String) { self = .key(key) }
    /// The step to an element of an array.
    public init(integerLiteral index: Int) { self = .index(index) }

    /// Returns whether both are the same step: keys are the same if their bytes are, as in `StowObject`.
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

  /// Makes a path from steps; without any, it leads to the whole value.
  ///
  /// ```swift
  /// let path = StowPath(keys.map { .key($0) })
  /// ```
  public init(_ steps: some Sequence<Step> = []) { self.steps = Array(steps) }

  /// Makes a path from the steps in the literal: a string is a key, and an integer an index.
  public init(arrayLiteral steps: Step...) { self.steps = steps }

  /// Returns this path followed by another one, which may be a literal of steps.
  ///
  /// ```swift
  /// let name = people.appending([3, "name"])
  /// ```
  public func appending(_ path: StowPath) -> StowPath { StowPath(steps + path.steps) }

  /// The steps up to the first that leads to several values.
  var untilEach: StowPath { StowPath(steps.prefix { $0 != .each }) }

  // MARK: as text

  /// The path as text, from which ``init(_:)-(String)`` makes the same path again.
  ///
  /// | Step | Text |
  /// |---|---|
  /// | a key that begins with a letter or `_` and goes on with letters, digits, `_` and `-` | `name` in front, `.name` after other steps |
  /// | any other key | `["a b"]` |
  /// | an index | `[3]` |
  /// | ``Step/each`` | `[]` |
  ///
  /// Between quotes, characters are escaped as `\"`, `\\`, `\n`, `\r` and `\t`, and other control characters
  /// and those that move the text around them as `\u{7F}`. The path to the whole value is the empty text.
  public var description: String {
    var text = ""
    for step in steps {
      switch step {
      case .key(let key) where PathText.isPlain(key): text += text.isEmpty ? key : "." + key
      case .key(let key): text += "[" + PathText.quoted(key) + "]"
      case .index(let index): text += "[\(index)]"
      case .each: text += "[]"
      }
    }
    return text
  }

  /// Reads a path from text, as ``description`` writes it; nil if the text is not a path.
  ///
  /// ```swift
  /// let path = StowPath("people[3].name")
  /// ```
  ///
  /// Takes time in proportion to the text.
  public init?(_ description: String) {
    var text = PathText(description)
    guard let steps = text.steps() else { return nil }
    self.init(steps)
  }
}

/// A parser of paths, scalar by scalar: a `Character` may begin with a quote and continue with an accent.
private struct PathText {
  /// The last scalar is the next one.
  private var rest: [Unicode.Scalar]

  init(_ text: String) { rest = text.unicodeScalars.reversed() }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool { rest.last == scalar && rest.popLast() != nil }

  private mutating func takeAll(while predicate: (Unicode.Scalar) -> Bool) -> String {
    var taken = String.UnicodeScalarView()
    while let next = rest.last, predicate(next) {
      taken.append(next)
      rest.removeLast()
    }
    return String(taken)
  }

  // MARK: reading

  mutating func steps() -> [StowPath.Step]? {
    var steps: [StowPath.Step] = []
    while !rest.isEmpty {
      guard let step = step(isFirst: steps.isEmpty) else { return nil }
      steps.append(step)
    }
    return steps
  }

  private mutating func step(isFirst: Bool) -> StowPath.Step? {
    if take("[") { return bracketed() }
    guard isFirst || take(".") else { return nil }
    let key = takeAll { Self.continuesPlain($0) }
    return Self.isPlain(key) ? .key(key) : nil
  }

  /// Reads the step whose opening bracket was taken.
  private mutating func bracketed() -> StowPath.Step? {
    let step: StowPath.Step?
    if rest.last == "]" {
      step = .each
    } else if take("\"") {
      step = quotation().map { .key($0) }
    } else {
      step = number().map { .index($0) }
    }
    return take("]") ? step : nil
  }

  /// Reads an index in the only form that is written: without leading zeros.
  private mutating func number() -> Int? {
    let digits = takeAll { $0 == "-" || ("0"..."9").contains($0) }
    return Int(digits).flatMap { String($0) == digits ? $0 : nil }
  }

  /// Reads the string whose opening quote was taken, and its closing quote.
  private mutating func quotation() -> String? {
    var scalars = String.UnicodeScalarView()
    while let scalar = rest.popLast() {
      switch scalar {
      case "\"": return String(scalars)
      case "\\":
        guard let meant = escaped() else { return nil }
        scalars.append(meant)
      default: scalars.append(scalar)
      }
    }
    return nil
  }

  /// Reads what follows a backslash.
  private mutating func escaped() -> Unicode.Scalar? {
    guard let letter = rest.popLast() else { return nil }
    if letter != "u" { return Notation.escapes.first { $0.letter == letter }?.scalar }
    guard take("{") else { return nil }
    let digits = takeAll { $0.properties.isASCIIHexDigit }
    guard digits.utf8.count <= 8, take("}") else { return nil }
    return Int(digits, radix: 16).flatMap { UInt32(exactly: $0) }.flatMap(Unicode.Scalar.init)
  }

  // MARK: writing

  static func isPlain(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
    return key.unicodeScalars.allSatisfy(continuesPlain)
  }

  private static func continuesPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "-" || scalar.properties.isXIDContinue
  }

  static func quoted(_ key: String) -> String {
    Notation.quoted(key) { scalar in
      Notation.isEscaped(scalar) ? "{" + String(scalar.value, radix: 16, uppercase: true) + "}" : nil
    }
  }
}
