import Foundation

/// Random numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// True once in so many times.
  mutating func oneIn(_ limit: Int) -> Bool { below(limit) == 0 }
}

extension SeededGenerator {
  /// Some seeds; others or more with `STOW_SEEDS=100-200`.
  static func seeds(_ count: UInt64) -> Range<UInt64> {
    let asked = ProcessInfo.processInfo.environment["STOW_SEEDS"]?.split(separator: "-").compactMap { UInt64($0) }
    guard let asked, asked.count == 2, asked[0] < asked[1] else { return 0..<count }
    return asked[0]..<asked[1]
  }
}
