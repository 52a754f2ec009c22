import Foundation
import Stow
import Testing

extension StowValue {
  /// What a reader of any message is to find.
  init(_ meaning: Meaning) {
    switch meaning {
    case .null(let level): self = level == 0 ? .null : .nestedNull(level: level)
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsignedInteger(value)
    case .float(let bits): self = .double(Double(bitPattern: bits))
    case .singleNaN(let bits): self = .float(Float(bitPattern: bits))
    case .string(let value): self = .string(value.string)
    case .data(let value): self = .data(value)
    case .date(let bits): self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    case .uuid(let value): self = .uuid(value)
    case .url(let text): self = .url(text)
    case .decimal(let value): self = .decimal(value)
    case .largeDecimal(let value): self = value
    case .array(let elements): self = .array(elements.map { StowValue($0) })
    case .object(let object): self = .object(StowObject(object.values.map { ($0.string, StowValue($1)) }))
    }
  }

  /// Whether both are the same to the bytes of every string and the order of every object.
  func isSame(as other: StowValue) -> Bool {
    switch (self, other) {
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case (.object(let left), .object(let right)):
      left.count == right.count
        && zip(left, right).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.isSame(as: $1.value) }
    default: self == other
    }
  }
}

extension Meaning {
  /// Whether all objects have free keys, as those of a `StowValue` have.
  fileprivate var hasFreeKeys: Bool {
    switch self {
    case .array(let elements): elements.allSatisfy(\.hasFreeKeys)
    case .object(let object):
      object.hasFreeKeys && object.entries.allSatisfy { $0.value?.hasFreeKeys ?? true }
    default: true
    }
  }
}

extension MeaningObject {
  fileprivate var hasFreeKeys: Bool { if case .free = keys { true } else { false } }
}

@Suite("Vectors as values")
struct StowValueVectorTests {
  private static func vectors(_ kinds: Vector.Kind...) -> [Vector] {
    ((try? VectorFile.all.get()) ?? []).filter { kinds.contains($0.kind) && $0.context == nil }
  }

  @Test("vectors are decoded as values with their meaning")
  func meanings() {
    forEachCase(of: Self.vectors(.canonical, .accepted)) { (vector: Vector) in
      let value = try StowValue(from: vector.bytes)
      let expected = StowValue(try #require(vector.meaning))
      #expect(value == expected)
      #expect(value.hashValue == expected.hashValue)
    }
  }

  @Test("vectors are decoded as the same values inside other types")
  func places() {
    forEachCase(of: Self.vectors(.canonical, .accepted)) { (vector: Vector) in
      let value = try StowValue(from: vector.bytes)
      let decoder = StowDecoder()
      switch value {
      case .array(let elements):
        #expect(try decoder.decode([StowValue].self, from: vector.bytes) == elements)
        var row = 0
        let rows = try decoder.decode([Row].self, from: vector.bytes)
        for element in elements {
          #expect(rows[row].value == element)
          row += 1
        }
      case .object(let object):
        let dictionary = Dictionary(object.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        if dictionary.count < object.count {
          #expect(throws: DecodingError.self) { try decoder.decode([String: StowValue].self, from: vector.bytes) }
        } else {
          #expect(try decoder.decode([String: StowValue].self, from: vector.bytes) == dictionary)
        }
      case .null: #expect(try decoder.decode(StowValue?.self, from: vector.bytes) == .none)
      case .nestedNull(let level):
        let expected = StowValue.nestedNull(level: level - 1)
        #expect(try decoder.decode(StowValue?.self, from: vector.bytes) == .some(expected))
      default: #expect(try decoder.decode(StowValue?.self, from: vector.bytes) == .some(value))
      }
    }
  }

  /// Calls the initializer of `StowValue` itself, as types do that decode themselves.
  private struct Row: Decodable {
    let value: StowValue

    init(from decoder: any Decoder) throws { value = try StowValue(from: decoder) }
  }

  @Test("vectors with free keys are written as the same bytes")
  func freeKeys() {
    forEachCase(of: Self.vectors(.canonical)) { (vector: Vector) in
      guard try #require(vector.meaning).hasFreeKeys else { return }
      let value = try StowValue(from: vector.bytes)
      #expect(VectorFile.hex(try value.encoded()) == VectorFile.hex(vector.bytes))
      let written = try StowEncoder().encode(Rewritten(value: value))
      #expect(VectorFile.hex(written) == VectorFile.hex(vector.bytes))
    }
  }

  private struct Rewritten: Encodable {
    let value: StowValue

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  @Test("vectors with other keys are written as bytes with the same meaning")
  func otherKeys() {
    forEachCase(of: Self.vectors(.canonical, .accepted).filter(\.isWritable)) { (vector: Vector) in
      let value = try StowValue(from: vector.bytes)
      let written = try value.encoded()
      let copy = try StowValue(from: written)
      #expect(copy.isSame(as: value))
      // What it writes comes back as the same bytes.
      #expect(try copy.encoded() == written)
      if vector.kind == .canonical {
        #expect((written == vector.bytes) != Self.rewritten.contains(vector.name))
      }
    }
  }

  /// The canonical vectors that a value writes otherwise, because it does not know which of their keys were fixed.
  private static let rewritten: Set = [
    // An object lacks a key that others of its type have.
    "records-partial", "records-partial-empty", "records-nine-shapes", "slots-asked-for-count",
    "slots-sorted", "slots-sorted-without-free-keys", "table-with-absent",
    // Two types have the same keys.
    "mixed-fixed-and-free", "slots-of-three-types",
    // Symbols are numbered by where their strings stand, and fixed keys come last.
    "symbol-fixed-keys-come-last",
  ]

  @Test("the vectors listed as written differently are canonical vectors")
  func rewritten() throws {
    let names = Set(try VectorFile.all.get().filter { $0.kind == .canonical }.map(\.name))
    #expect(Self.rewritten.isSubset(of: names))
  }

  @Test("refused vectors are refused as values")
  func refusing() {
    forEachCase(of: Self.vectors(.refused)) { (vector: Vector) in
      #expect(throws: DecodingError.self) { try StowValue(from: vector.bytes) }
      #expect(throws: DecodingError.self) { try StowDecoder().decode([StowValue].self, from: vector.bytes) }
    }
  }
}
