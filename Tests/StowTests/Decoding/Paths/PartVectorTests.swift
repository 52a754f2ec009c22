import Foundation
import FuzzTargets
import Stow
import Testing

@Suite("Parts of the vectors")
struct PartVectorTests {
  private static func vectors(_ kinds: Vector.Kind...) -> [Vector] {
    ((try? VectorFile.all.get()) ?? []).filter { kinds.contains($0.kind) }
  }

  @Test("are what the whole has at their paths")
  func agree() {
    forEachCase(of: Self.vectors(.canonical, .accepted)) { (vector: Vector) in
      let decoder = try vector.makeDecoder()
      try expectAgreement(decoder.message(from: vector.bytes), decoder.decode(StowValue.self, from: vector.bytes))
    }
  }

  @Test("of messages that are refused are errors or values")
  func refused() {
    forEachCase(of: Self.vectors(.refused)) { (vector: Vector) in
      guard let message = try? vector.makeDecoder().message(from: vector.bytes) else { return }
      try expectAgreement(message, nil)
    }
  }

  @Test("of generated values are what the whole has")
  func generated() {
    forEachCase(of: 0..<8) { (batch: Int) in
      var random = SeededGenerator(seed: UInt64(100 + batch))
      for _ in 0..<10 {
        let value = StowValue.random(&random, depth: 4)
        try expectAgreement(StowMessage(from: value.encoded()), value)
      }
    }
  }

  @Test("of messages that were cut off or changed are errors or values")
  func mutated() throws {
    var random = SeededGenerator(seed: 73)
    for vector in Self.vectors(.canonical, .accepted) where vector.context == nil && vector.bytes.count < 32 {
      // Short ones at every place, longer ones at some.
      let step = vector.bytes.count < 10 ? 1 : 5
      for count in stride(from: 0, to: vector.bytes.count, by: step) { run(Array(vector.bytes.prefix(count))) }
      for index in stride(from: random.below(step), to: vector.bytes.count, by: step) {
        var bytes = Array(vector.bytes)
        bytes[index] = UInt8(truncatingIfNeeded: random.next())
        run(bytes)
      }
    }
  }

  private func run(_ bytes: [UInt8]) {
    #expect(throws: Never.self, "\(bytes)") { try bytes.withUnsafeBytes(FuzzTarget.parts.run) }
  }

  private func expectAgreement(
    _ message: StowMessage, _ whole: StowValue?, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(throws: Never.self, sourceLocation: sourceLocation) { try checkParts(of: message, whole: whole) }
  }

  @Test("of mapped files are the same")
  func mapped() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "stow-parts-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    var random = SeededGenerator(seed: 74)
    let rows = (0..<3000).map { ["id": $0, "code": Int(random.next() >> 40)] }
    let value: StowValue = ["rows": try StowValue(encoding: rows), "any": .random(&random, depth: 4)]
    try value.encoded().write(to: file)
    let message = try StowMessage(from: Data(contentsOf: file, options: .mappedIfSafe))
    try expectAgreement(message, value)
    #expect(try message.decode(Int.self, at: ["rows", 2999, "code"]) == rows[2999]["code"])
  }
}

extension StowValue {
  /// A value of any kind; arrays of alike elements among them, which become packed arrays and tables.
  static func random(_ random: inout SeededGenerator, depth: Int) -> StowValue {
    switch random.below(depth > 0 ? 18 : 10) {
    case 0: return .null
    case 1: return .bool(.random(&random))
    case 2: return .integer(Int128(Int.random(&random)))
    case 3: return .double(random.double())
    case 4: return .date(.random(&random))
    case 5: return .uuid(.random(&random))
    case 6: return .data(Data((0..<random.below(5)).map { UInt8($0) }))
    case 7: return .url("https://example.org/\(random.below(3))")
    case 8, 9: return .string(random.text())
    case 10:
      return .array((0..<random.below(300)).map { _ in StowValue(Int.random(&random)) })
    case 11: return .array((0..<random.below(40)).map { _ in .double(random.double()) })
    case 12: return .array((0..<random.below(40)).map { _ in .bool(.random(&random)) })
    case 13:
      return .array(
        (0..<random.below(40)).map { (row: Int) -> StowValue in
          ["row": StowValue(row), "x": .double(Double(row) / 8), "same": "text", "on": .bool(row % 2 == 0)]
        })
    case 14: return .array((0..<random.below(20)).map { [.double(Double($0) / 4), StowValue($0), .null] })
    case 15, 16: return .array((0..<random.below(9)).map { _ in .random(&random, depth: depth - 1) })
    default:
      return .object(
        StowObject(
          (0..<random.below(30)).map { _ in
            (random.below(2) == 0 ? random.text() : "key \(random.below(9))", .random(&random, depth: depth - 1))
          }))
    }
  }
}
