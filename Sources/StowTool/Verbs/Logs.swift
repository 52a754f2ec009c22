import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `log`, `recover` and `compact`: files of records.
enum LogVerbs {
  static let log = Verb(
    name: "log", operands: "[options] FILE …", files: 1...Int.max,
    summary: "describe a log: its records, blocks and damage",
    details: """
      stowtool print and json show the values of the records, and stowtool inspect the bytes.
      """,
    options: [Option("--records", nil, "also print the number and size of each record")],
    run: describe)

  static let recover = Verb(
    name: "recover", operands: "FILE", files: 1...1,
    summary: "cut off what a crash left incomplete at the end of a log",
    details: """
      Changes the file, as opening it for appending does. Damaged records before the last whole one remain; readers skip
      them, and stowtool compact --force removes them.
      """, readsInput: false
  ) { arguments in
    try change(arguments.files[0]) { log, output in
      let found = log.recovery
      let isCutOff = !found.isDamage && !found.bytes.isEmpty
      let done = found.isDamage ? "; they stay, as damage" : isCutOff ? "; the bytes were cut off" : ""
      output.line("\(arguments.files[0]): \(found)\(done)")
    }
  }

  static let compact = Verb(
    name: "compact", operands: "[options] FILE", files: 1...1,
    summary: "rewrite a log without its damaged records",
    details: """
      Replaces the file atomically. Records keep their numbers. Dropping bytes that cannot be read needs --force.
      """,
    options: [
      Option("--from", "N", "keep only records from N"),
      Option("--force", nil, "compact even if that drops unreadable bytes, or leaves no record"),
    ], readsInput: false
  ) { arguments in
    let from = try arguments.number("--from") ?? 0
    return try change(arguments.files[0]) { log, output in
      let removesAll = from > 0 && log.records(from: from).first { _ in true } == nil
      if removesAll, log.count > 0, !arguments.has("--force") {
        throw Failure("\(arguments.files[0]): no record would be left; --force compacts anyway")
      }
      // Of records that are missing nothing is left to drop.
      let dropped = try log.verify().filter { $0.reason != .missing }
      if let damage = dropped.first, !arguments.has("--force") {
        throw Failure("\(arguments.files[0]): unreadable bytes would be dropped: \(damage); --force drops them")
      }
      var (found, kept) = (0, 0)
      try log.compact { record in
        found += 1
        if record.number >= from { kept += 1 }
        return record.number >= from
      }
      for damage in log.damage { Output.complain("\(arguments.files[0]): \(damage)") }
      output.line("\(arguments.files[0]): \(Words.count(found, "record")), \(Words.number(kept)) kept")
    }
  }

  /// Opens a log for appending, and closes it when `body` is done.
  private static func change(_ path: String, _ body: (RecordLog, Output) throws -> Void) throws
    -> ExitCode
  {
    // Before it is read, which may take for ever.
    try Logs.checkChangeable(path)
    // Opening for appending would create a log if there is no such file.
    let input = try Input(path)
    guard input.kind == .log else { throw Logs.noLog(input) }
    do {
      let log = try RecordLog(at: URL(named: path), durability: .manual)
      let output = Output()
      try body(log, output)
      try log.close()
      output.flush()
      return .fine
    } catch let error as RecordLogError {
      throw Logs.failure(error)
    }
  }

  private static func describe(_ arguments: Arguments) async -> ExitCode {
    await arguments.forEachFile { path, output in
      let input = try Input(path)
      return try Logs.reading(input) { log in
        describe(log, in: input, arguments, output)
        return log.damage.isEmpty && log.recovery.bytes.isEmpty ? .fine : .differs
      }
    }
  }

  private static func describe(_ log: RecordLogReader, in input: Input, _ arguments: Arguments, _ output: Output) {
    let sizes = input.sizes
    var (count, largest, bytes) = (0, 0, 0)
    for record in log.records {
      count += 1
      largest = max(largest, record.size)
      bytes += record.size
      if arguments.has("--records") { output.line("record \(record.number): \(Words.count(record.size, "byte"))") }
    }
    output.line("\(input.name): \(Words.count(count, "record")), \(Words.count(sizes.reduce(0, +), "byte"))")
    if input.segments != nil { output.line("  segments    \(Words.number(sizes.count))") }
    output.line("  blocks      \(Words.number(sizes.reduce(0) { $0 + BlockHead.count(in: $1) }))")
    output.line("  records     \(Words.count(bytes, "byte")), the largest \(Words.count(largest, "byte"))")
    let lost = log.damage.reduce(0) { $0 + $1.records.count }
    output.line("  damage      \(log.damage.isEmpty ? "none" : Words.count(lost, "record") + " lost")")
    for damage in log.damage { output.line("    \(damage)") }
    output.line("  after it    \(log.recovery)")
  }
}

/// Logs, as their library opens them.
enum Logs {
  /// Refuses standard input, and a pipe or a device: none of them can be changed.
  static func checkChangeable(_ path: String) throws {
    guard path != Arguments.standardFile, System.status(of: path)?.kind != .other else {
      throw Failure("\(path): a pipe or device, which cannot be changed")
    }
  }

  /// Opens a log for reading.
  static func reading<Result>(_ input: Input, _ body: (RecordLogReader) throws -> Result) throws -> Result {
    try body(try input.isPiped ? openCopy(of: input) : open(URL(named: input.name), input))
  }

  /// Opens a file with what came through a pipe. A reader keeps a file that is removed, so that none is left once it is
  /// open, however the command ends.
  private static func openCopy(of input: Input) throws -> RecordLogReader {
    let copy = try Output.writeTemporary(input.data)
    defer { try? FileManager.default.removeItem(at: copy) }
    return try open(copy, input)
  }

  private static func open(_ url: URL, _ input: Input) throws -> RecordLogReader {
    do {
      return try RecordLogReader(at: url)
    } catch let error as RecordLogError {
      if error.reason == .notALog, input.kind != .log { throw noLog(input) }
      throw failure(error, input)
    }
  }

  /// Returns what cannot be read in a log, each in a sentence.
  static func faults(in input: Input) throws -> [String] {
    try reading(input) { log in
      var faults: [String] = []
      for record in log.records {
        do {
          _ = try record.decode(StowValue.self)
        } catch let error as DecodingError {
          faults.append("record \(record.number): \(Contents.reason(error))")
        }
      }
      faults += log.damage.map { "\($0)" }
      return log.recovery.bytes.isEmpty ? faults : faults + ["\(log.recovery)"]
    }
  }

  /// Returns the failure of a verb that takes a log and got something else, with what that is.
  static func noLog(_ input: Input) -> Failure { Failure("\(input.name): \(noLogReason(input))", .differs) }

  private static func noLogReason(_ input: Input) -> String {
    if input.kind == .stream { return "a stream of records, not a log" }
    if input.data.isEmpty { return "an empty file, not a log" }
    let isRelying = input.data.starts(with: [0x7F, 0x01])
    if isRelying || Walks.fault(in: input, nil) == nil { return "a message, not a log" }
    return input.fault("not a log")
  }

  /// Returns the failure of the command for an error of a log.
  ///
  /// - Parameter input: The file that was read. Its name replaces the one in the error, which names the copy of a log
  ///   that came through a pipe. In a folder, the error names a segment.
  static func failure(_ error: RecordLogError, _ input: Input? = nil) -> Failure {
    var reason = "\(error)"
    if let input, input.segments == nil {
      // Not by characters: the last of the path may be one together with the colon.
      reason = input.name + Substring(reason.utf8.dropFirst(error.file.utf8.count))
    }
    return switch error.reason {
    case .notALog, .unsupportedVersion, .damaged, .noSuchRecord, .removed: Failure(reason, .differs)
    default: Failure(reason)
    }
  }
}
