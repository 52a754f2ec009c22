// Optionals, arrays and dictionaries, recorded without their own `encode(to:)`: what they would record is
// known, and a call and an existential are saved for every element.

extension Optional: WholeEncodable where Wrapped: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder { OptionalTypeEncoder<Wrapped>() }
}

/// Keeps the level of a nil, which `Optional.encode(to:)` would lose.
private final class OptionalTypeEncoder<Wrapped: Encodable>: TypeEncoder<Wrapped?> {
  override func encode(
    _ value: borrowing Wrapped?, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let isPresent = try borrowingSome(value) {
      let entry = recorder.types.encoders.entry(for: Wrapped.self)
      try recorder.encodeKnown(copy $0, entry, key: key, parent: parent, level: level + 1)
    }
    if !isPresent { recorder.recording.recordNil(level: level, key: key) }
  }
}

extension Array: WholeEncodable where Element: Encodable {
  static func makeTypeEncoder() -> AnyTypeEncoder {
    if Element.self == StowValue.self { return StowValueArrayEncoder() }
    return RecordableTypes.scalar(Element.self)?.makeArrayEncoder() ?? ArrayTypeEncoder<Element>()
  }
}

/// Records the elements one by one.
class ArrayTypeEncoder<Element: Encodable>: TypeEncoder<[Element]> {
  override func encode(
    _ elements: borrowing [Element], into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    let container = ContainerStart(.array, key: key, parent: parent, index: elements.count)
    try recorder.recordContainer(of: elements, container) { begin in
      try borrowingElements(of: elements) { try record($0, recorder, begin) }
    }
  }

  /// Records the elements in their array, which begins at `begin`.
  func record(_ elements: UnsafeBufferPointer<Element>, _ recorder: Recorder, _ begin: Int) throws {
    guard let first = elements.baseAddress else { return }
    let entry = recorder.types.encoders.entry(for: Element.self)
    for index in 0..<elements.count {
      let key = TokenKey(index: index)
      if entry.isPlain {
        try borrowing(first + index) { try recorder.encodePlain($0, key: key, parent: begin) }
      } else {
        try entry.withPlan(as: TypeEncoder<Element>.self) { encoder in
          try borrowing(first + index) {
            try encoder.encode($0, into: recorder, key: key, parent: begin, level: 0)
          }
        }
      }
    }
  }
}

/// Arrays of strings, compiled for them.
private final class StringArrayTypeEncoder: ArrayTypeEncoder<String> {
  override func record(_ elements: UnsafeBufferPointer<String>, _ recorder: Recorder, _ begin: Int) {
    guard let first = elements.baseAddress else { return }
    for element in first..<first + elements.count {
      borrowing(element) { string in
        let index = recorder.recording.strings.internNew(string)
        recorder.recording.strings.countValueUse(index)
        recorder.recording.tape.append(Token(.string, index: index))
      }
    }
  }
}

/// Arrays of numbers or Bools. A long one is retained as it is, to be packed when it is written.
private final class ScalarArrayTypeEncoder<Element: Encodable>: ArrayTypeEncoder<Element> {
  private let kind: Token.Kind
  private let retain: ([Element]) -> RetainedValue?
  private let append: (UnsafeBufferPointer<Element>, Recorder) -> Void

  /// Shorter arrays are recorded element by element.
  static var shortest: Int { 17 }

  /// What depends on the type of the elements, and is compiled for it.
  init(
    _ kind: Token.Kind, retain: @escaping ([Element]) -> RetainedValue?,
    append: @escaping (UnsafeBufferPointer<Element>, Recorder) -> Void
  ) {
    self.kind = kind
    self.retain = retain
    self.append = append
  }

  override func encode(
    _ elements: borrowing [Element], into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    if elements.count >= Self.shortest, let value = retain(copy elements) {
      try recorder.checkDepth(of: elements, key: key, parent: parent)
      recorder.recording.retain(value, as: kind, key: key)
    } else {
      try super.encode(elements, into: recorder, key: key, parent: parent, level: level)
    }
  }

  override func record(_ elements: UnsafeBufferPointer<Element>, _ recorder: Recorder, _ begin: Int) {
    append(elements, recorder)
  }
}

extension RecordableScalar {
  static func makeTypeEncoder() -> AnyTypeEncoder { ScalarTypeEncoder<Self>() }
  static func makeArrayEncoder() -> AnyTypeEncoder { ArrayTypeEncoder<Self>() }

  @inline(__always)
  fileprivate static func arrayEncoder(
    _ kind: Token.Kind, _ retain: @escaping ([Self]) -> RetainedValue?
  ) -> AnyTypeEncoder {
    ScalarArrayTypeEncoder(kind, retain: retain) { elements, recorder in
      for element in elements { recorder.recording.record(element, key: TokenKey()) }
    }
  }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// For integers of any width; those beyond `Int64` are recorded one by one.
  static func makeArrayEncoder() -> AnyTypeEncoder {
    arrayEncoder(.integers) { values in
      if bitWidth == 64, !isSigned, values.contains(where: { $0 > Self(Int64.max) }) { return nil }
      return .integers(values.map { Int64(truncatingIfNeeded: $0) })
    }
  }
}

extension Int {
  static func makeArrayEncoder() -> AnyTypeEncoder { arrayEncoder(.integers) { .ints($0) } }
}

extension Int64 {
  static func makeArrayEncoder() -> AnyTypeEncoder { arrayEncoder(.integers) { .integers($0) } }
}

extension Double {
  static func makeArrayEncoder() -> AnyTypeEncoder { arrayEncoder(.doubles) { .doubles($0) } }
}

extension Float {
  static func makeArrayEncoder() -> AnyTypeEncoder {
    arrayEncoder(.doubles) { $0.contains(where: \.isNaN) ? nil : .doubles($0.map(Double.init)) }
  }
}

extension Bool {
  static func makeArrayEncoder() -> AnyTypeEncoder { arrayEncoder(.bools) { .bools($0) } }
}

extension String {
  static func makeArrayEncoder() -> AnyTypeEncoder { StringArrayTypeEncoder() }
}
