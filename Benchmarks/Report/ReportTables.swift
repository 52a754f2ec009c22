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
    func ratios(_ stow: Double?, tabled: Double? = nil, _ plistRatio: Double?, _ floor: Double?) -> [String] {
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
        .map { Table.Column(group: group, title: $0) }
    }
    func cells(_ timing: Timing?) -> [String] {
      [Figures.time(timing?.stow), timing?.tabled.map { Figures.time($0) } ?? "", Figures.time(timing?.json)]
        + (plist ? [Figures.time(timing?.plist)] : [])
        + [Figures.time(timing?.floor)]
    }
    return Table(
      title: "Times (medians)", columns: columns,
      rows: payloads.map { [$0.name] + cells($0.encode) + cells($0.decode) },
      notes: payloads.filter { $0.calls > 1 }.map { "\($0.name): the sum of \(Figures.count($0.calls)) calls." })
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
        result.times.map { [result.document, $0.side, Figures.time($0.encode), Figures.time($0.decode)] }
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
