import Foundation
import Stow
import Testing

@Suite("Parts of hostile messages")
struct HostilePartTests {
  @Test(
    "the depth limit applies on the path to a part, within it and within each element",
    arguments: DeepMessage.allCases)
  func depth(_ kind: DeepMessage) throws {
    let step: StowPath.Step = kind == .array ? .index(0) : .key("a")
    for depth in [1, 5, 60, 511, 512, 513, 2000] {
      let data = Data(kind.bytes(depth: depth))
      let decoder = StowDecoder()
      let fits = depth <= decoder.maximumDepth
      let message = try decoder.message(from: data)
      for length in [0, 1, depth / 2, depth - 1, depth] {
        let path = StowPath(repeatElement(step, count: length))
        let each = StowPath(Array(repeatElement(step, count: max(0, length - 1))) + [.each])
        if fits {
          #expect(
            try message.decode(StowValue.self, at: path)
              == decoder.decode(StowValue.self, from: data).at(path))
          #expect(throws: Never.self) { try message.decode(StowValue.self, at: length == 0 ? [] : each) }
        } else {
          #expect(throws: DecodingError.self) { try message.decode(StowValue.self, at: path) }
          #expect(throws: DecodingError.self) { try decoder.decode(StowValue.self, from: data, at: path) }
          #expect(throws: DecodingError.self) { try message.decode(StowValue.self, at: each) }
        }
      }
    }
  }

  @Test("nesting elsewhere does not matter, and a lower limit counts from the top")
  func limits() throws {
    let decoder = StowDecoder()
    decoder.maximumDepth = 3
    let deep: StowValue = [[[[[1]]]], [[2]], 3]
    let message = try decoder.message(from: deep.encoded())
    #expect(try message.decode([[Int]].self, at: [1]) == [[2]])
    #expect(try message.decode(Int.self, at: [1, 0, 0]) == 2)
    #expect(throws: DecodingError.self) { try message.decode(StowValue.self, at: [0]) }
    #expect(throws: DecodingError.self) { try message.decode(StowValue.self, at: [0, 0, 0, 0]) }
    #expect(throws: DecodingError.self) { try message.decode([StowValue].self, at: [.each]) }
    #expect(throws: DecodingError.self) { try message.elements(at: [0, 0, 0]) }
    #expect(try message.decode([StowValue?].self, at: [1, .each]).count == 1)
  }

  @Test("wrong lengths and counts are refused")
  func lengths() throws {
    let huge: [UInt8] = [0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    let messages: [[UInt8]] = [
      [0xE9] + huge, [0x70, 10, 0x1D] + huge, [0x70, 10, 0x70] + huge, [0x70, 10, 0x71] + huge,
      [0x70, 10, 0x74] + huge, [0x70, 10, 0x7A] + huge, [0x70, 10, 0x7B] + huge, [0x70, 10, 0xF0] + huge,
      [0x70, 12, 0x7B, 10] + huge + [5], [0x70, 13, 0x74, 11, 0x0D] + huge + [5],
      [0x1F] + huge, [0x1F, 0] + huge, [0x1F, 0, 1] + huge, [0xE2, 0xF0, 0], [0xE3, 0x7A, 1, 0],
      [0xE1, 0x50],
      [0xE4, 0x74, 2, 0x01, 0x05, 0x00], [0xE2, 0xF8, 0x00], [],
    ]
    for bytes in messages {
      guard let message = try? StowMessage(from: Data(bytes)) else { continue }
      for path in [[0], [1], [.each], [0, 0], [0, "a"], [0, .each, 0], [.index(.max)], [0, .index(.max)]]
        as [StowPath]
      {
        #expect(throws: DecodingError.self, "\(bytes) \(path)") { try message.decode(StowValue.self, at: path) }
        _ = try? message.count(at: path)
        _ = try? message.keys(at: path)
        _ = try? message.contains(path)
        _ = try? message.elements(at: path).map { try $0.decode(StowValue?.self) }
      }
    }
  }

  @Test("elements of a long array are read correctly in any order")
  func marks() throws {
    var bytes: [UInt8] = [0x70, 0xFC, 0xA0, 0x86, 0x01, 0x00]
    bytes += (0..<100_000).map { 0x80 + UInt8($0 % 64) }
    let message = try StowMessage(from: Data(bytes))
    var random = SeededGenerator(seed: 75)
    for _ in 0..<2000 {
      let index = random.below(100_100)
      let expected = index < 100_000 ? index % 64 - 16 : nil
      #expect(try message.decode(Int?.self, at: [.index(index)]) == expected)
    }
    #expect(try message.count() == 100_000)
    #expect(try message.count() == 100_000)
    #expect(try message.decode(Int?.self, at: [.index(.max)]) == nil)
  }

  @Test("a repeated key is refused wherever it is passed over")
  func repeatedKeys() throws {
    let twice = try StowMessage(from: Data([0xC6, 0x81, 0x61, 0x91, 0x81, 0x61, 0x92]))
    #expect(throws: DecodingError.self) { try twice.keys() }
    #expect(throws: DecodingError.self) { try twice.elements() }
    #expect(throws: DecodingError.self) { try twice.decode([Int].self, at: [.each]) }
    #expect(throws: DecodingError.self) { try twice.decode(Int.self, at: ["b"]) }
  }
}

extension StowValue {
  fileprivate func at(_ path: StowPath) -> StowValue? {
    path.steps.reduce(self) { (value: StowValue?, step) in
      switch step {
      case .key(let key): value?[key]
      case .index(let index): value?[index]
      case .each: nil
      }
    }
  }
}
