/// A seeded generator (SplitMix64) with the few draws the payloads need, the same on every machine and
/// for every version of the standard library.
struct RandomSource {
  private var state: UInt64

  /// Starts a sequence that depends on `seed` alone.
  init(seed: UInt64) { state = seed }

  /// 64 random bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number of `range`, each as likely.
  mutating func int(in range: ClosedRange<Int>) -> Int {
    let width = UInt64(range.upperBound - range.lowerBound) + 1
    return range.lowerBound + Int(next().multipliedFullWidth(by: width).high)
  }

  /// A fraction from 0 up to 1 with all 53 bits random.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number of `range` with random bits to the last.
  mutating func double(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + unit() * (range.upperBound - range.lowerBound)
  }

  /// A number of `range` with random bits to the last.
  mutating func float(in range: ClosedRange<Float>) -> Float {
    range.lowerBound + Float(next() >> 40) * 0x1p-24 * (range.upperBound - range.lowerBound)
  }

  /// True with the given probability.
  mutating func chance(_ probability: Double) -> Bool { unit() < probability }

  /// One element, each as likely.
  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[int(in: 0...elements.count - 1)]
  }

  /// What `make` returns, or nil when the die says so: an optional field.
  mutating func maybe<Value>(_ probability: Double, _ make: (inout RandomSource) -> Value) -> Value? {
    chance(probability) ? make(&self) : nil
  }

  /// As many made values as a number of `range` says.
  mutating func array<Element>(
    _ range: ClosedRange<Int>, _ make: (inout RandomSource) -> Element
  ) -> [Element] {
    let count = int(in: range)
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(make(&self)) }
    return elements
  }

  /// `count` made values.
  mutating func array<Element>(
    count: Int, _ make: (inout RandomSource) -> Element
  ) -> [Element] {
    array(count...count, make)
  }

  /// Words of the vocabulary with a space between, as many as a number of `range` says.
  mutating func sentence(_ range: ClosedRange<Int>) -> String {
    array(range) { $0.pick(Vocabulary.words) }.joined(separator: " ")
  }

  /// `count` hexadecimal digits.
  mutating func hex(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in Vocabulary.hexDigits[int(in: 0...15)] }, as: UTF8.self)
  }
}
