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

// Paths as text: `people[3].name`.

extension StowPath: LosslessStringConvertible {
  /// The path as text, from which ``init(_:)-(String)`` makes the same path again.
  ///
  /// | Step | Text |
  /// |---|---|
  /// | a key that begins with a letter or `_` and goes on with letters, digits, `_` and `-` | `name` in front, `.name` after other steps |
  /// | any other key | `["a b"]` |
  /// | an index | `[3]` |
  /// | ``Step/each`` | `[]` |
  ///
  /// Between quotes stand `\"`, `\\`, `\n`, `\r` and `\t`, and `\u{7F}` for other control characters. The path to the
  /// whole value is the empty text.
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

  /// The path that a text says, as ``description`` writes it; nil if it says none.
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

/// The text of a path that is being read, scalar by scalar: a `Character` may begin with a quote and go on with an accent.
private struct PathText {
  private let text: String.UnicodeScalarView
  private var position: String.Index

  init(_ text: String) {
    self.text = text.unicodeScalars
    position = text.startIndex
  }

  /// The scalar that is next; nil at the end.
  private var next: Unicode.Scalar? { position < text.endIndex ? text[position] : nil }

  /// Takes the scalar that is next.
  private mutating func take() -> Unicode.Scalar? {
    guard let next else { return nil }
    text.formIndex(after: &position)
    return next
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool { next == scalar && take() != nil }

  private mutating func takeAll(while predicate: (Unicode.Scalar) -> Bool) -> String {
    let start = position
    while let next, predicate(next) { _ = take() }
    return String(text[start..<position])
  }

  // MARK: reading

  /// All steps, or nil if something else stands there.
  mutating func steps() -> [StowPath.Step]? {
    var steps: [StowPath.Step] = []
    while next != nil {
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

  /// The step whose opening bracket was taken.
  private mutating func bracketed() -> StowPath.Step? {
    let step: StowPath.Step?
    if next == "]" {
      step = .each
    } else if take("\"") {
      step = quotation().map { .key($0) }
    } else {
      step = number().map { .index($0) }
    }
    return take("]") ? step : nil
  }

  /// An index in the one form that is written: without zeros in front.
  private mutating func number() -> Int? {
    let digits = takeAll { $0 == "-" || ("0"..."9").contains($0) }
    return Int(digits).flatMap { String($0) == digits ? $0 : nil }
  }

  /// The string whose opening quote was taken, with the closing one.
  private mutating func quotation() -> String? {
    var scalars = String.UnicodeScalarView()
    while let scalar = take() {
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

  /// What follows a backslash.
  private mutating func escaped() -> Unicode.Scalar? {
    guard let letter = take() else { return nil }
    if letter != "u" { return Notation.escapes.first { $0.letter == letter }?.scalar }
    guard take("{") else { return nil }
    let digits = takeAll { $0.properties.isASCIIHexDigit }
    guard digits.utf8.count <= 8, take("}") else { return nil }
    return Int(digits, radix: 16).flatMap(UInt32.init(exactly:)).flatMap(Unicode.Scalar.init)
  }

  // MARK: writing

  /// Whether a key needs no quotes.
  static func isPlain(_ key: String) -> Bool {
    guard let first = key.unicodeScalars.first, first == "_" || first.properties.isXIDStart else {
      return false
    }
    return key.unicodeScalars.allSatisfy(continuesPlain)
  }

  private static func continuesPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "-" || scalar.properties.isXIDContinue
  }

  static func quoted(_ key: String) -> String {
    Notation.quoted(key) { scalar in
      guard scalar.properties.generalCategory == .control else { return nil }
      return "{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
  }
}
