import Foundation

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
  static func fixed(_ number: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", number) }

  private static func threeDigits(_ number: Double) -> String {
    fixed(number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}

/// What the figures were measured on, without anything that names a person or a place.
struct Machine: Codable {
  var system: String
  var architecture: String
  var processor: String
  var cores: Int
  var memory: UInt64
  var swift: String
  var optimized: Bool

  /// The machine this process runs on.
  static var current: Machine {
    let info = ProcessInfo.processInfo
    return Machine(
      system: info.operatingSystemVersionString, architecture: architectureName, processor: processorName,
      cores: info.activeProcessorCount, memory: info.physicalMemory, swift: compilerVersion,
      optimized: isOptimized)
  }

  /// One line for the foot of a report.
  var description: String {
    "\(processor), \(cores) cores, \(system), \(architecture), Swift \(swift)"
      + (optimized ? "" : ", NOT OPTIMIZED: use -c release")
  }

  /// Whether the figures mean anything: times of a debug build do not.
  static var isOptimized: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  private static var architectureName: String {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other architecture"
    #endif
  }

  /// The model, where the system tells.
  private static var processorName: String {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last.map(String.init) ?? "unknown processor"
    return name.split(separator: " ").joined(separator: " ")
  }

  private static var compilerVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
