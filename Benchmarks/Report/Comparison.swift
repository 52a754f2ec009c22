/// A run held against an earlier one. Ratios to JSON are compared, not times: JSON is measured in the same
/// minute on the same machine, so it takes the machine out of the figures. Sizes are the same in every run.
struct Comparison {
  private let pairs: [(old: PayloadResult, new: PayloadResult)]
  private let tolerance: Double

  /// Compares the payloads that both reports have. `tolerance` is in percent; 40 if none is given, for ratios differ by
  /// a third between runs on a busy machine.
  init(baseline: Report, current: Report, tolerance: Double?) {
    let old = Dictionary(baseline.payloads.map { ($0.name, $0) }) { first, _ in first }
    pairs = current.payloads.compactMap { new in old[new.name].map { (old: $0, new: new) } }
    self.tolerance = tolerance ?? 40
  }

  /// Whether there was anything to compare.
  var isEmpty: Bool { pairs.isEmpty }

  /// What became worse than the tolerance allows, a line for each.
  var regressions: [String] {
    pairs.flatMap { old, new in
      var lines: [String] = []
      if new.bytes.stow > old.bytes.stow {
        lines.append("\(new.name): size grew from \(old.bytes.stow) to \(new.bytes.stow) bytes")
      }
      return lines + speedRegressions(old, new)
    }
  }

  /// The names of payloads that are coded more slowly than the tolerance allows.
  var slower: Set<String> {
    Set(pairs.filter { old, new in !speedRegressions(old, new).isEmpty }.map(\.new.name))
  }

  /// Old and new figures side by side.
  var table: Table {
    var columns = [Table.Column(title: "payload", isText: true)]
    for group in ["bytes", "encode, x JSON", "decode, x JSON"] {
      columns += ["before", "now", "change"].map { Table.Column(group: group, title: $0) }
    }
    return Table(
      title: "Against the baseline (tolerance \(Figures.fixed(tolerance, 0)) %)", columns: columns,
      rows: pairs.map { old, new in
        [
          new.name, Figures.count(old.bytes.stow), Figures.count(new.bytes.stow),
          Figures.change(from: Double(old.bytes.stow), to: Double(new.bytes.stow)),
        ] + cells(old.encode?.stowRatio, new.encode?.stowRatio)
          + cells(old.decode?.stowRatio, new.decode?.stowRatio)
      })
  }

  /// What became slower than the tolerance allows.
  private func speedRegressions(_ old: PayloadResult, _ new: PayloadResult) -> [String] {
    regression("\(new.name): encode", old.encode?.stowRatio, new.encode?.stowRatio)
      + regression("\(new.name): decode", old.decode?.stowRatio, new.decode?.stowRatio)
  }

  /// A line if a ratio fell too far.
  private func regression(_ name: String, _ old: Double?, _ new: Double?) -> [String] {
    guard let old, let new, new < old * (1 - tolerance / 100) else { return [] }
    return ["\(name) fell from \(Figures.ratio(old)) to \(Figures.ratio(new)) times JSON's speed"]
  }

  /// A ratio before and now.
  private func cells(_ old: Double?, _ new: Double?) -> [String] {
    guard let old, let new else { return [Figures.ratio(old), Figures.ratio(new), Figures.none] }
    return [Figures.ratio(old), Figures.ratio(new), Figures.change(from: old, to: new)]
  }
}
