import Foundation

extension Report {
  /// All tables of the report, in reading order.
  var tables: [Table] {
    var tables: [Table] = []
    if !payloads.isEmpty { tables += [overview, times] }
    if let cold { tables.append(Self.table(cold: cold)) }
    if let generic { tables.append(Self.table(generic: generic)) }
    if let growth { tables.append(Self.table(growth: growth)) }
    if let memory { tables.append(Self.table(memory: memory)) }
    if let threads { tables.append(Self.table(threads: threads)) }
    if let log { tables += log.tables }
    if let parts { tables += parts.tables }
    return tables
  }

  /// The report as plain text or Markdown.
  func render(_ form: (Table) -> String) -> String {
    (tables.map(form) + ["Measured on \(machine.description)."]).joined(separator: "\n\n") + "\n"
  }

  /// Whether property lists were measured: a column of dashes helps nobody.
  private var hasPropertyLists: Bool { payloads.contains { $0.bytes.plist != nil } }

  /// Sizes and ratios.
  private var overview: Table {
    let plist = hasPropertyLists
    var columns = [Table.Column(title: "payload", isText: true)]
    columns += (plist ? ["Stow", "JSON", "plist", "share"] : ["Stow", "JSON", "share"]).map {
      Table.Column(group: "bytes", title: $0)
    }
    for group in ["encode", "decode"] {
      columns += (plist ? ["Stow", "table", "plist", "calls"] : ["Stow", "table", "calls"]).map {
        Table.Column(group: "\(group), x JSON", title: $0)
      }
    }
    func ratios(
      _ stow: Double?, tabled: Double? = nil, _ plistRatio: Double?, _ floor: Double?
    ) -> [String] {
      [Figures.ratio(stow), tabled.map { Figures.ratio($0) } ?? ""]
        + (plist ? [Figures.ratio(plistRatio)] : []) + [Figures.ratio(floor)]
    }
    let rows = payloads.map { result in
      [result.name, Figures.count(result.bytes.stow), Figures.count(result.bytes.json)]
        + (plist ? [Figures.count(result.bytes.plist)] : []) + [Figures.percent(result.sizeShare)]
        + ratios(
          result.encode?.stowRatio, tabled: result.encode?.tabledRatio, result.encode?.plistRatio,
          result.encode?.floorRatio)
        + ratios(
          result.decode?.stowRatio, tabled: result.decode?.tabledRatio, result.decode?.plistRatio,
          result.decode?.floorRatio)
    }
    let foot = means.map { mean in
      ["mean of \(mean.payloads) (\(mean.name))", "", ""] + (plist ? [""] : [])
        + [Figures.percent(mean.sizeShare)]
        + ratios(mean.encodeRatio, mean.encodePlistRatio, mean.encodeFloorRatio)
        + ratios(mean.decodeRatio, mean.decodePlistRatio, mean.decodeFloorRatio)
    }
    return Table(
      title: "Size and speed against Foundation's JSON", columns: columns, rows: rows, footRows: foot,
      notes: [
        "share: Stow's bytes in percent of JSON's. x JSON: how many times as fast as JSON (above 1: faster).",
        "table: Stow with a table of fields, where the types of a payload have one.",
        "calls: Codable's calls alone, one for each value, to a coder that does nothing with them. Stow does without",
        "those for the elements of whole arrays and dictionaries, and so may be faster.",
        "Means are geometric.",
      ])
  }

  /// The times behind the ratios.
  private var times: Table {
    let plist = hasPropertyLists
    var columns = [Table.Column(title: "payload", isText: true)]
    for group in ["encode", "decode"] {
      columns += (plist ? ["Stow", "table", "JSON", "plist", "calls"] : ["Stow", "table", "JSON", "calls"])
        .map {
          Table.Column(group: group, title: $0)
        }
    }
    func cells(_ timing: Timing?) -> [String] {
      [Figures.time(timing?.stow), timing?.tabled.map { Figures.time($0) } ?? "", Figures.time(timing?.json)]
        + (plist ? [Figures.time(timing?.plist)] : [])
        + [Figures.time(timing?.floor)]
    }
    return Table(
      title: "Times (medians)", columns: columns,
      rows: payloads.map { [$0.name] + cells($0.encode) + cells($0.decode) },
      notes: payloads.filter { $0.calls > 1 }.map {
        "\($0.name): the sum of \(Figures.count($0.calls)) calls."
      })
  }

  /// First calls.
  private static func table(cold: [ColdResult]) -> Table {
    Table(
      title: "Cold start: \(ColdStart.summary)",
      columns: [.init(title: "codec", isText: true), .init(title: "encode"), .init(title: "decode")],
      rows: cold.map { [$0.codec, Figures.time($0.encode), Figures.time($0.decode)] })
  }

  /// Documents as several types.
  private static func table(generic: [GenericResult]) -> Table {
    Table(
      title: "Documents as types that hold any value",
      columns: [
        .init(title: "document", isText: true), .init(title: "type", isText: true), .init(title: "encode"),
        .init(title: "decode"),
      ],
      rows: generic.flatMap { result in
        result.times.map {
          [result.document, $0.side, Figures.time($0.encode), Figures.time($0.decode)]
        }
      })
  }

  /// Time of a record among many.
  private static func table(growth: [GrowthResult]) -> Table {
    Table(
      title: "Growth: time per record",
      columns: [
        .init(title: "payload", isText: true), .init(title: "records"), .init(group: "encode", title: "Stow"),
        .init(group: "encode", title: "JSON"), .init(group: "encode", title: "calls"),
        .init(group: "decode", title: "Stow"), .init(group: "decode", title: "JSON"),
      ],
      rows: growth.map {
        [
          $0.payload, Figures.count($0.records), Figures.time($0.stowEncode), Figures.time($0.jsonEncode),
          Figures.time($0.floorEncode), Figures.time($0.stowDecode), Figures.time($0.jsonDecode),
        ]
      })
  }

  /// Peaks.
  private static func table(memory: [MemoryResult]) -> Table {
    Table(
      title: "Memory: peak beyond the value (and, decoding, beyond the bytes read)",
      columns: [
        .init(title: "payload", isText: true), .init(title: "codec", isText: true), .init(title: "value"),
        .init(title: "output"), .init(group: "peak", title: "encoding"),
        .init(group: "peak", title: "decoding"),
      ],
      rows: memory.map {
        [
          "\(Figures.count($0.count)) \($0.payload)", $0.codec, Figures.memory($0.value),
          Figures.memory($0.output), Figures.memory($0.encodePeak), Figures.memory($0.decodePeak),
        ]
      })
  }

  /// Throughput.
  private static func table(threads: [ThreadsResult]) -> Table {
    Table(
      title: "Threads: calls a second",
      columns: [
        .init(title: "work", isText: true), .init(title: "1 thread"), .init(title: "2 threads"),
        .init(title: "gain"),
      ],
      rows: threads.map {
        [
          $0.name, Figures.count(Int($0.oneThread)), Figures.count(Int($0.twoThreads)),
          Figures.ratio($0.twoThreads / $0.oneThread),
        ]
      })
  }
}

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
  static func fixed(_ number: Double, _ decimals: Int) -> String {
    String(format: "%.\(decimals)f", number)
  }

  private static func threeDigits(_ number: Double) -> String {
    fixed(number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0)
  }
}
