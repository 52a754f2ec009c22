/// Tables of where bytes go.
enum SizeTable {
  /// A line of a table: bytes, and what they are.
  struct Line {
    let size: Int
    let count: Int?
    let name: String
  }

  /// Returns a line for each path, with all bytes below it, the largest first among those of one tree.
  ///
  /// - Parameter least: Trees of fewer bytes are left out.
  static func lines(of tree: SizeTree, least: Int) -> [Line] {
    var lines: [Line] = []
    add(tree, path: "", least, &lines)
    return lines
  }

  private static func add(_ tree: SizeTree, path: String, _ least: Int, _ lines: inout [Line]) {
    let path = path.isEmpty && tree.step.hasPrefix(".") ? String(tree.step.dropFirst()) : path + tree.step
    lines.append(
      Line(size: tree.total, count: path.isEmpty ? nil : tree.count, name: path.isEmpty ? "(all)" : path))
    for below in tree.below.sorted(by: { $0.total > $1.total }) where below.total >= least {
      add(below, path: path, least, &lines)
    }
  }

  /// - Parameter whole: The size that percentages refer to.
  static func text(_ lines: [Line], of whole: Int) -> [String] {
    lines.map { line in
      let share = Words.thousandths(line.size, of: whole)
      let percent = Words.padded("\(share / 10).\(share % 10) %", 8, right: true)
      let count = Words.padded(line.count.map { "\(Words.number($0)) ×" } ?? "", 14, right: true)
      return "\(Words.padded(Words.number(line.size), 14, right: true))\(percent)\(count)  \(line.name)"
    }
  }
}
