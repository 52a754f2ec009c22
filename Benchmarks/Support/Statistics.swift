import Foundation

/// The middle value (the mean of the two middle ones), or NaN of nothing: one slow round changes nothing.
func median(_ samples: [Double]) -> Double {
  guard !samples.isEmpty else { return .nan }
  let sorted = samples.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The geometric mean, the only fair mean of ratios; nil of nothing.
func geometricMean(_ ratios: [Double]) -> Double? {
  guard !ratios.isEmpty else { return nil }
  return exp(ratios.reduce(0) { $0 + log($1) } / Double(ratios.count))
}
