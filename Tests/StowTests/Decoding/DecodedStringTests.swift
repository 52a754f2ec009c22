import Foundation
import Stow
import Testing

/// Strings of middling length are made in a way of their own, so nothing may tell them from others.
@Suite("Decoded strings")
struct DecodedStringTests {
  private static let counts = [1, 14, 15, 16, 17, 30, 31, 32, 33, 46, 47, 48, 49, 62, 63, 64, 65, 66, 100]

  private static func text(_ count: Int) -> String {
    String(decoding: (0..<count).map { UInt8(ascii: "0") + UInt8($0 % 71) }, as: UTF8.self)
  }

  @Test("decoded strings are equal to others, and ordered and hashed like them")
  func compared() {
    forEachCase(of: Self.counts) { (count: Int) in
      let text = Self.text(count)
      let decoded = try roundTrip([text, "\(text)!"])
      #expect(decoded == [text, text + "!"])
      #expect(decoded[0].hashValue == text.hashValue)
      #expect(decoded[0] < decoded[1] && !(decoded[0] < text) && decoded[0] > String(text.dropLast()))
      #expect(Set(decoded).isSuperset(of: [text]))
    }
  }

  @Test("decoded strings have the same bytes, characters and UTF-16 as others")
  func views() {
    forEachCase(of: Self.counts) { (count: Int) in
      let text = Self.text(count)
      var decoded = try roundTrip(text)
      #expect(decoded.count == count && decoded.utf8.count == count && decoded.utf16.count == count)
      #expect(decoded.elementsEqual(text) && decoded.utf16.elementsEqual(text.utf16))
      #expect(Array(decoded.utf8CString) == Array(text.utf8CString))
      #expect(strlen(decoded) == count)
      let middle = decoded.utf16.index(decoded.startIndex, offsetBy: count / 2)
      #expect(decoded[middle] == text[text.index(text.startIndex, offsetBy: count / 2)])
      #expect(decoded.withUTF8 { Array($0) } == Array(text.utf8))
      #expect(decoded.uppercased() == text.uppercased())
      #expect((decoded as any CustomStringConvertible).description == text)
      #expect((decoded as NSString).length == count)
    }
  }

  @Test("decoded strings can be changed without a change to their copies")
  func changed() {
    forEachCase(of: Self.counts) { (count: Int) in
      let text = Self.text(count)
      let decoded = try roundTrip(text)
      var long = decoded
      var expected = text
      for number in 0..<200 {
        long += "\(number)"
        expected += "\(number)"
        #expect(long == expected)
      }
      var short = decoded
      while !short.isEmpty { short.removeLast() }
      var replaced = decoded
      replaced.replaceSubrange(replaced.startIndex...replaced.startIndex, with: "é")
      #expect(replaced == "é" + text.dropFirst())
      var own = try roundTrip(text)
      own.append("é")
      own.reserveCapacity(1000)
      #expect(own == text + "é" && decoded == text)
    }
  }

  @Test("decoded strings can be kept by many tasks", arguments: counts)
  func kept(count: Int) async throws {
    let text = Self.text(count)
    let decoded = try roundTrip(Array(repeating: text, count: 50).enumerated().map { "\($1)\($0 % 7)" })
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask { decoded.enumerated().allSatisfy { $1 == "\(text)\($0 % 7)" } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test("strings with one character of two bytes are decoded, wherever it is")
  func nearlyASCII() {
    forEachCase(of: Self.counts) { (count: Int) throws in
      let text = Self.text(count)
      for offset in 0...count {
        let one = text.prefix(offset) + "é" + text.dropFirst(offset)
        #expect(try roundTrip([String(one), text]) == [String(one), text])
      }
    }
  }

  @Test("strings are not decoded from bytes that are not UTF-8, wherever they are")
  func refused() {
    forEachCase(of: Self.counts) { (count: Int) in
      let message = try StowEncoder().encode(Self.text(count))
      for offset in message.count - count..<message.count {
        for byte: UInt8 in [0x80, 0xC3, 0xED, 0xFF] {
          var broken = message
          broken[offset] = byte
          #expect(throws: DecodingError.self) { try StowDecoder().decode(String.self, from: broken) }
        }
      }
    }
  }
}
