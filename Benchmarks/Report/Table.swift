/// A table with a title, that can be shown as plain text or in Markdown.
struct Table {
  /// A column: its head, and the head it shares with its neighbours.
  struct Column {
    var group = ""
    var title: String
    var isText = false
  }

  var title: String
  var columns: [Column]
  var rows: [[String]]
  /// Rows below a line: sums and means.
  var footRows: [[String]] = []
  /// What the reader has to know of the figures.
  var notes: [String] = []

  /// The table in columns of their least width, with two spaces between.
  var text: String {
    let widths = widths
    var lines = [title, ""]
    if columns.contains(where: { !$0.group.isEmpty }) { lines.append(groupLine(widths)) }
    lines.append(line(columns.map(\.title), widths))
    let rule = String(repeating: "-", count: width(of: columns.indices, widths))
    lines.append(rule)
    lines += rows.map { line($0, widths) }
    if !footRows.isEmpty { lines += [rule] + footRows.map { line($0, widths) } }
    if !notes.isEmpty { lines += [""] + notes }
    return lines.joined(separator: "\n")
  }

  /// The table with pipes.
  var markdown: String {
    let heads = columns.map { $0.group.isEmpty ? $0.title : "\($0.group): \($0.title)" }
    var lines = ["### \(title)", "", pipes(heads), pipes(columns.map { $0.isText ? ":--" : "--:" })]
    lines += rows.map(pipes)
    lines += footRows.map { pipes($0.map { cell in cell.isEmpty ? cell : "**\(cell)**" }) }
    if !notes.isEmpty { lines += [""] + notes }
    return lines.joined(separator: "\n")
  }

  /// One row of text.
  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = zip(columns.indices, cells).map { index, cell in
      let space = String(repeating: " ", count: widths[index] - cell.count)
      return columns[index].isText ? cell + space : space + cell
    }
    return trimmed(padded.joined(separator: "  "))
  }

  /// The heads that neighbours share, each in the middle of a line over all of them.
  private func groupLine(_ widths: [Int]) -> String {
    let parts = groups.map { range in
      let width = width(of: range, widths)
      let group = columns[range.lowerBound].group
      guard !group.isEmpty else { return String(repeating: " ", count: width) }
      let fill = width - group.count - 2
      return String(repeating: "-", count: fill / 2) + " \(group) "
        + String(repeating: "-", count: fill - fill / 2)
    }
    return trimmed(parts.joined(separator: "  "))
  }

  /// Runs of columns with the same group.
  private var groups: [Range<Int>] {
    var groups: [Range<Int>] = []
    var start = 0
    while start < columns.count {
      let end = columns[start...].firstIndex { $0.group != columns[start].group } ?? columns.count
      groups.append(start..<end)
      start = end
    }
    return groups
  }

  /// What each column needs for its cells, and more if the head of its group needs it.
  private var widths: [Int] {
    var widths = columns.indices.map { index in
      (rows + footRows).reduce(columns[index].title.count) { max($0, $1[index].count) }
    }
    for range in groups where !columns[range.lowerBound].group.isEmpty {
      let missing = columns[range.lowerBound].group.count + 2 - width(of: range, widths)
      if missing > 0 { widths[range.lowerBound] += missing }
    }
    return widths
  }

  /// The width of neighbouring columns with the spaces between.
  private func width(of range: Range<Int>, _ widths: [Int]) -> Int {
    widths[range].reduce(0, +) + 2 * (range.count - 1)
  }

  private func pipes(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  private func trimmed(_ line: String) -> String {
    var line = line[...]
    while line.last == " " { line.removeLast() }
    return String(line)
  }
}
