import Foundation
import Stow
import Testing

/// Strings that are written and compared in different ways, and must come back as they were.
private let samples: [(name: String, texts: [String])] = [
  ("planes", planes.map { String(String.UnicodeScalarView($0)) }),
  ("forms", forms),
  ("edges of UTF-8", [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF].map(text)),
  ("noncharacters", (0...16).flatMap { plane in [0xFFFE, 0xFFFF].map { text(plane << 16 | $0) } }),
  ("controls", (0...0x20).map(text) + [0x7F, 0x85, 0xAD, 0x200B, 0x200D, 0x2028, 0x202E, 0xFEFF].map(text)),
  ("random", random),
]

private func text(_ value: UInt32) -> String { String(Unicode.Scalar(value)!) }

/// The first, the last and some scalars of every plane.
private let planes: [[Unicode.Scalar]] = (0...16).map { plane in
  ([0, 1, 0x41, 0x100, 0x1234, 0xABCD, 0xFFFC, 0xFFFD] as [UInt32]).map { Unicode.Scalar(plane << 16 | $0)! }
}

/// The normalization forms of strings for which they differ, and some that are in none.
private let forms: [String] = [
  "caf\u{E9}", "\u{212B}ngstr\u{F6}m", "\u{1E9B}\u{323}", "\u{D55C}\u{AE00}", "\u{FB03}", "\u{2460}\u{FF21}",
  "\u{1D15E}", "\u{2F800}", "q\u{307}\u{323}", "\u{958}", "\u{0F73}", "\u{3304}",
].flatMap { text in
  [
    text, text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping,
    text.precomposedStringWithCompatibilityMapping, text.decomposedStringWithCompatibilityMapping,
  ]
}

private let random: [String] = {
  var random = SeededGenerator(seed: 4)
  return (0..<40).map { _ in
    String(String.UnicodeScalarView((0...random.below(30)).map { _ in random.scalar() }))
  }
}()

@Suite("Bytes of strings")
struct StringPlaceTests {
  @Test("strings of every plane and normalization form keep their bytes in every place")
  func values() {
    forEachCase(of: samples.indices, Place.allCases) { (index: Int, place: Place) in
      for text in samples[index].texts { try expectExact(text, beside: "caf\u{E9}", in: place) }
    }
  }

  @Test("strings as keys of dictionaries keep their bytes")
  func dictionaryKeys() {
    forEachCase(of: samples.indices) { (index: Int) in
      for text in samples[index].texts {
        try expectExact([text: text], beside: ["a": "b"], in: .packed)
        try expectExact([text: 1, "other": 2], beside: ["other": 3], in: .cell)
      }
    }
  }

  @Test("strings in keys of dictionaries that are encoded as arrays keep their bytes")
  func pairs() {
    forEachCase(of: samples.indices) { (index: Int) in
      for text in samples[index].texts { try expectExact([[text]: text], beside: [:], in: .element) }
    }
  }

  @Test("strings as members of sets keep their bytes")
  func members() {
    forEachCase(of: samples.indices) { (index: Int) in
      try expectExact(Set(samples[index].texts), beside: [], in: .field)
    }
  }

  @Test("strings as coding keys keep their bytes")
  func codingKeys() {
    forEachCase(of: samples.indices) { (index: Int) in
      for text in samples[index].texts {
        let data = try message { encoder in
          var list = encoder.unkeyedContainer()
          for number in 0..<3 {
            var container = list.nestedContainer(keyedBy: AnyKey.self)
            try container.encode(number, forKey: AnyKey(text))
          }
        }
        let copy = try StowDecoder().decode([[String: Int]].self, from: data)
        #expect(copy.exactly == (0..<3).map { [text: $0] }.exactly)
      }
    }
  }

  @Test("strings that are values and keys in one message keep their bytes")
  func together() {
    forEachCase(of: samples.indices) { (index: Int) in
      let texts = samples[index].texts
      let records = texts.map { [$0: $0] } + texts.reversed().map { [$0: $0] }
      try expectExact(records, beside: [], in: .field)
    }
  }

  @Test("decoding strings as other types fails as in JSON")
  func wrongTypes() {
    for text in samples.flatMap(\.texts) where !text.isEmpty {
      expectFailsAsInJSON([Int].self, from: [text])
      expectFailsAsInJSON([String: [Double]].self, from: [text: [text]])
      expectFailsAsInJSON([String: UUID].self, from: [text: text])
    }
  }
}
