import Foundation
import Stow
import StowNotation
import Testing

/// The golden vectors: version 1 of the format as files that never change.
///
/// Every process and every build, debug or release, has to write the same bytes.
@Suite("Vectors")
struct VectorTests {
  private static func vectors(_ kinds: Vector.Kind...) -> [Vector] {
    ((try? VectorFile.all.get()) ?? []).filter { kinds.contains($0.kind) }
  }

  @Test("all vectors can be read, and their names are unique")
  func files() throws {
    let vectors = try VectorFile.all.get()
    #expect(vectors.count > 300)
    let repeated = Dictionary(grouping: vectors, by: \.name).filter { $1.count > 1 }.keys
    #expect(repeated.sorted() == [])
    #expect(vectors.filter { ($0.meaning == nil) != ($0.kind == .refused) }.map(\.name) == [])
  }

  /// Checks each vector of some kinds, and says how many pass of how many.
  private func check(_ what: String, _ kinds: Vector.Kind..., body: (Vector) throws -> Void) {
    let vectors = ((try? VectorFile.all.get()) ?? []).filter { kinds.contains($0.kind) }
    #expect(!vectors.isEmpty)
    print("Vectors that \(what): \(forEachCase(of: vectors, body)) of \(vectors.count)")
  }

  @Test("vectors are decoded to their meaning")
  func decoding() {
    check("decode to their meaning", .canonical, .accepted) { vector in
      let meaning = try #require(vector.meaning)
      #expect(try vector.makeDecoder().meaning(of: vector.bytes, expected: meaning) == meaning)
    }
  }

  @Test("vectors have the diagnostic notation that the suite of vectors gives")
  func notation() throws {
    let meanings = try VectorFile.meanings()
    check("are in diagnostic notation what the suite says", .canonical, .accepted) { vector in
      let meaning = try #require(meanings[vector.name])
      let value = try vector.makeDecoder().decode(StowValue.self, from: vector.bytes)
      let text = value.description
      if meaning.hasPrefix("sha256:") { return #expect(text.utf8.count > 4_000) }
      // `Decimal` moves zeros at the end of its digits to the exponent, also when it is read from the notation.
      if text != meaning { #expect(try StowValue(notation: meaning).description == text) }
    }
  }

  @Test("vectors of arrays are decoded as arrays of the types of their elements")
  func decodingArrays() {
    forEachCase(of: Self.vectors(.canonical, .accepted)) { (vector: Vector) in
      guard case .array(let elements)? = vector.meaning else { return }
      try expectDecodes(vector, as: Int64.self, elements) {
        if case .integer(let value) = $0 { Int64(exactly: value) } else { nil }
      }
      try expectDecodes(vector, as: Bool.self, elements) { if case .bool(let value) = $0 { value } else { nil } }
      try expectDecodes(vector, as: String.self, elements) {
        if case .string(let value) = $0 { value.string } else { nil }
      }
      try expectDecodes(vector, as: Double.self, elements, by: \.bitPattern) {
        if case .float(let bits) = $0 { Double(bitPattern: bits) } else { nil }
      }
    }
  }

  private func expectDecodes<Element: Decodable & Equatable>(
    _ vector: Vector, as type: Element.Type, _ elements: [Meaning], _ value: (Meaning) -> Element?
  ) throws {
    try expectDecodes(vector, as: type, elements, by: \.self, value)
  }

  /// Reads a whole array at once, if all of its elements are of this type.
  private func expectDecodes<Element: Decodable, Same: Equatable>(
    _ vector: Vector, as type: Element.Type, _ elements: [Meaning], by same: (Element) -> Same,
    _ value: (Meaning) -> Element?
  ) throws {
    let values = elements.compactMap(value)
    guard values.count == elements.count else { return }
    let decoded = try vector.makeDecoder().decode([Element].self, from: vector.bytes)
    #expect(decoded.map(same) == values.map(same))
  }

  @Test("encoding writes the bytes of canonical vectors")
  func encoding() {
    check("are written", .canonical) { vector in
      let written = try vector.makeEncoder().encode(vector.meaning)
      #expect(VectorFile.hex(written) == VectorFile.hex(vector.bytes))
    }
  }

  @Test("refused vectors throw a DecodingError")
  func refusing() {
    check("are refused", .refused) { vector in
      #expect(throws: DecodingError.self) { try vector.makeDecoder().decode(JSONValue.self, from: vector.bytes) }
    }
  }

  /// A failure says what the line of `Refusals.txt` would have to be.
  @Test("the errors of refused vectors describe what is wrong and have its path")
  func faults() throws {
    let expected = try VectorFile.refusals()
    let refused = Self.vectors(.refused)
    #expect(expected.count == refused.count)
    forEachCase(of: refused) { (vector: Vector) in
      let error = #expect(throws: DecodingError.self) {
        try vector.makeDecoder().decode(StowValue.self, from: vector.bytes)
      }
      guard case .dataCorrupted(let context)? = error else { throw try #require(error) }
      let path = context.codingPath.map { "/" + $0.stringValue }.joined()
      #expect("\(vector.name)\(path): \(context.debugDescription)" == expected[vector.name])
    }
  }

  @Test("accepted vectors use every tag that is not reserved, and refused vectors the reserved ones")
  func tags() throws {
    let vectors = try VectorFile.all.get()
    let accepted = Set(vectors.filter { $0.kind != .refused }.compactMap(\.tag))
    let refused = Set(vectors.filter { $0.kind == .refused }.compactMap(\.tag))
    let rows = try TagTable.rows()
    #expect(rows.flatMap(\.tags).sorted() == Array(0...255))
    // No map has one byte: a key and a value take two.
    let impossible: Set<UInt8> = [0xC1]
    for row in rows {
      let tags = Set(row.tags).subtracting(impossible)
      #expect(tags.subtracting(row.isReserved ? refused : accepted).sorted() == [], "\(row.kind)")
      if row.isReserved { #expect(tags.isDisjoint(with: accepted), "\(row.kind)") }
    }
    #expect(impossible.isSubset(of: refused))
  }
}

/// The table of tags in FORMAT.md.
private struct TagTable {
  struct Row {
    let tags: [UInt8]
    let kind: String

    /// A prelude stands in front of a value, and is none.
    var isReserved: Bool { kind.hasPrefix("reserved") || kind == "prelude" }
  }

  static func rows() throws -> [Row] {
    let text = try VectorFile.formatDocument()
    let chapter = try #require(text.components(separatedBy: "\n## Tags\n").last)
    return chapter.split(separator: "\n").prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| `") }
      .map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        return Row(tags: cells[0].components(separatedBy: ", ").flatMap(tags), kind: cells[1])
      }
  }

  /// One tag, or those from one to another.
  private static func tags(_ text: String) -> [UInt8] {
    let bounds = text.split(separator: "–").compactMap { UInt8($0.filter(\.isHexDigit), radix: 16) }
    return bounds.count == 2 ? Array(bounds[0]...bounds[1]) : bounds
  }
}
