import Foundation
import FuzzTargets
import Stow
import Testing

/// Every example of FORMAT.md, and every way to break it by a cut or by one byte, through every target of the
/// fuzzers that reads messages.
@Suite("Mutated messages", .noBacktraces)
struct MutationTests {
  private static let messages = FuzzCorpus.inputs("Seeds")

  /// The messages of one of a few batches, so that they run beside each other.
  private static func batch(_ number: Int) -> [Data] {
    messages.indices.filter { $0 % batches == number }.map { messages[$0] }
  }

  private static let batches = 8
  /// Longer ones have no other bytes than the shorter.
  private static let longest = 100

  /// Reads bytes into a value of any kind and into records.
  private func read(_ bytes: Data) {
    for target in [FuzzTarget.generic, .records] {
      #expect(throws: Never.self, "\(Array(bytes))") { try bytes.withUnsafeBytes(target.run) }
    }
  }

  @Test("messages cut off at any place decode or throw", arguments: 0..<batches)
  func truncations(number: Int) {
    for message in Self.batch(number) {
      for length in 0..<min(message.count, Self.longest) { read(message.prefix(length)) }
    }
  }

  @Test("messages with any byte replaced decode or throw", arguments: 0..<batches)
  func substitutions(number: Int) {
    for message in Self.batch(number) where message.count <= Self.longest {
      for offset in message.indices {
        var bytes = message
        // In the longer ones a part of the values for each byte, all of them over some bytes.
        let step = message.count <= 3 ? 1 : message.count <= 16 ? 37 : 97
        for byte in stride(from: offset % step, to: 256, by: step) {
          bytes[offset] = UInt8(byte)
          read(bytes)
        }
      }
    }
  }

  @Test("every tag decodes or throws, alone and before bytes of all kinds")
  func tags() {
    for tag in UInt8.min...UInt8.max {
      read(Data([tag]))
      for next: UInt8 in [0, 1, 2, 0x7F, 0x80, 0xFC, 0xFD, 0xFE, 0xFF] {
        for rest in [0, 1, 2, 7, 8, 9, 16, 40] { read(Data([tag, next] + [UInt8](repeating: next, count: rest))) }
      }
    }
  }

  @Test("every reserved tag and element type is refused, wherever it occurs")
  func reserved() {
    for tag: UInt8 in [0x7D, 0x7E, 0x7F] {
      for message in [
        [tag], [0xE1, tag], [0xC3, 0x81, 0x61, tag], [0x1F, 0, 1, 1, 0x81, 0x61, 0xF0, 1, tag],
      ] {
        #expect(throws: DecodingError.self) { try StowDecoder().decode(JSONValue.self, from: message) }
      }
    }
    let types = (UInt8.min...UInt8.max).filter { type in
      switch type {
      case 0x01...0x0F, 0xA1...0xA6, 0xB1...0xB8, 0xC1...0xC7, 0xD1...0xD7: false
      case 0x10...0x9F: !(1...6).contains(type & 15) && !(9...14).contains(type & 15)
      default: true
      }
    }
    for type in types {
      let message = [0x74, 9, type] + [UInt8](repeating: 0, count: 8)
      #expect(throws: DecodingError.self) { try StowDecoder().decode(JSONValue.self, from: message) }
    }
  }

  @Test("every length and number one past its end is refused")
  func onePastTheEnd() {
    let messages: [[UInt8]] = [
      [0x1D, 2, 0x61], [0x19, 2, 0], [0x70, 2, 0x91], [0x71, 4, 0x81, 0x61, 0x91], [0x75, 2, 0],
      [0x32, 0x61],
      [0xE2, 0x91], [0xC4, 0x81, 0x61, 0x91], [0x1B, 2, 0], [0x7B, 4, 1, 1, 5], [0x1E, 0], [0x50],
      [0x1F, 1, 0x81, 0x61, 0, 0x51], [0x1F, 1, 0x81, 0x61, 0, 0x1E, 1], [0x1F, 2, 0x81, 0x61, 0, 0x50],
      [0x1F, 0, 1, 1, 0x81, 0x61, 0xF1, 1, 0x91], [0x1F, 0, 1, 1, 0x81, 0x61, 0x72, 1, 1, 0x91],
      [0x1F, 0, 1, 2, 0x81, 0x61, 0xF0, 1, 0x91], [0x1F, 0, 1, 1, 0xC0, 0xF0, 1, 0x91],
      [0x1F, 0, 1, 1, 0x81, 0x61, 0x7A, 3, 1, 1, 5], [0x74, 3, 0x0D, 3, 0],
    ]
    for message in messages {
      #expect(throws: DecodingError.self, "\(message)") { try StowDecoder().decode(JSONValue.self, from: message) }
      for length in [
        [0xFC, 0xFF, 0xFF, 0xFF, 0xFF], [0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      ] { read(Data(message.prefix(1) + length.map { UInt8($0) } + message.dropFirst(2))) }
    }
  }

  @Test("lengths that are longer than necessary are read")
  func overlong() throws {
    let lengths: [[UInt8]] = [[1], [0xFC, 1, 0, 0, 0], [0xFD, 1, 0, 0, 0, 0, 0, 0, 0]]
    for length in lengths {
      #expect(try StowDecoder().decode(String.self, from: [0x1D] + length + [0x61]) == "a")
      #expect(try StowDecoder().decode([Int].self, from: [0x70] + length + [0x91]) == [1])
      #expect(try StowDecoder().decode(Data.self, from: [0x19] + length + [5]) == Data([5]))
      #expect(
        try StowDecoder().decode([Float].self, from: [0x75] + length.map { $0 == 1 ? 4 : $0 } + [0, 0, 0, 0])
          == [0])
      let symbol = [0x1F] + length + [0x81, 0x61, 0, 0x50]
      #expect(try StowDecoder().decode(String.self, from: symbol) == "a")
      let record = [0x1F, 0] + length + length + [0x81, 0x61, 0xF0] + length + [0x91]
      #expect(try StowDecoder().decode([String: Int].self, from: record) == ["a": 1])
    }
  }
}
