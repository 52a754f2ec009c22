/// A command line that makes no sense.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// What the command line asks for.
struct Options {
  /// What the report is written as.
  enum Format: String, CaseIterable {
    case text, markdown, json, svg
  }

  /// The hidden options child processes are started with.
  static let payloadChild = "--payload-child"
  static let coldChild = "--cold-child"
  static let growthChild = "--growth-child"
  static let memoryChild = "--memory-child"
  static let logChild = "--log-child"
  static let genericChild = "--generic-child"
  static let countChild = "--count-child"

  var help = false
  var list = false
  var full = false
  var all = false
  var growth = false
  var memory = false
  var threads = false
  var log = false
  var parts = false
  var format = Format.text
  var output: String?
  /// Where a chart of the same run is written, beside the report.
  var chart: String?
  var filters: [String] = []
  var documents: [String] = []
  var baseline: String?
  var tolerance: Double?

  /// Without `--full` a run is short.
  var quick: Bool { !full }

  /// Reads the arguments after the program's name. A value may follow its option or an equals sign.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var seen: Set<String> = []
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let option = parts[0]
      if try readSwitch(option) {
        if parts.count > 1 { throw UsageError("\(option) takes no value") }
      } else if Self.valueOptions.contains(option) {
        let value = parts.count > 1 ? parts[1] : rest.popFirst()
        guard let value, !value.isEmpty, !value.hasPrefix("--") else { throw UsageError("\(option) needs a value") }
        guard seen.insert(option).inserted || Self.repeatableOptions.contains(option) else {
          throw UsageError("\(option) is given twice")
        }
        try readValue(option, value)
      } else {
        throw UsageError(argument.hasPrefix("-") ? "unknown option \(option)" : "unexpected argument \(argument)")
      }
    }
    if tolerance != nil, baseline == nil { throw UsageError("--tolerance is for --baseline, which is not given") }
  }

  private static let valueOptions: Set = [
    "--filter", "--format", "--output", "--chart", "--document", "--baseline", "--tolerance",
  ]

  private static let repeatableOptions: Set = ["--filter", "--document"]

  /// Takes an option that has no value; false if it is not one of those.
  private mutating func readSwitch(_ option: String) throws -> Bool {
    switch option {
    case "--help", "-h": help = true
    case "--list": list = true
    case "--full": full = true
    // What it asks for is the default.
    case "--quick": break
    case "--all": all = true
    case "--growth": growth = true
    case "--memory": memory = true
    case "--threads": threads = true
    case "--log": log = true
    case "--parts": parts = true
    default: return false
    }
    return true
  }

  /// Takes an option with its value.
  private mutating func readValue(_ option: String, _ value: String) throws {
    switch option {
    case "--filter":
      let names = value.split(separator: ",").map(String.init)
      guard !names.isEmpty else { throw UsageError("\(option) needs a value") }
      filters += names
    case "--format":
      guard let format = Format(rawValue: value) else {
        let names = Format.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--format is one of \(names), not \(value)")
      }
      self.format = format
    case "--output":
      output = value
    case "--chart":
      chart = value
    case "--document":
      documents.append(value)
    case "--baseline":
      baseline = value
    default:
      guard let percent = Double(value), (0..<100).contains(percent) else {
        throw UsageError("--tolerance is a percentage from 0 to below 100, not \(value)")
      }
      tolerance = percent
    }
  }

  static let helpText = """
    Measures Stow beside Foundation's JSON, in one run and taking turns; every payload in a process of its
    own. That takes less than a minute.
    Build with optimization: swift run -c release Benchmarks [options]

      --list              names all payloads, and stops
      --filter TEXT       only payloads with this name, or whose names contain the text;
                          several with commas, or by repeating the option
      --document FILE     measures any JSON file, as a generic value of several types; may be repeated
      --growth            time per record from 1,000 to 100,000 records, with --full to 1,000,000
      --memory            peak memory for large values
      --threads           throughput of one and two threads
      --log               logs beside files of JSON lines, and a log of 64 MiB, with --full of 1 GiB, in the
                          temporary folder
      --parts             one field of a message of many records
      --all               the payloads and all of the above
      --full              more rounds in five processes for each payload, larger sizes, and binary property
                          lists too: some minutes
      --format FORMAT     text (the default), markdown, json or svg
      --output FILE       writes the report there, not to standard output
      --chart FILE        also draws the payloads that need no explanation, from the same run, as SVG
      --baseline FILE     compares with an earlier report in JSON: the ratios to JSON and the sizes;
                          exits with 1 if one became worse
      --tolerance PERCENT how far a ratio may fall below the baseline's (default 40)
      --help              this text

    With --document, --growth, --memory, --threads, --log or --parts, the payloads themselves are measured
    only if --filter or --all says so. Progress goes to standard error. Exit codes: 0 success, 1 failure
    (a round trip, a file, the baseline), 2 a wrong option.
    """
}

/// What a run consists of, as the options choose it.
struct Selection {
  let payloads: [Payload]
  let documents: [String]
  let cold: Bool
  let growth: Bool
  let memory: Bool
  let threads: Bool
  let log: Bool
  let parts: Bool

  /// Chooses from the catalogue, and reads the documents.
  init(_ options: Options) throws {
    documents = options.documents
    growth = options.growth || options.all
    memory = options.memory || options.all
    threads = options.threads || options.all
    log = options.log || options.all
    parts = options.parts || options.all
    let hasOwnSubject =
      !options.documents.isEmpty || options.growth || options.memory || options.threads || options.log
      || options.parts
    let chosen: Set<String>
    if options.filters.isEmpty {
      let names = Catalogue.payloads.filter { !$0.isOnDemand }.map(\.name) + [ColdStart.name]
      chosen = hasOwnSubject && !options.all ? [] : Set(names)
    } else {
      chosen = try Self.matches(options.filters, among: Catalogue.payloads.map(\.name) + [ColdStart.name])
    }
    cold = chosen.contains(ColdStart.name)
    payloads =
      try Catalogue.payloads.filter { chosen.contains($0.name) }
      + options.documents.map(Payload.init(documentAt:))
  }

  /// The names the filters mean: those that are equal to one, or else those that contain it.
  private static func matches(_ filters: [String], among names: [String]) throws -> Set<String> {
    var matches: Set<String> = []
    for filter in filters {
      let found = names.contains(filter) ? [filter] : names.filter { $0.contains(filter) }
      guard !found.isEmpty else { throw UsageError("no payload has '\(filter)' in its name (see --list)") }
      matches.formUnion(found)
    }
    return matches
  }
}
