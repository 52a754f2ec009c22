import Stow
import Testing

/// The least signed width of an integer in bytes.
private func width(_ value: Int64) -> Int { (1...8).first { value >> (8 * $0 - 1) == value >> 63 } ?? 8 }

private func ownWidth(_ value: Int64) -> Int { value == 0 ? 0 : width(value) }

private func taggedSize(_ value: Int64) -> Int { (-16...47).contains(value) ? 1 : 1 + width(value) }

/// The size of an unsigned integer as FORMAT.md writes them.
private func size(ofCount count: Int) -> Int { count < 224 ? 1 : count < 6368 ? 2 : count < 268_512 ? 3 : 5 }

/// The size of a message that is an array of `values`, by the rules of Format/Canonical.md, "Arrays of integers".
private func ruledSize(_ values: [Int64]) -> Int {
  let (count, least, greatest) = (values.count, values.min() ?? 0, values.max() ?? 0)
  let differences = zip(values.dropFirst(), values).map { $0 &- $1 }
  func ownWidths(_ elements: [Int64]) -> Int {
    size(ofCount: count) + (count + 1) / 2 + elements.reduce(0) { $0 + ownWidth($1) }
  }
  let signed = values.reduce(1) { max($0, width($1)) }
  let unsigned = (1...8).first { least >= 0 && UInt64(greatest) >> (8 * $0 - 1) <= 1 }
  let fixed = min(signed, unsigned ?? 8)
  var others: [Int] = []
  if let offset = (1...7).first(where: { UInt64(bitPattern: greatest &- least) >> (8 * $0 - 1) <= 1 }) {
    others.append(taggedSize(least) + count * offset)
  }
  others.append(ownWidths(values))
  let sample = 1...min(64, count - 1)
  let sampled = sample.reduce(0) { $0 + ownWidth(values[$1]) }
  if sample.reduce(0, { $0 + ownWidth(differences[$1 - 1]) }) < sampled {
    others.append(1 + width(values[0]) + (count - 1) * differences.reduce(1) { max($0, width($1)) })
    others.append(ownWidths([values[0]] + differences))
  }
  // Before the body stands its type.
  let best = 1 + min(count * fixed, others.min() ?? .max)
  let tagged = values.reduce(0) { $0 + taggedSize($1) }
  return min(1 + size(ofCount: best) + best, 1 + (tagged < 16 ? 0 : size(ofCount: tagged)) + tagged)
}

@Suite("Forms of arrays of integers")
struct IntegerFormTests {
  @Test("a few small integers are written as an array with tags")
  func fewSmall() throws {
    for count in 2..<20 {
      let values = (0..<count).map { [5, 44, 3, 41, 7, 39][$0 % 6] as Int64 }
      #expect(try StowEncoder().encode(values).count == ruledSize(values), "\(count)")
    }
  }

  @Test("differences are written only if the first of them take fewer bytes than the values")
  func sampledDifferences() throws {
    // After the first 65 values, differences take an eighth of the bytes.
    let ascending = (0..<100).map { 1 << 60 + $0 as Int64 }
    let asMany = (0...64).map { 1 + $0 % 2 as Int64 } + ascending
    let fewer = [1] + asMany.dropLast()
    #expect(try StowEncoder().encode(asMany).count == ruledSize(asMany))
    #expect(try StowEncoder().encode(fewer).count == ruledSize(fewer))
    #expect(ruledSize(fewer) * 2 < ruledSize(asMany))
  }

  /// Most elements are of one width, with others at any place.
  @Test("the smallest form is written, wherever the elements are that decide it")
  func smallest() {
    forEachCase(of: [2, 17, 63, 64, 65, 1024, 1025, 2600]) { (count: Int) in
      var random = SeededGenerator(seed: UInt64(count))
      func integer(_ bits: Int) -> Int64 { bits == 0 ? 0 : Int64(bitPattern: random.next()) >> (64 - bits) }
      for _ in 0..<(count > 1000 ? 20 : 60) {
        let base = integer(Int.random(in: 0...64, using: &random))
        let bits = Int.random(in: 0...64, using: &random)
        var values = (0..<count).map { _ in base &+ integer(bits) }
        if Bool.random(using: &random) { values.sort() }
        let others = Int.random(in: 0...count, using: &random) >> Int.random(in: 0...12, using: &random)
        for _ in 0..<others {
          values[Int.random(in: 0..<count, using: &random)] = integer(Int.random(in: 0...64, using: &random))
        }
        let data = try StowEncoder().encode(values)
        #expect(data.count == ruledSize(values), "\(values.prefix(8)), \(others) others")
        #expect(try StowDecoder().decode([Int64].self, from: data) == values)
      }
    }
  }
}
