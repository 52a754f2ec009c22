import Foundation

/// Figures as people read them, in few characters.
enum Figures {
  /// What stands where there is no figure.
  static let none = "–"

  /// A whole number with commas: `1,048,576`.
  static func count(_ number: Int?) -> String {
    guard let number else { return none }
    var digits = String(number.magnitude)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }

  /// A ratio with two or three digits that count: `0.87`, `3.4`, `12.6`, `1,587`, `2.1M`.
  static func ratio(_ ratio: Double?) -> String {
    guard let ratio, ratio.isFinite else { return none }
    switch ratio {
    case ..<10: return fixed(ratio, 2)
    case ..<100: return fixed(ratio, 1)
    case ..<10_000: return count(Int(ratio.rounded()))
    case ..<999_500: return fixed(ratio / 1000, 0) + "k"
    default: return fixed(ratio / 1e6, 1) + "M"
    }
  }

  /// A share: `23.1 %`.
  static func percent(_ percent: Double?) -> String {
    guard let percent, percent.isFinite else { return none }
    return fixed(percent, 1) + " %"
  }

  /// A time in the unit that suits it: `431 ns`, `12.3 µs`, `1.25 ms`, `2.11 s`.
  static func time(_ nanoseconds: Double?) -> String {
    guard let nanoseconds, nanoseconds.isFinite else { return none }
    switch nanoseconds {
    case ..<999.5: return threeDigits(nanoseconds) + " ns"
    case ..<999.5e3: return threeDigits(nanoseconds / 1e3) + " µs"
    case ..<999.5e6: return threeDigits(nanoseconds / 1e6) + " ms"
    default: return threeDigits(nanoseconds / 1e9) + " s"
    }
  }

  /// An amount of memory: `64.2 MiB`.
  static func memory(_ bytes: Int) -> String { fixed(Double(bytes) / 1_048_576, 1) + " MiB" }

  /// A change: `+3.2 %`.
  static func change(from old: Double, to new: Double) -> String {
    let change = (new / old - 1) * 100
    return (change >= 0.05 ? "+" : "") + fixed(abs(change) < 0.05 ? 0 : change, 1) + " %"
  }

  /// A number with so many decimals.
  static func fixed(_ number: Double, _ decimals: Int) -> String {
    String(format: "%.\(decimals)f", number)
  }

  private static func threeDigits(_ number: Double) -> String {
    fixed(number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}
