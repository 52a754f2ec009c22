import Foundation
import Stow
import Testing

/// A reader takes a length in any size that holds it, though a writer chooses the smallest (FORMAT.md, "Uints").
@Suite("Lengths that are wider than necessary")
struct WideLengthTests {
  /// A length in four bytes, and in eight.
  private func wideForms(of length: Int) -> [[UInt8]] {
    [(0xFC, 4), (0xFD, 8)].map { lead, width in [lead] + (0..<width).map { UInt8(length >> (8 * $0) & 255) } }
  }

  @Test("wide lengths of strings, data and arrays are read, even if empty", arguments: [0, 1, 2, 31, 200, 300])
  func read(length: Int) throws {
    let text = String(repeating: "x", count: length)
    for form in wideForms(of: length) {
      #expect(try StowDecoder().decode(String.self, from: [0x1D] + form + text.utf8) == text)
      #expect(try StowDecoder().decode(Data.self, from: [0x19] + form + text.utf8) == Data(text.utf8))
      let numbers = [UInt8](repeating: 0x95, count: length)
      #expect(
        try StowDecoder().decode([Int].self, from: [0x70] + form + numbers)
          == Array(repeating: 5, count: length))
    }
  }

  @Test("wide lengths of objects are read, even if empty")
  func objects() throws {
    let entry: [UInt8] = [0x81, 0x61, 0x95]
    for form in wideForms(of: 0) {
      #expect(try StowDecoder().decode([String: Int].self, from: [0x71] + form) == [:])
    }
    for form in wideForms(of: entry.count) {
      #expect(try StowDecoder().decode([String: Int].self, from: [0x71] + form + entry) == ["a": 5])
    }
  }
}
