import Foundation

/// The program: reads the options, measures, and writes the report.
@main
enum BenchmarksCommand {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as UsageError {
      StandardError.print("error: \(error.description)\nSee --help.")
      exit(2)
    } catch {
      StandardError.print("error: \(error)")
      exit(1)
    }
  }

  /// Does what the arguments say.
  private static func run(_ arguments: [String]) throws {
    if try runAsChild(arguments) { return }
    let options = try Options(arguments)
    if options.help { return print(Options.helpText) }
    if options.list { return printList() }
    let baseline = try options.baseline.map(readReport)
    let selection = try Selection(options)
    if selection.payloads.isEmpty, options.format == .svg || baseline != nil {
      throw UsageError("--format svg and --baseline are about payloads, and none is chosen")
    }
    try checkOutput(options.output)
    try checkOutput(options.chart)
    if !Machine.isOptimized { StandardError.print("warning: not optimized; use swift run -c release Benchmarks") }
    var report = try measure(selection, quick: options.quick)
    if let baseline { try measureAgain(whatFellIn: &report, below: baseline, selection, options) }
    try write(report, options)
    if let chart = options.chart {
      try Data(Chart(report, only: Chart.plainPayloads).svg.utf8).write(to: URL(fileURLWithPath: chart))
    }
    if let baseline { try compare(report, with: baseline, options) }
  }

  /// Does one measurement for a parent process; false if there is none.
  private static func runAsChild(_ arguments: [String]) throws -> Bool {
    switch arguments.first {
    case Options.payloadChild:
      try Payload.runChild(Array(arguments.dropFirst()))
    case Options.coldChild:
      guard arguments.count == 2, let codec = CodecName(rawValue: arguments[1]) else {
        throw UsageError("\(Options.coldChild) is for this program's own use")
      }
      try ColdStart.runChild(codec)
    case Options.growthChild:
      try Growth.runChild(Array(arguments.dropFirst()))
    case Options.memoryChild:
      try MemoryUse.runChild(Array(arguments.dropFirst()))
    case Options.logChild:
      guard arguments.count == 2 else { throw UsageError("\(Options.logChild) is for this program's own use") }
      try LargeLog.runChild(arguments[1])
    case Options.genericChild:
      try GenericValues.runChild(Array(arguments.dropFirst()))
    case Options.countChild:
      try Payload.runCounted(Array(arguments.dropFirst()))
    default:
      return false
    }
    return true
  }

  /// Names what there is to measure.
  private static func printList() {
    let entries =
      Catalogue.payloads.map {
        ($0.name, ($0.isCore ? "core: " : $0.isOnDemand ? "only by --filter: " : "") + $0.summary)
      }
      + [(ColdStart.name, ColdStart.summary)]
    for (name, summary) in entries { print(name.padding(toLength: 20, withPad: " ", startingAt: 0) + summary) }
  }

  /// Measures everything chosen.
  private static func measure(_ selection: Selection, quick: Bool) throws -> Report {
    var report = Report(date: Date(), quick: quick, machine: .current)
    for (index, payload) in selection.payloads.enumerated() {
      StandardError.print("[\(index + 1)/\(selection.payloads.count)] \(payload.name)")
      report.payloads.append(try payload.measureInChildren(quick: quick))
    }
    report.means = MeanResult.all(of: report.payloads)
    if selection.cold {
      StandardError.print("cold start")
      report.cold = try ColdStart.measure(quick: quick)
    }
    if !selection.documents.isEmpty {
      report.generic = try selection.documents.map { try GenericValues.measure($0, quick: quick) }
    }
    if selection.growth { report.growth = try Growth.measure(quick: quick) }
    if selection.memory { report.memory = try MemoryUse.measure(quick: quick) }
    if selection.threads { report.threads = try Threading.measure(quick: quick) }
    if selection.log { report.log = try LogUse.measure(quick: quick) }
    if selection.parts { report.parts = try PartUse.measure(quick: quick) }
    return report
  }

  /// Writes the report in its form to its place.
  private static func write(_ report: Report, _ options: Options) throws {
    let text =
      switch options.format {
      case .text: report.render(\.text)
      case .markdown: report.render(\.markdown)
      case .json: try report.json()
      case .svg: Chart(report).svg
      }
    if let output = options.output {
      try Data(text.utf8).write(to: URL(fileURLWithPath: output))
    } else {
      print(text, terminator: "")
    }
  }

  /// Measures payloads whose ratios fell twice more, and keeps the better figures: what another program on the machine
  /// slowed down is fast in one of three measurements, and what became slower in the library in none of them.
  private static func measureAgain(
    whatFellIn report: inout Report, below baseline: Report, _ selection: Selection, _ options: Options
  ) throws {
    for _ in 1...2 {
      let fallen = Comparison(baseline: baseline, current: report, tolerance: options.tolerance).slower
      for payload in selection.payloads where fallen.contains(payload.name) {
        StandardError.print("again: \(payload.name)")
        guard let index = report.payloads.firstIndex(where: { $0.name == payload.name }) else { continue }
        report.payloads[index].keepBetter(of: try payload.measureInChildren(quick: options.quick))
      }
    }
    report.means = MeanResult.all(of: report.payloads)
  }

  /// Shows what changed since the baseline; exits if something became worse.
  private static func compare(_ report: Report, with baseline: Report, _ options: Options) throws {
    let comparison = Comparison(baseline: baseline, current: report, tolerance: options.tolerance)
    guard !comparison.isEmpty else { throw PayloadFailure(description: "the baseline has none of these payloads") }
    let table = "\n" + comparison.table.text
    // A report that other programs read stays alone on standard output.
    if options.output == nil, options.format == .json || options.format == .svg {
      StandardError.print(table)
    } else {
      print(options.format == .markdown ? "\n" + comparison.table.markdown : table)
    }
    let regressions = comparison.regressions
    for line in regressions { StandardError.print("worse: \(line)") }
    if !regressions.isEmpty { exit(1) }
  }

  /// An earlier report.
  private static func readReport(_ path: String) throws -> Report {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw PayloadFailure(description: "\(path) cannot be read")
    }
    guard let report = try? Report(json: data) else {
      throw PayloadFailure(description: "\(path) is not a report written with --format json")
    }
    return report
  }

  /// Finds out now, not after minutes, that the report could not be written.
  private static func checkOutput(_ path: String?) throws {
    guard let path else { return }
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !isFolder.boolValue, FileManager.default.isWritableFile(atPath: exists ? path : folder) else {
      throw PayloadFailure(description: "\(path) cannot be written")
    }
  }
}
